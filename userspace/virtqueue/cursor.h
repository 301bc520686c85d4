/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Positions in guest memory that lies in pieces. The pieces are this process's own records; what is
 * in them changes at any time, so everything is copied once and judged on the copy.
 */
#ifndef VIRTQUEUE_CURSOR_H
#define VIRTQUEUE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/uio.h>

struct vq_cursor {
	const struct iovec *iov; /* the piece that it is in, some of which is left; or the end */
	const struct iovec *end;
	size_t at;   /* in that piece */
	size_t left; /* bytes from here to the end */
};

/* Past pieces without bytes left. */
static inline void vq_cursor_settle(struct vq_cursor *c)
{
	while (c->iov != c->end && c->at == c->iov->iov_len) {
		c->iov++;
		c->at = 0;
	}
}

/* At the start of @nr pieces, of which @bytes count. */
static inline struct vq_cursor vq_cursor(const struct iovec *iov, unsigned int nr, size_t bytes)
{
	struct vq_cursor c = {.iov = iov, .end = iov + nr, .left = bytes};

	vq_cursor_settle(&c);
	return c;
}

/* Whether the next @len bytes are in one piece, as headers and arguments of Linux are. */
static inline bool vq_cursor_whole(const struct vq_cursor *c, size_t len)
{
	return c->iov != c->end && len <= c->iov->iov_len - c->at && len <= c->left;
}

/* Where it is, going on by @len bytes that are in one piece. */
static inline char *vq_cursor_take(struct vq_cursor *c, size_t len)
{
	char *at = (char *)c->iov->iov_base + c->at;

	c->at += len;
	c->left -= len;
	vq_cursor_settle(c);
	return at;
}

/* As the two below, over several pieces. */
size_t vq_cursor_read_pieces(struct vq_cursor *c, void *to, size_t len);
size_t vq_cursor_write_pieces(struct vq_cursor *c, const void *from, size_t len);

/* Copies and goes on; returns how many bytes there were: @len, or what was left. */
static inline size_t vq_cursor_read(struct vq_cursor *c, void *to, size_t len)
{
	if (!vq_cursor_whole(c, len))
		return vq_cursor_read_pieces(c, to, len);
	memcpy(to, vq_cursor_take(c, len), len);
	/* The guest may write there now: no compiler is to read it again in place of the copy. */
	__asm__ volatile("" ::: "memory");
	return len;
}

static inline size_t vq_cursor_write(struct vq_cursor *c, const void *from, size_t len)
{
	if (!vq_cursor_whole(c, len))
		return vq_cursor_write_pieces(c, from, len);
	memcpy(vq_cursor_take(c, len), from, len);
	return len;
}

/* Goes on by @len bytes, or to the end. */
void vq_cursor_skip(struct vq_cursor *c, size_t len);
/*
 * The next @len bytes as up to @max pieces, for a system call; goes on by that. Returns the number
 * of pieces, *bytes how many bytes they are.
 */
int vq_cursor_slice(struct vq_cursor *c, size_t len, struct iovec *to, int max, size_t *bytes);

#endif
