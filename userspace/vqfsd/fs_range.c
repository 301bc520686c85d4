// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of files: allocated, searched, copied; and made durable. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

/* MAX_RW_COUNT of Linux: the most that one system call does, and fits a 32-bit reply. */
#define COPY_MAX (INT32_MAX & ~4095u)

int fsd_fallocate(struct fsd_call *c)
{
	const struct fuse_fallocate_in *in = &c->args.fallocate;
	struct fsd_handle *h;
	int err = fsd_file(c, in->fh, &h);

	if (err)
		return err;
	/* Numbers beyond the largest file are negative to the host: EINVAL. */
	return fallocate(h->fd, (int)in->mode, (off_t)in->offset, (off_t)in->length) ? -errno : 0;
}

/* Linux does the others itself, and the host's position of the file means nothing. */
int fsd_lseek(struct fsd_call *c)
{
	const struct fuse_lseek_in *in = &c->args.lseek;
	struct fuse_lseek_out out = {0};
	struct fsd_handle *h;
	off_t at;
	int err = fsd_file(c, in->fh, &h);

	if (err)
		return err;
	if (in->whence != SEEK_DATA && in->whence != SEEK_HOLE && in->whence != SEEK_END &&
	    in->whence != SEEK_SET)
		return -EINVAL;
	at = lseek(h->fd, (off_t)in->offset, (int)in->whence);
	if (at < 0)
		return -errno;
	out.offset = (uint64_t)at;
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

/* Bytes copied, or -errno. */
static ssize_t copy(struct fsd_call *c)
{
	const struct fuse_copy_file_range_in *in = &c->args.copy;
	off_t from = (off_t)in->off_in, to = (off_t)in->off_out;
	size_t len = in->len < COPY_MAX ? in->len : COPY_MAX;
	struct fsd_handle *a, *b;
	ssize_t n;
	int err = fsd_file(c, in->fh_in, &a);

	if (!err)
		err = fsd_file(c, in->fh_out, &b);
	if (err)
		return err;
	if (in->flags)
		return -EINVAL;
	n = copy_file_range(a->fd, &from, b->fd, &to, len, 0);
	return n < 0 ? -errno : n;
}

int fsd_copy_file_range(struct fsd_call *c)
{
	struct fuse_write_out out = {0};
	ssize_t n = copy(c);

	if (n < 0)
		return (int)n;
	out.size = (uint32_t)n;
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

int fsd_copy_file_range_64(struct fsd_call *c)
{
	struct fuse_copy_file_range_out out = {0};
	ssize_t n = copy(c);

	if (n < 0)
		return (int)n;
	out.bytes_copied = (uint64_t)n;
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

static int sync_handle(const struct fsd_call *c, const struct fsd_handle *h)
{
	int err =
		c->args.fsync.fsync_flags & FUSE_FSYNC_FDATASYNC ? fdatasync(h->fd) : fsync(h->fd);

	return err ? -errno : 0;
}

int fsd_fsync(struct fsd_call *c)
{
	struct fsd_handle *h;
	int err = fsd_file(c, c->args.fsync.fh, &h);

	return err ? err : sync_handle(c, h);
}

int fsd_fsyncdir(struct fsd_call *c)
{
	struct fsd_handle *h;
	int err = fsd_dir(c, c->args.fsync.fh, &h);

	return err ? err : sync_handle(c, h);
}

int fsd_syncfs(struct fsd_call *c)
{
	_cleanup_close_ int fd = -1;
	struct fsd_inode *i;
	int err = fsd_node(c, c->head.nodeid, 0, &i);

	if (err)
		return err;
	fd = fsd_reopen(c->fs, i, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	return syncfs(fd) ? -errno : 0;
}
