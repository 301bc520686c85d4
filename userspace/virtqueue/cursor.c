// SPDX-License-Identifier: GPL-2.0-or-later
/* Cursors over pieces of guest memory. */
#include "virtqueue/cursor.h"

/* The rest of the piece, at most @len bytes and to the end. NULL: nothing is left. */
static char *piece(struct vq_cursor *c, size_t len, size_t *n)
{
	if (c->iov == c->end || !c->left || !len)
		return NULL;
	*n = c->iov->iov_len - c->at;
	if (*n > len)
		*n = len;
	if (*n > c->left)
		*n = c->left;
	return vq_cursor_take(c, *n);
}

void vq_cursor_skip(struct vq_cursor *c, size_t len)
{
	size_t n;

	for (; piece(c, len, &n); len -= n)
		;
}

size_t vq_cursor_read_pieces(struct vq_cursor *c, void *to, size_t len)
{
	size_t done = 0, n;
	const char *from;

	for (; (from = piece(c, len - done, &n)); done += n)
		memcpy((char *)to + done, from, n);
	__asm__ volatile("" ::: "memory");
	return done;
}

size_t vq_cursor_write_pieces(struct vq_cursor *c, const void *from, size_t len)
{
	size_t done = 0, n;
	char *to;

	for (; (to = piece(c, len - done, &n)); done += n)
		memcpy(to, (const char *)from + done, n);
	return done;
}

int vq_cursor_slice(struct vq_cursor *c, size_t len, struct iovec *to, int max, size_t *bytes)
{
	int nr = 0;
	size_t n;
	char *at;

	*bytes = 0;
	for (; nr < max && (at = piece(c, len - *bytes, &n)); *bytes += n)
		to[nr++] = (struct iovec){.iov_base = at, .iov_len = n};
	return nr;
}
