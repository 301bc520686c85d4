/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One virtqueue of the device: its ring, its requests, who owns it.
 *
 *	ring -> pop (owner, under the pop lock) -> ready list -> claim -> execute -> finish
 *	                                        \-> the pool's list -> execute -> finish
 *	finish (any thread, under the used lock) -> used ring, call
 *
 * The pop lock guards everything that says whether and by whom the ring is popped: state, owner,
 * generation, the pop side of the ring, the engine. It is held while popping and while one of these
 * changes, never while a request executes or anybody waits for one. The used lock guards the used
 * side of the ring, the call descriptor and the queue's counters of replies. Order: pop, then used.
 *
 * Ready are the requests that were popped last and that nobody began: only the owner puts requests
 * there, when the list is empty, at most FSD_POP_MAX; whoever owns the queue claims them one by
 * one, by one atomic operation, so that a move hands over the rest by just changing the owner. An
 * old owner that has not noticed yet may claim one more: it is then in progress there.
 */
#ifndef VQFSD_QUEUE_H
#define VQFSD_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <vqsteer/fsd_abi.h>

#include "virtqueue/device.h"
#include "virtqueue/vhost_user.h"
#include "vqfsd/lock.h"

struct fsd_device;
struct fsd_queue;
struct fsd_worker;
struct fsd_runner;

/* Popped together at most. */
#define FSD_POP_MAX     32u
/* Requests of one queue popped and not answered, at most, whatever the queue size is. */
#define FSD_RECORDS_MAX 1024u
#define FSD_IOV_MAX     (VQ_CHAIN_MAX + VQ_MEM_REGIONS)

/* A request, from pop to finish. In a slab of the queue: nothing is allocated on the way. */
struct fsd_record {
	struct fsd_record *next; /* free, or in the pool's list */
	struct fsd_queue *queue;
	struct vq_chain chain;
	struct iovec iov[FSD_IOV_MAX];
	/* Not a multiple of a page: the heads of records would all share a few lines of the cache.
	 */
	uint8_t stagger[128];
};

struct fsd_queue {
	uint32_t index; /* 0: hiprio */
	struct fsd_device *dev;
	struct vqs_fsd_queue *stats;

	/* What the front-end said. Its thread's only. */
	struct vhu_vring_addr addr;
	bool has_addr;
	uint32_t size;
	uint16_t base;
	int kick_next; /* -1, or what the next start uses */

	_Alignas(VQ_CACHE_LINE) struct fsd_lock pop_lock;
	uint32_t wanted; /* others who wait for the pop lock: the owner lets them; atomic */
	uint32_t state;  /* enum vqs_fsd_queue_state; atomic for who only looks */
	struct fsd_worker *owner; /* atomic for who only looks */
	uint64_t generation;
	uint32_t engine, threshold;
	int kick_fd; /* in the owner's epoll; -1: not started */
	bool look_due;
	uint32_t move_seq, look_seq; /* moves made, and of these seen by the new owner */
	uint64_t moved_ns;
	uint64_t popped; /* since the start of the ring; less what was given back */
	struct fsd_record *free;
	struct fsd_record *slab;
	uint32_t records, touched; /* of the slab: how many, and how many were ever used */
	uint32_t ready_tail;

	_Alignas(VQ_CACHE_LINE) uint32_t ready_head; /* atomic: claimed up to here */
	struct fsd_record *ready[FSD_POP_MAX];

	_Alignas(VQ_CACHE_LINE) struct fsd_lock used_lock;
	int call_fd, err_fd;
	uint64_t finished;
	uint32_t quiet_seq; /* futex of who waits for finished == popped */
	bool quiet_wanted;
	bool starved; /* the owner found no free record */
	struct fsd_record *returned;

	struct vq_device ring;
};

/* One done request, before it is pushed. */
struct fsd_done {
	struct fsd_record *record;
	uint32_t used_len;
	uint32_t opcode;
	int error;
	uint32_t bytes_in, bytes_out;
	uint64_t handler_ns;
};

void fsd_queue_init(struct fsd_queue *q, struct fsd_device *dev, uint32_t index);

static inline uint32_t fsd_queue_state(const struct fsd_queue *q)
{
	return __atomic_load_n(&q->state, __ATOMIC_RELAXED);
}

static inline struct fsd_worker *fsd_queue_owner(const struct fsd_queue *q)
{
	return __atomic_load_n(&q->owner, __ATOMIC_RELAXED);
}

/* Takes the pop lock ahead of the owner, who may be polling it. */
void fsd_queue_hold(struct fsd_queue *q);
static inline void fsd_queue_release(struct fsd_queue *q)
{
	fsd_lock_give(&q->pop_lock);
}
static inline bool fsd_queue_runs(const struct fsd_queue *q)
{
	return fsd_queue_state(q) == (VQS_FSD_STARTED | VQS_FSD_ENABLED);
}
/*
 * Under the pop lock: changes the state, and the generation, so that moves under way lose. What is
 * ready goes back to the ring when the queue no longer runs.
 */
void fsd_queue_mark(struct fsd_queue *q, uint32_t set, uint32_t clear);

/* --- the owner ------------------------------------------------------------------------------- */

/*
 * Fills the ready list. Returns how many are there, 0: the ring is empty; -EAGAIN: somebody wants
 * the pop lock, try again; -EBUSY: there is no free record, a finish will wake the owner; -ENOENT:
 * not @w's, or not to be popped.
 */
int fsd_queue_pop(struct fsd_queue *q, const struct fsd_worker *w);
/* The next ready request, or NULL: none, or not @w's. */
struct fsd_record *fsd_queue_claim(struct fsd_queue *q, const struct fsd_worker *w);
/* Whether a pop would find something, without asking for kicks. */
bool fsd_queue_peek(struct fsd_queue *q, const struct fsd_worker *w);
/* Asks for kicks and looks once more. True: something is there, go on popping. */
bool fsd_queue_arm(struct fsd_queue *q, const struct fsd_worker *w);

/* --- any thread ------------------------------------------------------------------------------ */

/* Replies: pushes, counts, calls; frees the records. At most the ring's size, all of @q. */
void fsd_queue_finish(struct fsd_queue *q, const struct fsd_done *done, uint32_t n);

/* Under the pop lock: the new owner looked, or nobody needs to any more. */
void fsd_queue_looked(struct fsd_queue *q);
/* Under the pop lock. The ring is not popped again until it starts anew; tells the front-end. */
void fsd_queue_break(struct fsd_queue *q, const char *why);

/* --- the front-end's thread ------------------------------------------------------------------ */

/*
 * Starts the ring that addr, size, base and kick_next describe, if all are there and it is not
 * started. 0, or with *why -EINVAL: an area outside of memory or not aligned; -ENOMEM.
 */
int fsd_queue_start(struct fsd_queue *q, uint64_t features, const char **why);
/* Lets it be popped or not. */
void fsd_queue_enable(struct fsd_queue *q, bool enable);
/*
 * Stops it and waits until its requests are answered; what was popped and not begun stays on the
 * ring. base is then where the next start goes on. Enabled or not stays as it is.
 */
void fsd_queue_stop(struct fsd_queue *q);
void fsd_queue_set_call(struct fsd_queue *q, int fd);
void fsd_queue_set_err(struct fsd_queue *q, int fd);

/*
 * Sets @bit (VQS_FSD_PAUSED, _DRAINED): no more is popped, and what was not begun stays on the
 * ring. Does not wait.
 */
void fsd_queue_pause(struct fsd_queue *q, uint32_t bit);
void fsd_queue_resume(struct fsd_queue *q, uint32_t bit);
/* Whether all that was popped is answered; and waits for it. */
bool fsd_queue_quiet(struct fsd_queue *q);
void fsd_queue_await_quiet(struct fsd_queue *q);
/* After a change of memory: finds its areas again, or breaks. Paused and quiet. */
void fsd_queue_remap(struct fsd_queue *q);

#endif
