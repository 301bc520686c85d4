// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqload/responder_fs.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK (64u << 10)

#define NAME_MAX_BYTES 255u
/* Holes cost nothing, but their table does. */
#define SIZE_MAX_BYTES (4ULL << 30)

struct node {
	bool used, linked, pattern;
	uint32_t generation, parent, mode, opens;
	uint64_t lookups, size, atime, mtime;
	uint8_t **chunk; /* NULL: a hole */
	size_t nr_chunks;
	char name[NAME_MAX_BYTES + 1];
};

struct load_fs {
	struct node node[LOAD_FS_NODES];
	uint32_t high; /* nodes from here on were never used */
	uint64_t bytes;
};

static uint64_t id_of(const struct load_fs *fs, uint32_t i)
{
	return (uint64_t)fs->node[i].generation << 32 | (i + 1);
}

static struct node *find(struct load_fs *fs, uint64_t nodeid)
{
	uint64_t i = (nodeid & UINT32_MAX) - 1;

	if (i >= fs->high || !fs->node[i].used || fs->node[i].generation != nodeid >> 32)
		return NULL;
	return &fs->node[i];
}

static uint32_t index_of(const struct load_fs *fs, const struct node *n)
{
	return (uint32_t)(n - fs->node);
}

static void drop_chunks(struct load_fs *fs, struct node *n, size_t from)
{
	for (size_t i = from; i < n->nr_chunks; i++) {
		if (n->chunk[i])
			fs->bytes -= CHUNK;
		free(n->chunk[i]);
		n->chunk[i] = NULL;
	}
}

static void maybe_free(struct load_fs *fs, struct node *n)
{
	if (n->linked || n->lookups || n->opens)
		return;
	drop_chunks(fs, n, 0);
	free(n->chunk);
	*n = (struct node){.generation = n->generation + 1};
}

static struct node *add(struct load_fs *fs, uint32_t parent, const char *name, size_t len,
			uint32_t mode)
{
	uint32_t i = 0;
	struct node *n;

	while (i < fs->high && fs->node[i].used)
		i++;
	if (i == LOAD_FS_NODES)
		return NULL;
	if (i == fs->high)
		fs->high++;
	n = &fs->node[i];
	n->used = n->linked = true;
	n->parent = parent;
	n->mode = mode;
	memcpy(n->name, name, len);
	n->name[len] = 0;
	return n;
}

struct load_fs *load_fs_new(void)
{
	struct load_fs *fs = calloc(1, sizeof(*fs));
	struct node *n;

	if (!fs)
		return NULL;
	add(fs, 0, "/", 1, S_IFDIR | 0755);
	n = add(fs, 0, "pattern", 7, S_IFREG | 0644);
	n->pattern = true;
	n->size = LOAD_FS_PATTERN_BYTES;
	add(fs, 0, "empty", 5, S_IFREG | 0644);
	return fs;
}

void load_fs_free(struct load_fs *fs)
{
	if (!fs)
		return;
	for (uint32_t i = 0; i < fs->high; i++) {
		drop_chunks(fs, &fs->node[i], 0);
		free(fs->node[i].chunk);
	}
	free(fs);
}

void load_fs_forget_all(struct load_fs *fs)
{
	for (uint32_t i = 0; i < fs->high; i++) {
		struct node *n = &fs->node[i];

		n->lookups = n->opens = 0;
		if (n->used)
			maybe_free(fs, n);
	}
}

static void fill(const struct load_fs *fs, const struct node *n, struct load_fs_attr *a)
{
	uint32_t i = index_of(fs, n);

	*a = (struct load_fs_attr){
		.nodeid = id_of(fs, i),
		.ino = i + 1,
		.size = n->size,
		.mode = n->mode,
		.nlink = n->linked,
		.atime = n->atime,
		.mtime = n->mtime,
	};
}

int load_fs_attr(struct load_fs *fs, uint64_t nodeid, struct load_fs_attr *a)
{
	const struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	fill(fs, n, a);
	return 0;
}

/* A name that a directory can hold; "." and ".." are not looked up over FUSE. */
static int check_name(const char *name, size_t len)
{
	if (!len || memchr(name, '/', len) || memchr(name, 0, len))
		return -EINVAL;
	if ((len == 1 && name[0] == '.') || (len == 2 && !memcmp(name, "..", 2)))
		return -EINVAL;
	return len > NAME_MAX_BYTES ? -ENAMETOOLONG : 0;
}

static int find_child(struct load_fs *fs, uint64_t dir, const char *name, size_t len,
		      struct node **parent, struct node **out)
{
	struct node *d = find(fs, dir);
	int err = check_name(name, len);

	*out = NULL;
	if (!d)
		return -ESTALE;
	if (!S_ISDIR(d->mode))
		return -ENOTDIR;
	if (err)
		return err;
	*parent = d;
	for (uint32_t i = 1; i < fs->high && !*out; i++) {
		struct node *n = &fs->node[i];

		if (n->used && n->linked && n->parent == index_of(fs, d) &&
		    !strncmp(n->name, name, len) && !n->name[len])
			*out = n;
	}
	return 0;
}

int load_fs_lookup(struct load_fs *fs, uint64_t dir, const char *name, size_t len,
		   struct load_fs_attr *a)
{
	struct node *d, *n;
	int err = find_child(fs, dir, name, len, &d, &n);

	if (err)
		return err;
	if (!n)
		return -ENOENT;
	n->lookups++;
	fill(fs, n, a);
	return 0;
}

int load_fs_make(struct load_fs *fs, uint64_t dir, const char *name, size_t len, uint32_t mode,
		 struct load_fs_attr *a)
{
	struct node *d, *n;
	int err = find_child(fs, dir, name, len, &d, &n);

	if (err)
		return err;
	if (n)
		return -EEXIST;
	if (!d->linked)
		return -ENOENT;
	n = add(fs, index_of(fs, d), name, len, mode);
	if (!n)
		return -ENOSPC;
	n->lookups = 1;
	fill(fs, n, a);
	return 0;
}

static bool has_children(const struct load_fs *fs, uint32_t dir)
{
	for (uint32_t i = 1; i < fs->high; i++)
		if (fs->node[i].used && fs->node[i].linked && fs->node[i].parent == dir)
			return true;
	return false;
}

int load_fs_remove(struct load_fs *fs, uint64_t dir, const char *name, size_t len, int want_dir)
{
	struct node *d, *n;
	int err = find_child(fs, dir, name, len, &d, &n);

	if (err)
		return err;
	if (!n)
		return -ENOENT;
	if (S_ISDIR(n->mode) && !want_dir)
		return -EISDIR;
	if (!S_ISDIR(n->mode) && want_dir)
		return -ENOTDIR;
	if (want_dir && has_children(fs, index_of(fs, n)))
		return -ENOTEMPTY;
	n->linked = false;
	maybe_free(fs, n);
	return 0;
}

void load_fs_forget(struct load_fs *fs, uint64_t nodeid, uint64_t count)
{
	struct node *n = find(fs, nodeid);

	if (!n)
		return;
	n->lookups -= count < n->lookups ? count : n->lookups;
	maybe_free(fs, n);
}

int load_fs_open(struct load_fs *fs, uint64_t nodeid, int want_dir, uint64_t *fh)
{
	struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	if (S_ISDIR(n->mode) != !!want_dir)
		return want_dir ? -ENOTDIR : -EISDIR;
	if (n->opens == UINT32_MAX)
		return -EMFILE;
	n->opens++;
	*fh = nodeid;
	return 0;
}

int load_fs_check(struct load_fs *fs, uint64_t nodeid, uint64_t fh)
{
	const struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	return fh == nodeid && n->opens ? 0 : -EBADF;
}

int load_fs_release(struct load_fs *fs, uint64_t nodeid, uint64_t fh)
{
	int err = load_fs_check(fs, nodeid, fh);
	struct node *n = find(fs, nodeid);

	if (err)
		return err;
	n->opens--;
	maybe_free(fs, n);
	return 0;
}

int load_fs_chmod(struct load_fs *fs, uint64_t nodeid, uint32_t mode)
{
	struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	n->mode = (n->mode & S_IFMT) | (mode & 07777);
	return 0;
}

int load_fs_utimes(struct load_fs *fs, uint64_t nodeid, const uint64_t *atime,
		   const uint64_t *mtime)
{
	struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	n->atime = atime ? *atime : n->atime;
	n->mtime = mtime ? *mtime : n->mtime;
	return 0;
}

/* --- data ------------------------------------------------------------------------------------ */

int load_fs_truncate(struct load_fs *fs, uint64_t nodeid, uint64_t size)
{
	struct node *n = find(fs, nodeid);
	size_t keep = (size + CHUNK - 1) / CHUNK, rest = size % CHUNK;

	if (!n)
		return -ESTALE;
	if (!S_ISREG(n->mode))
		return -EISDIR;
	if (n->pattern)
		return -EPERM;
	if (size > SIZE_MAX_BYTES)
		return -EFBIG;
	if (keep < n->nr_chunks)
		drop_chunks(fs, n, keep);
	if (rest && keep <= n->nr_chunks && n->chunk[keep - 1])
		memset(n->chunk[keep - 1] + rest, 0, CHUNK - rest);
	n->size = size;
	return 0;
}

static void read_pattern(uint64_t offset, uint8_t *to, size_t len)
{
	uint64_t word = htole64(offset & ~7ULL);
	size_t skip = offset & 7, i = 8 - skip < len ? 8 - skip : len;

	memcpy(to, (uint8_t *)&word + skip, i);
	for (; len - i >= 8; i += 8) {
		word = htole64(offset + i);
		memcpy(to + i, &word, 8);
	}
	word = htole64(offset + i);
	memcpy(to + i, &word, len - i);
}

int64_t load_fs_read(struct load_fs *fs, uint64_t nodeid, uint64_t offset, void *to, size_t len)
{
	const struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	if (!S_ISREG(n->mode))
		return -EISDIR;
	if (offset >= n->size)
		return 0;
	if (len > n->size - offset)
		len = n->size - offset;
	if (n->pattern) {
		read_pattern(offset, to, len);
		return (int64_t)len;
	}
	for (size_t done = 0; done < len;) {
		size_t i = (offset + done) / CHUNK, at = (offset + done) % CHUNK;
		size_t part = CHUNK - at < len - done ? CHUNK - at : len - done;

		if (i < n->nr_chunks && n->chunk[i])
			memcpy((char *)to + done, n->chunk[i] + at, part);
		else
			memset((char *)to + done, 0, part);
		done += part;
	}
	return (int64_t)len;
}

static uint8_t *chunk_for(struct load_fs *fs, struct node *n, size_t i)
{
	if (i >= n->nr_chunks) {
		uint8_t **more = realloc(n->chunk, (i + 1) * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + n->nr_chunks, 0, (i + 1 - n->nr_chunks) * sizeof(*more));
		n->chunk = more;
		n->nr_chunks = i + 1;
	}
	if (!n->chunk[i] && fs->bytes + CHUNK <= LOAD_FS_BYTES_MAX) {
		n->chunk[i] = calloc(1, CHUNK);
		fs->bytes += n->chunk[i] ? CHUNK : 0;
	}
	return n->chunk[i];
}

int64_t load_fs_write(struct load_fs *fs, uint64_t nodeid, uint64_t offset, const void *from,
		      size_t len)
{
	struct node *n = find(fs, nodeid);

	if (!n)
		return -ESTALE;
	if (!S_ISREG(n->mode))
		return -EISDIR;
	if (n->pattern)
		return -EPERM;
	if (offset > SIZE_MAX_BYTES || len > SIZE_MAX_BYTES - offset)
		return -EFBIG;
	for (size_t done = 0; done < len;) {
		size_t at = (offset + done) % CHUNK;
		size_t part = CHUNK - at < len - done ? CHUNK - at : len - done;
		uint8_t *chunk = chunk_for(fs, n, (offset + done) / CHUNK);

		if (!chunk)
			return done ? (int64_t)done : -ENOSPC;
		memcpy(chunk + at, (const char *)from + done, part);
		done += part;
		if (offset + done > n->size)
			n->size = offset + done;
	}
	return (int64_t)len;
}

int load_fs_entry(struct load_fs *fs, uint64_t dir, uint64_t *pos, struct load_fs_attr *a,
		  const char **name)
{
	const struct node *d = find(fs, dir);

	if (!d)
		return -ESTALE;
	for (uint64_t i = *pos ? *pos : 1; i < fs->high; i++) {
		const struct node *n = &fs->node[i];

		if (!n->used || !n->linked || n->parent != index_of(fs, d))
			continue;
		*pos = i;
		fill(fs, n, a);
		*name = n->name;
		return 1;
	}
	return 0;
}

uint64_t load_fs_bytes(const struct load_fs *fs)
{
	return fs->bytes;
}

uint32_t load_fs_count(const struct load_fs *fs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fs->high; i++)
		n += fs->node[i].used && fs->node[i].linked;
	return n;
}
