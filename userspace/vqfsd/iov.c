// SPDX-License-Identifier: GPL-2.0-or-later
/* Cursors over pieces of guest memory. */
#include "vqfsd/iov.h"

#include <string.h>

struct fsd_cursor fsd_cursor(const struct iovec *iov, unsigned int nr, size_t bytes)
{
	return (struct fsd_cursor){.iov = iov, .end = iov + nr, .left = bytes};
}

/* The rest of the piece, at most @len bytes and to the end. NULL: nothing is left. */
static char *piece(struct fsd_cursor *c, size_t len, size_t *n)
{
	char *from;

	while (c->iov != c->end && c->at == c->iov->iov_len) {
		c->iov++;
		c->at = 0;
	}
	if (c->iov == c->end || !c->left || !len)
		return NULL;
	*n = c->iov->iov_len - c->at;
	if (*n > len)
		*n = len;
	if (*n > c->left)
		*n = c->left;
	from = (char *)c->iov->iov_base + c->at;
	c->at += *n;
	c->left -= *n;
	return from;
}

void fsd_cursor_skip(struct fsd_cursor *c, size_t len)
{
	size_t n;

	for (; piece(c, len, &n); len -= n)
		;
}

size_t fsd_cursor_read(struct fsd_cursor *c, void *to, size_t len)
{
	size_t done = 0, n;
	const char *from;

	for (; (from = piece(c, len - done, &n)); done += n)
		memcpy((char *)to + done, from, n);
	/* The guest may write there now: no compiler is to read it again in place of the copy. */
	__asm__ volatile("" ::: "memory");
	return done;
}

size_t fsd_cursor_write(struct fsd_cursor *c, const void *from, size_t len)
{
	size_t done = 0, n;
	char *to;

	for (; (to = piece(c, len - done, &n)); done += n)
		memcpy(to, (const char *)from + done, n);
	return done;
}

size_t fsd_cursor_clear(struct fsd_cursor *c, size_t len)
{
	size_t done = 0, n;
	char *to;

	for (; (to = piece(c, len - done, &n)); done += n)
		memset(to, 0, n);
	return done;
}

int fsd_cursor_slice(struct fsd_cursor *c, size_t len, struct iovec *to, int max, size_t *bytes)
{
	int nr = 0;
	size_t n;
	char *at;

	*bytes = 0;
	for (; nr < max && (at = piece(c, len - *bytes, &n)); *bytes += n)
		to[nr++] = (struct iovec){.iov_base = at, .iov_len = n};
	return nr;
}
