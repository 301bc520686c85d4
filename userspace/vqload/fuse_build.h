/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the builders share: a request grows part by part, and the first error stays. */
#ifndef VQLOAD_FUSE_BUILD_H
#define VQLOAD_FUSE_BUILD_H

#include "vqload/fuse_ops.h"

struct load_build {
	struct load_req *r;
	const struct load_op *op;
	int err;
};

/* Header, with its length still open, and @len bytes of arguments. */
struct load_build load_begin(struct load_req *r, const struct load_head *h, uint32_t opcode,
			     const void *args, size_t len);
void load_put(struct load_build *b, const void *data, size_t len);
/* @name with its NUL. */
void load_put_name(struct load_build *b, const char *name);
/* Completes header and lengths; @asked: data that an UP_TO or SIZE_OR_DATA reply may bring. */
int load_end(struct load_build *b, uint32_t asked);

/* A request of header and arguments whose reply has a fixed length. */
int load_build_plain(struct load_req *r, const struct load_head *h, uint32_t opcode,
		     const void *args, size_t len);

#endif
