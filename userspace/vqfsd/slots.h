/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of counted things that a guest names by number: inodes and handles. A number is an index
 * and a generation, so that one of before is known as such; the things never move, so that finding
 * one takes no lock: it is a compare-and-swap on the thing's own cache line.
 *
 * Life of a slot: fsd_slots_take() - filled by the caller - fsd_slot_publish() - any number of
 * fsd_slots_get() and fsd_slot_put() by any thread - the put that says it was the last - cleaned by
 * the caller - fsd_slots_return().
 */
#ifndef VQFSD_SLOTS_H
#define VQFSD_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FSD_SLOT_CHUNK  1024u
#define FSD_SLOT_CHUNKS 65536u

/* Begins everything in a table. */
struct fsd_slot {
	_Atomic uint64_t state; /* generation << 32 | references */
	uint32_t index;         /* from 1 */
	uint32_t next_free;     /* 0: none */
};

struct fsd_slots {
	size_t size;            /* of a thing */
	_Atomic(char *) *chunk; /* FSD_SLOT_CHUNKS of them, filled one after the other */
	pthread_mutex_t lock;   /* of what follows; not on the way of a get */
	uint32_t free;          /* first free slot */
	_Atomic uint32_t made;  /* slots that were ever used: indices 1 .. made */
	_Atomic uint64_t live;  /* taken and not returned */
};

/* For things of @size bytes, a multiple of 64 that begins with a struct fsd_slot. 0 or -ENOMEM. */
int fsd_slots_init(struct fsd_slots *t, size_t size);
/* The caller has cleaned all of them. */
void fsd_slots_free(struct fsd_slots *t);

/*
 * A slot that nobody can get yet; the rest of it is as the one who had it before left it (zero at
 * first). NULL: no memory, or 64 million are in use.
 */
void *fsd_slots_take(struct fsd_slots *t);
/* From here on others may get it; @refs of its references are the caller's. */
void fsd_slot_publish(struct fsd_slot *s, uint32_t refs);
/* Gives a slot back that has no references: after the last put, or never published. */
void fsd_slots_return(struct fsd_slots *t, struct fsd_slot *s);

/* What the guest calls it. Only while referenced or not yet published. */
static inline uint64_t fsd_slot_id(const struct fsd_slot *s)
{
	return (atomic_load_explicit(&s->state, memory_order_relaxed) & ~0xffffffffULL) | s->index;
}

/* A reference to what @id names, or NULL: no such thing, or no longer. */
void *fsd_slots_get(const struct fsd_slots *t, uint64_t id);
/* True: it was the last one, the caller cleans and returns the slot. */
static inline bool fsd_slot_put(struct fsd_slot *s)
{
	return (uint32_t)atomic_fetch_sub_explicit(&s->state, 1, memory_order_acq_rel) == 1;
}

/* Walks what is there: a reference to the next one, from index *@at on (begins as 1); NULL: done.
 */
void *fsd_slots_next(const struct fsd_slots *t, uint32_t *at);

#endif
