/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between engine.c, which sends, and engine_reap.c, which receives. */
#ifndef VQLOAD_ENGINE_PRIV_H
#define VQLOAD_ENGINE_PRIV_H

#include "common/clock.h"
#include "vqload/engine.h"

/* Descriptors of one request at most: what one indirect table of Linux's largest ring takes. */
#define ENGINE_RANGES 1040u

struct engine_queue {
	struct load_queue *q; /* NULL: not this engine's */
	struct load_pool pool;
	uint32_t added; /* since the last publication */
	uint32_t in_flight;
	uint64_t seq;
	uint64_t progress_ns; /* last reply, or first request since all were answered */
	uint64_t *answered;   /* bit per head: it was in flight, so an unknown one is a duplicate */
};

struct load_engine {
	struct load_transport *t;
	struct load_engine_options opts;
	struct load_judge *judge;
	struct load_stats stats;
	struct engine_queue *queue; /* t->nr_queues of them */
	uint16_t mine[256];         /* indices of those that are this engine's */
	uint32_t nr_mine;
	uint32_t in_flight;
	bool indirect;
	int epoll_fd;
	uint64_t now_ns, check_ns; /* next look at ages, silence, socket */
	uint64_t unique;
	int err;
	char error[512];
	struct vq_range range[ENGINE_RANGES];
};

/* Keeps the first error. Returns it. */
int engine_fail(struct load_engine *e, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void engine_publish(struct engine_queue *q, struct load_engine *e);
/* Watches the transport's socket. */
int engine_watch_socket(struct load_engine *e);

/* What epoll tells: a queue's call is its index. */
#define ENGINE_SOCKET  0x10000u
#define ENGINE_ERR_BIT 0x20000u

#endif
