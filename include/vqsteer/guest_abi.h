/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract between the guest's BPF programs and the loader: what lies in their maps.
 *
 * All maps but the ring buffers are mmap-able arrays. The kernel writes them, user space reads
 * them through the mapping without a system call and never writes: intervals are differences of
 * two snapshots. Times are nanoseconds of CLOCK_MONOTONIC (bpf_ktime_get_ns), 0 means "not seen".
 */
#ifndef VQSTEER_GUEST_ABI_H
#define VQSTEER_GUEST_ABI_H

#include "hist.h"

/* One hop of a request's life; the histogram of hop h of queue slot q is hists[q * VQS_HOPS + h].
 */
enum vqs_hop {
	VQS_HOP_BACKGROUND, /* started -> left the background queue (background requests only) */
	VQS_HOP_INPUT,      /* started, or left the background queue -> on the ring */
	VQS_HOP_DEVICE,     /* on the ring -> collected by done work */
	VQS_HOP_IRQ,        /* interrupt -> done work runs; one per interrupt, not per request */
	VQS_HOP_COMPLETE,   /* collected -> request ended (with the extra work item if it may block)
			     */
	VQS_HOP_WAKE,       /* request ended -> its waiter runs (synchronous requests only) */
	VQS_HOP_TOTAL,      /* started -> request ended */
	VQS_HOP_RING_FULL,  /* first refused with -ENOSPC -> on the ring; part of INPUT */
	VQS_HOPS,
};

/* Opcodes of FUSE are below 64; CUSE_INIT and what a newer kernel adds share the last one. */
#define VQS_OPS            64
#define VQS_OP_OTHER       63
/* Kernel errnos that a reply may carry are below 512 (fuse_dev_do_write,
 * virtio_fs_verify_response); those from 255 on share the last slot. */
#define VQS_ERRNOS         256
#define VQS_TAG_LEN        40
#define VQS_QUEUE_NAME_LEN 24

enum vqs_queue_state {
	VQS_QUEUE_FREE,
	VQS_QUEUE_LIVE,    /* addresses of its locks are known */
	VQS_QUEUE_STALE,   /* its connection is gone; learnt again at the next request */
	VQS_QUEUE_REMOVED, /* its device is gone */
};

/*
 * A virtqueue. Everything up to @collect_missed is written under the queue's own spinlock
 * (virtqueue_add_sgs and virtqueue_get_buf run with it held), so it needs neither atomics nor
 * per-CPU copies; what follows is updated atomically.
 */
struct vqs_queue {
	__u64 vq;                   /* struct virtqueue, key of the queue */
	__u64 fsvq;                 /* struct virtio_fs_vq */
	__u32 state;                /* enum vqs_queue_state */
	__u32 device;               /* slot in devices[] */
	__u32 index;                /* 0 is hiprio, request queues count from 1 */
	__u32 ring_size;            /* descriptors */
	__u64 submitted;            /* added to the ring */
	__u64 completed;            /* taken off the ring */
	__u64 complete_only;        /* taken off the ring, its submit was not seen */
	__u64 background;           /* of the completed, start seen: through the background queue */
	__u64 bytes_in;             /* request bytes, guest to daemon, headers included */
	__u64 bytes_out;            /* reply bytes, daemon to guest, headers included */
	__u64 ring_full;            /* times a request was refused with -ENOSPC or -ENOMEM */
	__u64 untracked_slot_taken; /* submitted, but no free slot to follow it */
	__u64 start_missed; /* followed from submit only: started before attach, or when no slot
			       was free */
	__u64 done_works;   /* begun after an interrupt */
	char name[VQS_QUEUE_NAME_LEN];
	__u64 in_flight_kernel; /* virtio_fs_vq.in_flight when last asked (snapshot program) */

	__u64 aborted;            /* ended while on the ring */
	__u64 end_missed;         /* its slot was found again with a new request inside */
	__u64 failed_before_ring; /* ended with an error and never on this ring; ring_full seen */
	__u64 kicks;              /* virtqueue_notify calls */
	__u64 interrupts;         /* virtio_fs_vq_done calls */
	__u64 irq_ns;             /* first interrupt that no done work has served yet, 0: none */
	__u64 reserved[2];
};

struct vqs_device {
	__u64 fs;   /* struct virtio_fs, key of the device; 0: slot free */
	__u64 conn; /* struct fuse_iqueue of the mounted connection, 0: not mounted */
	__u32 nvqs; /* virtqueues, hiprio included */
	__u32 request_queues;
	__u64 failed_before_queue; /* requests that ended before any ring was chosen */
	__u32 max_background;      /* as the daemon answered INIT */
	__u32 virtio_index;        /* N of virtioN */
	__u32 removed;             /* the device is gone, its mount may live on */
	__u32 reserved;
	char tag[VQS_TAG_LEN];
};

/* Locks by the field they are; the names are in observe/names.c. */
enum vqs_lock_kind {
	VQS_LOCK_VQ,     /* virtio_fs_vq.lock, one per queue */
	VQS_LOCK_PQUEUE, /* fuse_pqueue.lock, one per queue */
	VQS_LOCK_IQUEUE, /* fuse_iqueue.lock, guards fiq->pending; one per connection */
	VQS_LOCK_BG,     /* fuse_conn.bg_lock (fuse_chan.bg_lock since 7.x) */
	VQS_LOCK_CONN,   /* fuse_conn.lock (fuse_chan.lock) */
	VQS_LOCK_KINDS,
};

#define VQS_QUEUE_LOCKS  2 /* VQ and PQUEUE: lock slot = queue * 2 + kind */
#define VQS_DEVICE_LOCKS 3 /* the rest: max_queues * 2 + device * 3 + kind - 2 */

/* A watched lock. Written by whoever has just acquired it, hence without atomics. */
struct vqs_lock {
	__u64 addr;           /* 0: not learnt, or forgotten */
	__u64 contended;      /* acquisitions that had to wait */
	__u64 submit_wait_ns; /* of the wait: by tasks that are not kernel workers */
	__u64 reserved[61];
	struct vqs_hist wait; /* ns; sum and max inside */
};

/* A request being followed, found by the address of its struct fuse_req. */
enum vqs_slot_state {
	VQS_SLOT_STARTED,
	VQS_SLOT_RING_FULL,
	VQS_SLOT_SUBMITTED,
	VQS_SLOT_COLLECTED,
	VQS_SLOT_ENDED, /* its waiter has not run yet */
};

#define VQS_DISPATCH_PENDING (~0ULL) /* left when the ring is first tried: vqs_config.straight */

struct vqs_slot {
	__u64 start_ns;
	__u64 dispatch_ns; /* left the background queue; 0: was not in it; VQS_DISPATCH_PENDING */
	__u64 full_ns;     /* first refused by the ring */
	__u64 submit_ns;
	__u64 collect_ns;
	__u64 end_ns;
	__u16 queue;      /* slot in queues[] */
	__u16 cpu;        /* that submitted */
	__u32 state : 8;  /* enum vqs_slot_state */
	__u32 ender : 24; /* thread that ended it; ids are below 1 << 22 (PID_MAX_LIMIT) */
};

/* Eight slots whose keys share one cache line. A set is chosen by hash, a slot inside by search. */
#define VQS_WAYS 8
struct vqs_slot_set {
	__u64 req[VQS_WAYS]; /* struct fuse_req, 0: free; claimed by compare-and-swap */
	struct vqs_slot slot[VQS_WAYS];
};

_Static_assert(sizeof(struct vqs_slot_set) == 512, "a set is eight cache lines");

/* Small address -> slot tables (virtqueues, locks): four keys a bucket, searched completely. */
#define VQS_INDEX_WAYS 4
struct vqs_index {
	__u64 key[VQS_INDEX_WAYS];
	__u32 val[VQS_INDEX_WAYS];
	__u64 reserved[2];
};

/* What belongs to no queue. */
struct vqs_globals {
	__u32 queues_used;
	__u32 devices_used;
	__u32 ops_used;
	__u32 attached;             /* set by the loader when every probe is */
	__u64 untracked_table_full; /* submits and completes of queues that found no slot in
				       queues[] */
	__u64 ops_full;             /* totals not kept per opcode: pool of opcode histograms full */
	__u64 trace_lost;           /* trace records that found their CPU's ring buffer full */
	__u64 index_full;   /* addresses that found no room in an index: their locks are unseen */
	__u64 lock_nested;  /* waits given up: another known lock was being waited for */
	__u64 stack_failed; /* waits whose stack could not be taken */
	__u64 wake_missed;  /* ends or wake-ups of requests that were not seen: their hop is missing
			     */
	__u64 reserved[5];
};

/* A waiter's stack, by stack id: stacks[id] is written with atomics, ids repeat per lock slot. */
struct vqs_stack_stat {
	__u64 waits;
	__u64 wait_ns;
	__u32 lock; /* slot of the lock that waited last with this stack */
	__u32 reserved;
};
#define VQS_STACK_DEPTH 24

/* One finished request, as the trace ring buffers carry it. Times as in struct vqs_slot. */
struct vqs_trace {
	__u64 req;
	__u64 unique;
	__u64 nodeid;
	__u64 start_ns;
	__u64 dispatch_ns;
	__u64 full_ns;
	__u64 submit_ns;
	__u64 collect_ns;
	__u64 end_ns;
	__u64 wake_ns; /* 0: asynchronous */
	__u32 pid;     /* of the task that asked, in the mount's pid namespace; 0: kernel */
	__s32 error;   /* 0 or -errno */
	__u32 bytes_in;
	__u32 bytes_out;
	__u32 opcode;
	__u16 queue;
	__u16 cpu;
};

/* What --queue/--op/... ask for; compiled into the programs as read-only data. */
struct vqs_config {
	__u32 cpus; /* possible CPUs: columns of cpu_queue[] */
	__u32 max_queues;
	__u32 max_devices;
	__u32 max_ops;
	__u32 slot_set_shift; /* 32 - log2 of the number of slot sets */
	__u32 index_shift;    /* 32 - log2 of the buckets in each index */
	__u32 max_stacks;
	__u8 locks;        /* watch locks */
	__u8 stacks;       /* and keep the stacks of their waiters */
	__u8 trace;        /* write a record per finished request */
	__u8 trace_errors; /* ... only those that failed */
	__u8 wake;         /* a waiter's wake-up is probed: a slot lives until then */
	__u8 wake_by_put;  /* ... by what waiter and ender call: they must be told apart */
	__u8 straight; /* background requests go straight to the ring: no input queue, no probe */
	__u8 reserved;
	__s32 trace_op;     /* ... of this opcode, -1: all */
	__s32 trace_index;  /* ... on queues of this index, -1: all */
	__u32 trace_pid;    /* ... asked by this pid, 0: all */
	__s32 detail_index; /* hops per opcode for queues of this index, -1: none */
	__u64 trace_slower_ns;
};

#endif
