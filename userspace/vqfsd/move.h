/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moving a queue to another worker while it serves.
 *
 * The mover takes the queue's pop lock, changes the owner and where kicks go, and wakes the new
 * owner. All that goes with a queue is in the queue: ring indices, what was signalled, requests
 * ready. The new owner re-arms kicks and looks at the ring once more before it sleeps, so no kick
 * is lost; requests in progress finish where they are. The pause is the time from the lock to the
 * new owner's first look.
 *
 * Against the front-end it loses: when the ring was started, stopped or paused since the move was
 * asked for (the queue's generation changed), or is being stopped or paused, nothing is done and
 * the move is cancelled.
 */
#ifndef VQFSD_MOVE_H
#define VQFSD_MOVE_H

#include <stdbool.h>
#include <stdint.h>

struct fsd_device;

/* Waits for the new owner's look, which is never given up: fsd_move_done(). */
struct fsd_move {
	uint32_t queue;
	uint32_t seq;
	bool same; /* it was the owner already */
};

/* The generation of a queue, to ask for a move of. */
uint64_t fsd_move_generation(const struct fsd_device *dev, uint32_t queue);

/*
 * Makes @worker the owner of request queue @queue. 0: done, *m is to be awaited; -EINVAL: no such
 * queue or worker; -ECANCELED: it lost, @generation is no longer the queue's or the queue is
 * stopping or paused.
 */
int fsd_move_start(struct fsd_device *dev, uint32_t queue, uint32_t worker, uint64_t generation,
		   struct fsd_move *m);
/* True: the new owner looked (or the ring stopped, and nobody needs to). */
bool fsd_move_done(const struct fsd_device *dev, const struct fsd_move *m, uint64_t *pause_ns);

/*
 * All in one, with the queue's present generation. As fsd_move_start(), and -ETIMEDOUT: the new
 * owner is busy for longer than @timeout_ms; the move holds.
 */
int fsd_move(struct fsd_device *dev, uint32_t queue, uint32_t worker, uint32_t timeout_ms,
	     uint64_t *pause_ns);

/* For workers that end: changes the owner whatever state the queue is in. */
void fsd_move_by_force(struct fsd_device *dev, uint32_t queue, uint32_t worker);

#endif
