// SPDX-License-Identifier: GPL-2.0-or-later
/* READ and WRITE: straight between the file and guest memory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

/*
 * Linux writes pages of its cache back by any handle that may write, one with O_DIRECT as well, and
 * the last page of a file no further than to its end: a length that the host refuses. Such a write
 * goes by the host's cache. (A program's own with such a length is refused as it is on the host.)
 */
static ssize_t write_back(struct fsd_call *c, const struct fsd_handle *h, size_t len,
			  uint64_t offset)
{
	struct fsd_proc_name name = fsd_proc_name(h->fd);
	_cleanup_close_ int fd = openat(c->fs->proc_fd, name.text, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : pwrite(fd, c->thread->bounce, len, (off_t)offset);
}

/*
 * O_DIRECT wants aligned memory, and the guest's buffers are as aligned as its programs made them:
 * what the host refuses goes through a buffer of the thread's.
 */
static ssize_t bounce(struct fsd_call *c, const struct fsd_handle *h, struct vq_cursor *at,
		      size_t len, uint64_t offset, bool write)
{
	struct fsd_thread *t = c->thread;
	struct vq_cursor start = *at;
	ssize_t n;

	if (!t->bounce) {
		t->bounce = mmap(NULL, FSD_IO_MAX, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (t->bounce == MAP_FAILED) {
			t->bounce = NULL;
			return -ENOMEM;
		}
	}
	if (write) {
		len = vq_cursor_read(at, t->bounce, len);
		n = pwrite(h->fd, t->bounce, len, (off_t)offset);
		if (n < 0 && errno == EINVAL && c->args.write.write_flags & FUSE_WRITE_CACHE)
			n = write_back(c, h, len, offset);
		*at = start;
		if (n > 0)
			vq_cursor_skip(at, (size_t)n);
	} else {
		n = pread(h->fd, t->bounce, len, (off_t)offset);
		if (n > 0)
			vq_cursor_write(at, t->bounce, (size_t)n);
	}
	return n < 0 ? -errno : n;
}

/* One page is what is read most; for one piece these calls are quicker by a tenth. */
static ssize_t io(int fd, const struct iovec *iov, int nr, uint64_t offset, bool write)
{
	if (nr == 1)
		return write ? pwrite(fd, iov->iov_base, iov->iov_len, (off_t)offset)
			     : pread(fd, iov->iov_base, iov->iov_len, (off_t)offset);
	return write ? pwritev(fd, iov, nr, (off_t)offset) : preadv(fd, iov, nr, (off_t)offset);
}

/* One system call's worth at @at, which goes on by what was done. */
static ssize_t step(struct fsd_call *c, const struct fsd_handle *h, struct vq_cursor *at,
		    size_t len, uint64_t offset, bool write)
{
	struct iovec *iov = c->thread->iov;
	struct vq_cursor start = *at;
	size_t bytes;
	int nr = vq_cursor_slice(at, len, iov, IOV_MAX, &bytes);
	ssize_t n;

	n = io(h->fd, iov, nr, offset, write);
	if (n >= 0 && (size_t)n == bytes)
		return n;
	*at = start;
	if (n < 0) {
		if (errno != EINVAL || !h->direct)
			return -errno;
		return bounce(c, h, at, len, offset, write);
	}
	vq_cursor_skip(at, (size_t)n);
	return n;
}

/*
 * A read that is short says the end of the file to Linux, so it goes on until that is so, and an
 * error halfway is an error. A write may say how far it came.
 */
static ssize_t transfer(struct fsd_call *c, const struct fsd_handle *h, struct vq_cursor *at,
			size_t len, uint64_t offset, bool write)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = step(c, h, at, len - done, offset + done, write);

		if (n < 0)
			return write && done ? (ssize_t)done : n;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int fsd_read(struct fsd_call *c)
{
	const struct fuse_read_in *in = &c->args.read;
	struct fsd_handle *h;
	ssize_t n;
	int err = fsd_file(c, in->fh, &h);

	if (err)
		return err;
	/* A short reply would say the end of the file. INIT said how much may be asked for. */
	if (in->size > c->out.left || in->size > FSD_IO_MAX)
		return -EINVAL;
	n = transfer(c, h, &c->out, in->size, in->offset, false);
	if (n < 0)
		return (int)n;
	c->replied = (size_t)n;
	c->outcome->bytes_out = (uint32_t)n;
	return 0;
}

int fsd_write(struct fsd_call *c)
{
	const struct fuse_write_in *in = &c->args.write;
	size_t len = in->size < FSD_IO_MAX ? in->size : FSD_IO_MAX;
	struct fuse_write_out out = {0};
	struct fsd_handle *h;
	ssize_t n;
	int err = fsd_file(c, in->fh, &h);

	if (err)
		return err;
	if (in->size > c->in.left)
		return -EINVAL;
	fsd_creds_fsetid(&c->thread->creds, !(in->write_flags & FUSE_WRITE_KILL_SUIDGID));
	n = transfer(c, h, &c->in, len, in->offset, true);
	if (n < 0)
		return (int)n;
	out.size = (uint32_t)n;
	fsd_reply(c, &out, sizeof(out));
	c->outcome->bytes_in = (uint32_t)n;
	return 0;
}
