/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What vqfsd counts, as readers find it in shared memory. Its control socket hands the region over
 * on "stats": a memfd sealed against shrinking, growing and writing by anybody but the daemon. Map
 * it read-only; reading costs the daemon nothing.
 *
 * Fixed width, in the machine's byte order. Counters only grow, from the daemon's start, over
 * connections and restarts of rings; each word is written whole, by one thread at a time. Words of
 * one structure are of different instants: differences of two readings are what to use. Times are
 * CLOCK_MONOTONIC ns. 0 in a "current" time means that nothing is there.
 *
 * A reader walks by the sizes and offsets of the header, so that later versions may append to
 * structures; the version changes when a field changes its place or meaning.
 */
#ifndef VQSTEER_FSD_ABI_H
#define VQSTEER_FSD_ABI_H

#include <linux/types.h>

#include "hist.h"

#define VQS_FSD_MAGIC     0x6473667176ULL /* "vqfsd" */
#define VQS_FSD_VERSION   1u
#define VQS_FSD_TAG_BYTES 40
#define VQS_FSD_OPS       64  /* opcodes from 63 on share the last */
#define VQS_FSD_ERRNOS    256 /* errnos from 255 on share the last */
#define VQS_FSD_BATCHES   33  /* requests per pop: 1 .. 32 at their own index */
#define VQS_FSD_NO_WORKER 0xffffffffu

enum vqs_fsd_engine {
	VQS_FSD_INLINE,    /* on the worker */
	VQS_FSD_POOL,      /* on the pool's threads */
	VQS_FSD_THRESHOLD, /* inline, but what is popped with more than threshold others */
	VQS_FSD_URING,     /* not in this version */
	VQS_FSD_AUTO,      /* not in this version */
	VQS_FSD_ENGINES,
};

/* Bits of vqs_fsd_queue.state. */
enum vqs_fsd_queue_state {
	VQS_FSD_STARTED = 1,  /* the guest gave it a ring */
	VQS_FSD_ENABLED = 2,  /* and lets it run */
	VQS_FSD_PAUSED = 4,   /* guest memory is changing */
	VQS_FSD_STOPPING = 8, /* the guest wants it back; requests in progress finish */
	VQS_FSD_DRAINED = 16, /* an operator wants it quiet */
	VQS_FSD_BROKEN = 32,  /* the guest broke the rules; until it starts the ring again */
};

enum vqs_fsd_thread_kind {
	VQS_FSD_FREE,
	VQS_FSD_WORKER,
	VQS_FSD_POOLED,
};

struct vqs_fsd_header {
	__u64 magic;
	__u32 version;
	__u32 header_bytes; /* sizeof() of the three structures, as the daemon has them */
	__u32 queue_bytes;
	__u32 thread_bytes;
	__u64 total_bytes;
	__u64 queues_offset; /* of queue 0, which is hiprio; nr_queues of them follow */
	__u64 threads_offset;
	__u32 nr_queues;
	__u32 nr_threads; /* slots, most of them free */
	__s32 pid;        /* in the daemon's own namespace */
	__u32 connected;  /* 1: a front-end is there */
	__u64 started_ns;
	__u64 connections;
	__u64 moves;     /* changes of mapping that took effect */
	__u64 cancelled; /* and that lost a race against the guest */
	char tag[VQS_FSD_TAG_BYTES];
};

/* Requests popped and not yet answered: pops - given_back - pushes. */
struct vqs_fsd_queue {
	__u32 index;
	__u32 state;
	__u32 worker;    /* that owns it */
	__u32 engine;    /* enum vqs_fsd_engine */
	__u32 threshold; /* popped together at most to run inline */
	__u32 ring_size;
	__u64 pops;       /* requests taken off the ring */
	__u64 pushes;     /* replies put onto it */
	__u64 given_back; /* popped and not begun when the ring was stopped: left on it */
	__u64 waiting;    /* requests on the ring and not popped, as of the last pop */
	__u64 rounds;     /* pops that found something */
	__u64 calls;
	__u64 bytes_in; /* of data, from the guest: WRITE */
	__u64 bytes_out;
	__u64 errors; /* error replies, all */
	__u64 pooled; /* requests that went to the pool */
	__u64 faults; /* times the ring broke */
	__u64 moves;
	__u64 last_pause_ns; /* of the last move: from the old owner's last pop to the new one's
				look */
	__u64 generation;    /* changes whenever the guest starts, stops or pauses the ring */
	__u64 batch[VQS_FSD_BATCHES]; /* how often so many were popped together */
	__u64 op[VQS_FSD_OPS];        /* replies by opcode */
	__u64 error[VQS_FSD_ERRNOS];  /* error replies by errno */
	struct vqs_hist handler_ns;   /* from start to done, without waiting for a thread */
};

/*
 * A thread that executes. Oldest request in progress of a queue: the least current_ns of the
 * threads whose current_queue it is. Read current_ns, the other two, and current_ns again: they
 * belong together when both are the same.
 */
struct vqs_fsd_thread {
	__u32 kind;  /* enum vqs_fsd_thread_kind */
	__u32 index; /* worker: 0 serves hiprio, request queues' from 1. Pool: from 0 */
	__s32 tid;   /* in the daemon's own namespace */
	__u32 current_queue;
	__u32 current_opcode;
	__u32 reserved;
	__u64 current_ns;      /* when it began with the request */
	__u64 started_ns;      /* the thread */
	__u64 waiting_ns;      /* asleep for want of work, ended waits only */
	__u64 waiting_from_ns; /* the wait that goes on; busy = now - started - waits */
	__u64 waits;
	__u64 polls;      /* looks at rings while polling */
	__u64 polling_ns; /* spent so: busy, but for nothing */
	__u64 requests;
};

#endif
