// SPDX-License-Identifier: GPL-2.0-or-later
/* Readers for replies: each byte of the daemon's memory is copied once, then looked at. */
#include "vqload/fuse_reply.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define REPLY sizeof(struct fuse_out_header)

/* Errors of replies lie in (-512, 0): 512 is ERESTARTSYS, the first of the kernel's own. */
#define ERROR_END (-512)

int load_read_header(const void *out, size_t len, struct fuse_out_header *head)
{
	if (len < REPLY)
		return -EBADMSG;
	memcpy(head, out, REPLY);
	return 0;
}

int load_read_status(const void *out, size_t len)
{
	struct fuse_out_header head;

	if (load_read_header(out, len, &head) || head.error > 0 || head.error <= ERROR_END)
		return -EBADMSG;
	return head.error;
}

/* @size bytes of arguments, from @at bytes behind the header on. */
static int read_args(const void *out, size_t len, size_t at, void *args, size_t size)
{
	int r = load_read_status(out, len);

	if (r)
		return r;
	if (len - REPLY < at + size)
		return -EBADMSG;
	memcpy(args, (const char *)out + REPLY + at, size);
	return 0;
}

int load_read_entry(const void *out, size_t len, struct fuse_entry_out *entry)
{
	return read_args(out, len, 0, entry, sizeof(*entry));
}

int load_read_create(const void *out, size_t len, struct fuse_entry_out *entry,
		     struct fuse_open_out *open)
{
	int r = read_args(out, len, 0, entry, sizeof(*entry));

	return r ? r : read_args(out, len, sizeof(*entry), open, sizeof(*open));
}

int load_read_attr(const void *out, size_t len, struct fuse_attr_out *attr)
{
	return read_args(out, len, 0, attr, sizeof(*attr));
}

int load_read_statx(const void *out, size_t len, struct fuse_statx_out *statx)
{
	return read_args(out, len, 0, statx, sizeof(*statx));
}

int load_read_open(const void *out, size_t len, struct fuse_open_out *open)
{
	return read_args(out, len, 0, open, sizeof(*open));
}

int load_read_count(const void *out, size_t len, uint32_t *count)
{
	struct fuse_write_out w;
	int r = read_args(out, len, 0, &w, sizeof(w));

	if (!r)
		*count = w.size;
	return r;
}

int load_read_count64(const void *out, size_t len, uint64_t *count)
{
	struct fuse_copy_file_range_out c;
	int r = read_args(out, len, 0, &c, sizeof(c));

	if (!r)
		*count = c.bytes_copied;
	return r;
}

int load_read_statfs(const void *out, size_t len, struct fuse_kstatfs *st)
{
	return read_args(out, len, 0, st, sizeof(*st));
}

int load_read_lseek(const void *out, size_t len, uint64_t *offset)
{
	struct fuse_lseek_out l;
	int r = read_args(out, len, 0, &l, sizeof(l));

	if (!r)
		*offset = l.offset;
	return r;
}

int load_read_xattr_size(const void *out, size_t len, uint32_t *size)
{
	struct fuse_getxattr_out x;
	int r = read_args(out, len, 0, &x, sizeof(x));

	if (!r)
		*size = x.size;
	return r;
}

int load_read_lock(const void *out, size_t len, struct fuse_file_lock *lk)
{
	return read_args(out, len, 0, lk, sizeof(*lk));
}

int load_read_init(const void *out, size_t len, struct fuse_init_out *init)
{
	size_t size = len < REPLY ? 0 : len - REPLY;

	memset(init, 0, sizeof(*init));
	if (size > sizeof(*init))
		size = sizeof(*init);
	/* Protocol 7.1 said major and minor, and no more. */
	if (size < FUSE_COMPAT_INIT_OUT_SIZE) {
		int r = load_read_status(out, len);

		return r ? r : -EBADMSG;
	}
	return read_args(out, len, 0, init, size);
}

uint32_t load_reply_data_len(const struct load_req *r, uint32_t used)
{
	if (used <= r->out_size)
		return 0;
	return used - r->out_size < r->out_data_size ? used - r->out_size : r->out_data_size;
}

static bool type_known(uint32_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

bool load_attr_sane(const struct fuse_attr *attr)
{
	return type_known(attr->mode) && attr->size <= INT64_MAX;
}

bool load_statx_sane(const struct fuse_statx *st)
{
	return (!(st->mask & STATX_SIZE) || st->size <= INT64_MAX) &&
	       (!(st->mask & STATX_TYPE) || type_known(st->mode));
}

bool load_entry_sane(const struct fuse_entry_out *entry)
{
	return entry->nodeid && entry->nodeid != FUSE_ROOT_ID && load_attr_sane(&entry->attr);
}

void load_dirents_start(struct load_dirents *it, const void *data, size_t len, bool plus)
{
	*it = (struct load_dirents){.data = data, .len = data ? len : 0, .plus = plus};
}

static bool name_sane(const char *name, size_t len)
{
	return !memchr(name, '/', len) && !memchr(name, '\0', len);
}

int load_dirents_next(struct load_dirents *it, struct load_dirent *d)
{
	size_t left = it->len - it->pos, head = it->plus ? sizeof(d->entry) : 0, size;
	const uint8_t *at;
	struct fuse_dirent de;

	if (!left)
		return 0;
	at = it->data + it->pos;
	if (left < head + FUSE_NAME_OFFSET)
		return -EOVERFLOW;
	memset(&d->entry, 0, sizeof(d->entry));
	memcpy(&d->entry, at, head);
	memcpy(&de, at + head, FUSE_NAME_OFFSET);
	if (!de.namelen || de.namelen > LOAD_NAME_MAX)
		return -EBADMSG;
	size = FUSE_DIRENT_ALIGN(head + FUSE_NAME_OFFSET + de.namelen);
	if (size > left)
		return -EOVERFLOW;
	memcpy(d->name, at + head + FUSE_NAME_OFFSET, de.namelen);
	d->name[de.namelen] = '\0';
	if (!name_sane(d->name, de.namelen))
		return -EBADMSG;
	d->ino = de.ino;
	d->off = de.off;
	d->type = de.type;
	d->namelen = de.namelen;
	d->has_entry = it->plus && d->entry.nodeid;
	it->pos += size;
	return 1;
}
