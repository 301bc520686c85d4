/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the responder. All of it belongs to whoever runs it: its thread, or the
 * caller while it is halted. */
#ifndef VQLOAD_RESPONDER_PRIV_H
#define VQLOAD_RESPONDER_PRIV_H

#include <pthread.h>

#include "virtqueue/device.h"
#include "virtqueue/vhost_user.h"
#include "vqload/responder.h"
#include "vqload/responder_fs.h"

#define RSP_LATE_MAX 1024u
#define RSP_IOV_MAX  (VQ_CHAIN_MAX + VQ_MEM_REGIONS)

struct rsp_queue {
	struct vq_device dev;
	int kick_fd, call_fd, err_fd;
	uint32_t num;
	uint16_t base;
	struct vhu_vring_addr addr;
	bool has_addr, enabled;
	bool started;        /* rings are mapped, until GET_VRING_BASE */
	bool held;           /* LOAD_DO_REORDER: this one waits for the next */
	struct vq_used hold; /* while held */
	bool mute;           /* LOAD_DO_NO_CALL: the next call is left out */
};

/* A reply that waits: LOAD_DO_LATE. */
struct rsp_late {
	uint32_t queue;
	struct vq_used used;
	int64_t due_ns;
};

struct rsp_region {
	uint64_t gpa, size, user;
	void *map;
	size_t map_bytes;
};

struct load_responder {
	struct load_responder_options opts;
	struct load_responder_stats stats; /* written by one, read by any: atomic */
	pthread_t thread;
	bool running;
	bool hurry; /* some queue has more than its share waiting */
	int stop_fd, listen_fd, sock;
	char path[108]; /* to be removed; "": none */

	/* Of the connection. */
	uint64_t features, protocol;
	bool owner, has_features;
	struct vq_mem mem;
	struct rsp_region region[VQ_MEM_REGIONS];
	uint32_t nr_regions;
	struct rsp_queue queue[VHU_MAX_VRINGS];
	uint32_t nr_queues; /* 1 + request queues */
	struct rsp_late late[RSP_LATE_MAX];
	uint32_t nr_late;

	struct load_fs *fs;
	bool mounted;   /* INIT came */
	uint64_t count; /* requests that misdeeds count */
	struct iovec iov[RSP_IOV_MAX];
};

static inline void rsp_count(uint64_t *n)
{
	__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
}

void rsp_complain(struct load_responder *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* responder_proto.c: takes one message from the socket; false: close the connection. */
bool rsp_message(struct load_responder *r);
/* Forgets all that the connection brought, the files stay. */
void rsp_disconnect(struct load_responder *r);

/* responder_mem.c: 0, or -errno after a complaint. */
int rsp_set_table(struct load_responder *r, const struct vhu_memory *m, struct vhu_fds *fds);
int rsp_add_region(struct load_responder *r, const struct vhu_mem_region *m, int fd);
int rsp_remove_region(struct load_responder *r, const struct vhu_mem_region *m);
void rsp_unmap_all(struct load_responder *r);
/* Where the front-end's own address @user is here, as one piece of @len bytes; NULL: nowhere. */
void *rsp_user_at(const struct load_responder *r, uint64_t user, uint64_t len);

/* responder_queue.c */
/* Starts the ring when all it needs has come: 0, or -errno after a complaint. */
int rsp_queue_start(struct load_responder *r, uint32_t i);
/* Pushes what it holds back, then leaves the ring alone. */
void rsp_queue_stop(struct load_responder *r, uint32_t i);
static inline bool rsp_queue_runs(const struct rsp_queue *q)
{
	return q->started && q->enabled && !q->dev.pop.fault;
}
/* Serves up to a fair share of requests; true: there are more. */
bool rsp_queue_serve(struct load_responder *r, uint32_t i, uint32_t *done);
/* Pushes late replies that are due, or all; returns when the next one is. */
int64_t rsp_late_push(struct load_responder *r, int64_t now_ns);

/* responder_fuse.c: one request; returns the bytes of the reply, as was written to the chain. */
uint32_t rsp_fuse(struct load_responder *r, uint32_t queue, const struct vq_chain *c,
		  uint32_t *opcode);

/* Copies between plain memory and the bytes of iovecs from @at on; returns how many there were. */
size_t rsp_gather(void *to, const struct iovec *iov, uint32_t nr, size_t at, size_t len);
size_t rsp_scatter(const void *from, const struct iovec *iov, uint32_t nr, size_t at, size_t len);

/* responder_misdeed.c: spoils a reply in place, of @len bytes; returns what the ring is to say. */
uint32_t rsp_spoil(struct load_responder *r, const struct vq_chain *c, uint32_t len);
/* Pushes a reply as the misdeed has it. */
void rsp_push(struct load_responder *r, uint32_t queue, struct vq_used u, bool wrong);

#endif
