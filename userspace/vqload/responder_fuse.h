/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the responder's FUSE files: a request while it is served. */
#ifndef VQLOAD_RESPONDER_FUSE_H
#define VQLOAD_RESPONDER_FUSE_H

#include <string.h>

#include "vqload/fuse_ops.h"
#include "vqload/responder_priv.h"

#define RSP_HEADER   sizeof(struct fuse_in_header)
#define RSP_REPLY    sizeof(struct fuse_out_header)
/* Arguments and two names. */
#define RSP_ARGS_MAX (2 * (LOAD_NAME_MAX + 1) + 128)

struct rsp_request {
	struct load_responder *r;
	const struct vq_chain *c;
	struct fuse_in_header head;
	uint32_t len; /* bytes of args that came, without a WRITE's data */
	uint8_t args[RSP_ARGS_MAX];
	/* The reply: arguments here, data in the chain already. */
	uint32_t out_len, data_len;
	_Alignas(8) uint8_t out[sizeof(struct fuse_statx_out)];
};

static inline const struct iovec *rsp_writable(const struct rsp_request *q)
{
	return q->c->iov + q->c->nr_read;
}

/* Room for data behind a header only. */
static inline uint32_t rsp_room(const struct rsp_request *q)
{
	return q->c->write_bytes > RSP_REPLY ? q->c->write_bytes - (uint32_t)RSP_REPLY : 0;
}

static inline void *rsp_answer(struct rsp_request *q, size_t len)
{
	q->out_len = (uint32_t)len;
	memset(q->out, 0, len);
	return q->out;
}

/* The handle is the first field of RELEASE, FLUSH, FSYNC, READ, WRITE. */
static inline uint64_t rsp_handle(const struct rsp_request *q)
{
	uint64_t fh;

	memcpy(&fh, q->args, sizeof(fh));
	return fh;
}

/* responder_data.c: 0, or the error to answer. */
int rsp_read(struct rsp_request *q);
int rsp_write(struct rsp_request *q);
int rsp_readdir(struct rsp_request *q);

#endif
