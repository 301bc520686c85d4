/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request slots: where a request and its reply lie in guest memory. All of a queue's slots are made
 * at once, before threads start, and used again and again; nothing is allocated per request.
 *
 * A slot in guest memory, headers of all slots in one area, data in another:
 *   in (header, arguments, names) | guard | out, guard right behind what the request lets be
 * written guard | data, page-aligned: WRITE's, or the reply's | guard right behind the reply's
 * Guards are patterns (judge.h) that the device has no descriptor for; they are laid again only
 * when a slot's reply has another size than before.
 */
#ifndef VQLOAD_POOL_H
#define VQLOAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "vqload/fuse_ops.h"
#include "vqload/judge.h"
#include "vqload/transport.h"

/* Header and arguments of the longest reply, STATX: 16 + 288. */
#define LOAD_OUT_BYTES 320u

struct load_engine;
struct load_slot;

/*
 * A reply came. The slot's memory may be read until this returns (@s->out, @s->data, within
 * @v->data_len). True: the slot stays the callee's (held, for the next request or for
 * load_slot_put()); false: it is free again. May get, build and submit slots; may not wait, call
 * or reap.
 */
typedef bool load_done_fn(struct load_engine *e, struct load_slot *s, const struct load_verdict *v);

enum load_slot_state { LOAD_SLOT_FREE, LOAD_SLOT_HELD, LOAD_SLOT_FLIGHT };

struct load_slot {
	/* The caller's, from load_slot_get() on: */
	struct load_req req; /* build into this; it knows its memory */
	void *data;          /* data_cap bytes: fill req.in_data_size of it for a WRITE */
	load_done_fn *done;  /* NULL: nobody waits for this reply */
	void *owner;         /* for done */
	uint64_t cookie[4];  /* for done */
	uint64_t age_ns;     /* older in flight is a finding; 0: none. load_slot_get() sets the
			      * engine's default */
	bool uncounted;      /* in no statistics (ramp time, set-up); judged all the same */

	/* The engine's; to be read: */
	const void *out;          /* the reply's header and arguments, req.out_size bytes */
	uint32_t data_cap, queue; /* queue: as everywhere, 0 hiprio */
	uint64_t due_ns, sent_ns; /* latency counts from the first, age from the second */
	uint64_t done_ns;         /* when the reply was seen */
	uint64_t seq;             /* its number in the queue */
	uint32_t used;            /* bytes of the reply, as the ring says */
	enum load_slot_state state;

	/* The pool's. */
	bool late;
	uint32_t index;
	uint32_t out_guarded, data_guarded; /* sizes that guards were laid for */
	uint64_t in_gpa, out_gpa, data_gpa;
	struct load_slot *next;
};

struct load_pool {
	struct load_slot *slot; /* owned */
	uint32_t nr, nr_free;
	struct load_slot *free;
};

/*
 * Makes @nr slots for queue @queue out of guest memory: @in_cap bytes for header, arguments and
 * names, @data_cap (rounded up to pages) for data. -ENOSPC: the transport's regions are too small;
 * load_pool_bytes() says what one queue takes at most, of two regions. -ENOMEM.
 */
int load_pool_init(struct load_pool *p, struct load_transport *t, uint32_t queue, uint32_t nr,
		   uint32_t in_cap, uint32_t data_cap);
void load_pool_free(struct load_pool *p);
uint64_t load_pool_bytes(uint32_t nr, uint32_t in_cap, uint32_t data_cap);

/* Takes a free slot, or NULL. */
static inline struct load_slot *load_pool_take(struct load_pool *p)
{
	struct load_slot *s = p->free;

	if (!s)
		return NULL;
	p->free = s->next;
	p->nr_free--;
	s->state = LOAD_SLOT_HELD;
	return s;
}

static inline void load_pool_give(struct load_pool *p, struct load_slot *s)
{
	s->state = LOAD_SLOT_FREE;
	s->next = p->free;
	p->free = s;
	p->nr_free++;
}

/* Lays the guards of a slot whose request is built, where they are not laid yet. */
void load_slot_guard(struct load_slot *s);
/*
 * First byte of a guard that changed, relative to the guard, and -1 when all are whole. What
 * changed is laid again.
 */
int64_t load_slot_check(struct load_slot *s);

/* Bytes of @s->out that the reply filled: what load_read_*() take. */
static inline uint32_t load_slot_out_len(const struct load_slot *s)
{
	return s->used < s->req.out_size ? s->used : s->req.out_size;
}

/* How the request lies in buffers, as Linux lays it: header, arguments, data, each of its own, data
 * in pages. Returns the number in all; *nr_read of them are for the device to read. */
#define LOAD_PAGE 4096u
uint32_t load_slot_ranges(const struct load_slot *s, struct vq_range *range, uint32_t max,
			  uint32_t *nr_read);

#endif
