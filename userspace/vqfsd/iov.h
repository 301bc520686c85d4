/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Positions in guest memory that lies in pieces. The pieces are this process's own records; what is
 * in them changes at any time, so everything is copied once and judged on the copy.
 */
#ifndef VQFSD_IOV_H
#define VQFSD_IOV_H

#include <stddef.h>
#include <stdint.h>

#include <sys/uio.h>

struct fsd_cursor {
	const struct iovec *iov; /* the piece that it is in */
	const struct iovec *end;
	size_t at;   /* in that piece */
	size_t left; /* bytes from here to the end */
};

/* At the start of @nr pieces, of which @bytes count. */
struct fsd_cursor fsd_cursor(const struct iovec *iov, unsigned int nr, size_t bytes);
/* Goes on by @len bytes, or to the end. */
void fsd_cursor_skip(struct fsd_cursor *c, size_t len);
/* Copies and goes on; returns how many bytes there were: @len, or what was left. */
size_t fsd_cursor_read(struct fsd_cursor *c, void *to, size_t len);
size_t fsd_cursor_write(struct fsd_cursor *c, const void *from, size_t len);
/* Zeros. */
size_t fsd_cursor_clear(struct fsd_cursor *c, size_t len);
/*
 * The next @len bytes as up to @max pieces, for a system call; goes on by that. Returns the number
 * of pieces, *bytes how many bytes they are.
 */
int fsd_cursor_slice(struct fsd_cursor *c, size_t len, struct iovec *to, int max, size_t *bytes);

#endif
