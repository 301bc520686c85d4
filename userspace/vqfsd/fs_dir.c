// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories read. A handle keeps what the host gave and the guest had no room for, so that
 * reading on is reading on; only who begins elsewhere than the last reply ended makes the host
 * seek.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

#define NAMES_MAX 8192

struct fsd_dir {
	pthread_mutex_t lock; /* of the rest, and of the host's position */
	uint64_t next;        /* offset of the next name to give */
	uint32_t at, end;     /* of names */
	_Alignas(8) char names[NAMES_MAX];
};

int fsd_opendir(struct fsd_call *c)
{
	struct fuse_open_out out = {0};
	struct fsd_inode *i;
	struct fsd_dir *d;
	int fd, err = fsd_node(c, c->head.nodeid, S_IFDIR, &i);

	if (err)
		return err;
	fd = openat(i->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = malloc(sizeof(*d));
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	d->next = d->at = d->end = 0;
	pthread_mutex_init(&d->lock, NULL);
	if (c->fs->options.cache == FSD_CACHE_ALWAYS)
		out.open_flags = FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR;
	err = fsd_handles_add(&c->fs->handles, fd, false, d, &out.fh);
	if (!err)
		fsd_reply(c, &out, sizeof(out));
	return err;
}

int fsd_releasedir(struct fsd_call *c)
{
	return fsd_handles_close(&c->fs->handles, c->args.release.fh, true);
}

/* Bytes of the whole record: an entry before the name only in READDIRPLUS. */
static size_t record_len(bool plus, size_t name)
{
	size_t head = plus ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;

	return FUSE_DIRENT_ALIGN(head + name);
}

/*
 * One record, if there is room. A name whose lookup fails (removed meanwhile, no descriptors left)
 * is there nevertheless, with node 0: Linux asks again when somebody wants it. The two dots never
 * have a node.
 */
static bool give(struct fsd_call *c, const struct fsd_handle *h, const struct dirent64 *e,
		 bool plus)
{
	size_t name = strlen(e->d_name), len = record_len(plus, name);
	bool dots = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	struct fuse_direntplus record = {
		.dirent = {.ino = e->d_ino,
			   .off = (uint64_t)e->d_off,
			   .namelen = (uint32_t)name,
			   .type = e->d_type},
	};
	char *at = c->thread->data;

	/* Before the lookup, which the guest would never forget. */
	if (len > c->out.left)
		return false;
	if (plus && !dots && !fsd_lookup(c->fs, h->fd, e->d_name, &record.entry_out)) {
		/* Of what is mounted there, not of what it is mounted on. */
		record.dirent.ino = record.entry_out.attr.ino;
		record.dirent.type = record.entry_out.attr.mode >> 12 & 15;
	}
	memset(at + len - 8, 0, 8);
	if (plus) {
		memcpy(at, &record, FUSE_NAME_OFFSET_DIRENTPLUS);
		memcpy(at + FUSE_NAME_OFFSET_DIRENTPLUS, e->d_name, name);
	} else {
		memcpy(at, &record.dirent, FUSE_NAME_OFFSET);
		memcpy(at + FUSE_NAME_OFFSET, e->d_name, name);
	}
	fsd_reply(c, at, len);
	return true;
}

/* 1: there is a name at d->at; 0: the end; -errno. */
static int refill(const struct fsd_handle *h, struct fsd_dir *d)
{
	ssize_t n;

	if (d->at < d->end)
		return 1;
	d->at = d->end = 0;
	n = getdents64(h->fd, d->names, NAMES_MAX);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	d->end = (uint32_t)n;
	return 1;
}

static int seek(const struct fsd_handle *h, struct fsd_dir *d, uint64_t offset)
{
	if (offset == d->next)
		return 0;
	if (lseek(h->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	d->next = offset;
	d->at = d->end = 0;
	return 0;
}

static int give_all(struct fsd_call *c, const struct fsd_handle *h, bool plus)
{
	struct fsd_dir *d = h->dir;
	int got = seek(h, d, c->args.read.offset);

	if (got)
		return got;
	while ((got = refill(h, d)) > 0) {
		const struct dirent64 *e = (const void *)(d->names + d->at);

		if (!give(c, h, e, plus))
			return c->replied ? 0 : -EINVAL;
		d->at += e->d_reclen;
		d->next = (uint64_t)e->d_off;
	}
	/* What was given is good; whoever reads on meets the error. */
	return c->replied ? 0 : got;
}

static int read_dir(struct fsd_call *c, bool plus)
{
	struct fsd_handle *h;
	int err = fsd_dir(c, c->args.read.fh, &h);

	if (err)
		return err;
	if (c->out.left > c->args.read.size)
		c->out.left = c->args.read.size;
	pthread_mutex_lock(&h->dir->lock);
	err = give_all(c, h, plus);
	pthread_mutex_unlock(&h->dir->lock);
	c->outcome->bytes_out = err ? 0 : (uint32_t)c->replied;
	return err;
}

int fsd_readdir(struct fsd_call *c)
{
	return read_dir(c, false);
}

int fsd_readdirplus(struct fsd_call *c)
{
	return read_dir(c, true);
}
