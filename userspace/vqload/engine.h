/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: sends requests over queues of a started transport, takes replies off, has each one
 * judged, counts and times it, and tells who sent it.
 *
 *	get a slot -> build into slot->req -> submit -> flush | reap -> judge -> slot->done()
 *
 * One thread owns an engine and the queues it was given; several engines may share a transport,
 * each with queues of its own. Nothing waits without a limit: when no reply comes for
 * options.silence_ns while requests are in flight, that is -ETIMEDOUT. When the daemon closes the
 * socket, that is -ECONNRESET. The first such error stays (load_engine_error()), and all calls
 * that send or wait return it from then on.
 *
 * Time is read once per batch: replies that were on the ring when the clock was read carry that
 * time, later ones belong to the next batch; so latencies are never too short, and too long by the
 * batch's own handling at most.
 */
#ifndef VQLOAD_ENGINE_H
#define VQLOAD_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <vqsteer/hist.h>

#include "vqload/judge.h"
#include "vqload/pool.h"
#include "vqload/transport.h"

struct load_engine_options {
	uint32_t in_bytes; /* for header, arguments and names of one request */
	bool poll;         /* look at the rings without sleep, instead of waiting for calls */
	/* Guards are laid for every request. To check them cost 55 of 230 ns per GETATTR (all of
	 * the engine's work, depth 32, one queue), so that one reply in 8 is the default. */
	/*
	 * Check the guards of every reply, else of one in 8 (they are laid for all). Checking all
	 * took 55 of 230 ns per GETATTR, the engine's work at depth 32 on one queue.
	 */
	bool guard_all;
	uint64_t silence_ns;    /* no reply for so long while some are due: -ETIMEDOUT */
	uint64_t age_ns;        /* default of slot->age_ns */
	uint32_t details;       /* findings that the judge keeps in full */
	uint64_t unique;        /* first unique; a multiple of LOAD_UNIQUE_STEP, not 0 */
	uint32_t unique_step;   /* multiple of LOAD_UNIQUE_STEP; apart for engines that share */
	uint32_t uid, gid, pid; /* sender of all requests */
};

#define LOAD_ENGINE_OPTIONS_DEFAULT                                                                \
	{                                                                                          \
		.in_bytes = 1024, .silence_ns = 10000000000, .age_ns = 30000000000, .details = 16, \
		.unique = LOAD_UNIQUE_STEP, .unique_step = LOAD_UNIQUE_STEP,                       \
	}

/* Of one queue, or of one opcode. Only what was not sent as uncounted. */
struct load_counts {
	uint64_t requests, errors; /* errors: sound replies that carry one, and faulty replies */
	uint64_t read_bytes, written_bytes;
	struct vqs_hist latency; /* ns, from due to done; of requests that want a reply */
};

/* As vqs_hist_add(), which has to do without an instruction for the logarithm. */
static inline void load_hist_add(struct vqs_hist *h, uint64_t v)
{
	uint32_t shift =
		v < 2 * VQS_HIST_SUB ? 0 : 63u - (uint32_t)__builtin_clzll(v) - VQS_HIST_SUB_BITS;

	h->bucket[(shift << VQS_HIST_SUB_BITS) + (uint32_t)(v >> shift)]++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
}

struct load_stats {
	uint32_t nr_queues;
	struct load_counts *queue;       /* by queue, owned */
	struct load_counts op[LOAD_OPS]; /* by opcode */
	uint64_t sent;                   /* requests, counted or not */
	uint64_t kicks, waits, batches;  /* kicks sent; sleeps; reaps that found something */
	uint64_t done;                   /* replies, counted or not */
};

/*
 * For queues of @t, which must be started and outlive the engine. NULL: no memory.
 */
struct load_engine *load_engine_new(struct load_transport *t, const struct load_engine_options *o);
/* Slots in flight are forgotten without a word; see load_engine_lose(). */
void load_engine_free(struct load_engine *e);
static inline void load_engine_freep(struct load_engine **e)
{
	load_engine_free(*e);
}

/*
 * Gives the engine a queue, with @slots requests of at most @data_bytes of data each. Before
 * threads start, for it takes guest memory. 0; -ENOSPC: not enough of it (or more slots than the
 * ring can hold at once); -EEXIST; -EINVAL; -ENOMEM. load_engine_error() says it in words.
 */
int load_engine_add_queue(struct load_engine *e, uint32_t queue, uint32_t slots,
			  uint32_t data_bytes);
/* Bytes that each region of a transport should have for @queues such queues, rings included. */
uint64_t load_engine_region_bytes(const struct load_options *o, uint32_t in_bytes, uint32_t queues,
				  uint32_t slots, uint32_t data_bytes);

struct load_transport *load_engine_transport(struct load_engine *e);
/* The engine's judge: for findings of the caller (LOAD_DATA), and for the end. */
struct load_judge *load_engine_judge(struct load_engine *e);
const struct load_stats *load_engine_stats(const struct load_engine *e);
/* Forgets what was counted so far; findings stay. */
void load_engine_clear_stats(struct load_engine *e);
/* into += from. Queues of @from that @into does not have count as queue 0. */
void load_stats_merge(struct load_stats *into, const struct load_stats *from);
int load_stats_init(struct load_stats *s, uint32_t queues);
void load_stats_free(struct load_stats *s);

/* 0, or the first error, negative, and its sentence ("" when there is none). */
int load_engine_status(const struct load_engine *e);
const char *load_engine_error(const struct load_engine *e);

/* --- sending ----------------------------------------------------------------------------- */

/* CLOCK_MONOTONIC, ns, as of the last reap, wait or tick: what due times are compared with. */
uint64_t load_engine_now(const struct load_engine *e);
/* Reads the clock; looks after ages, silence and the socket now and then. 0, or the error. */
int load_engine_tick(struct load_engine *e);

/* A held slot of @queue with done, owner and cookies cleared; NULL: none is free. */
struct load_slot *load_slot_get(struct load_engine *e, uint32_t queue);
/* Gives back a held slot. */
void load_slot_put(struct load_engine *e, struct load_slot *s);
/* Sender, @nodeid, and the next unique: for a builder. */
struct load_head load_engine_head(struct load_engine *e, uint64_t nodeid);

/*
 * Adds a held slot, whose request is built, to its queue; the device sees it after the next flush,
 * reap or wait. @due_ns: when it was due; 0: now. 0; -ENOSPC: the ring is full, and the slot still
 * held; -E2BIG: more descriptors than the ring ever has.
 */
int load_engine_submit(struct load_engine *e, struct load_slot *s, uint64_t due_ns);
/* Publishes what was submitted, and kicks where the daemon wants it. */
void load_engine_flush(struct load_engine *e);

/* --- receiving --------------------------------------------------------------------------- */

/* Flushes; takes all replies that are there; calls back. Returns how many, or the error. */
int load_engine_reap(struct load_engine *e);
/*
 * As reap; when nothing was there waits for the first reply, until @deadline_ns of
 * CLOCK_MONOTONIC at the latest, mostly sooner (0 then, too): at least ten times a second, so that
 * the caller can look at what else there is. Signals end the wait early with 0.
 */
int load_engine_wait(struct load_engine *e, uint64_t deadline_ns);
/* Waits until nothing is in flight. 0, or the error. */
int load_engine_drain(struct load_engine *e);
/* Requests in flight, of one queue or of all. */
uint32_t load_engine_in_flight(const struct load_engine *e);
uint32_t load_engine_queue_in_flight(const struct load_engine *e, uint32_t queue);
/* Takes a free slot of the queue at all? */
uint32_t load_engine_queue_free(const struct load_engine *e, uint32_t queue);

/*
 * One request from start to end: submits a held slot, waits for its reply (others are handled
 * meanwhile), and judges it. The slot stays held; its out, data and used are the reply's. Returns 0
 * when there is a reply, whatever it says (*v; may be NULL), or the engine's error: then the slot
 * may still be in flight, and load_slot_put() leaves it so. Not from a callback.
 */
int load_call(struct load_engine *e, struct load_slot *s, struct load_verdict *v);
/* The same for those who want the reply's error only: 0, the reply's own error, or -EIO for a reply
 * that is no good; an error of the engine is in load_engine_status() as well. */
int load_call_status(struct load_engine *e, struct load_slot *s);

/*
 * What is in flight will not come back: notes each as LOAD_LOST (if @note), frees its slot, without
 * calling back. The drivers still hold them: reset them before they are used again.
 */
void load_engine_lose(struct load_engine *e, bool note);
/*
 * After load_reconnect() of the transport: watches the new socket; the error, if any, is forgotten,
 * requests in flight go on.
 */
int load_engine_rearm(struct load_engine *e);

#endif
