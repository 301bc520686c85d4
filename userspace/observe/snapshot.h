/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The snapshot: all counters and histograms of all devices at one instant, in plain C. It is the
 * one source of numbers: observe/ fills it from the maps, cli/, export/ and (later) steer/ read
 * it, and schema "vqsteer/1" (docs/schema.md) is its JSON form.
 *
 * Counters and histograms count since the programs were attached; obs_snapshot_diff() gives what
 * an interval added. Every *_ns is nanoseconds, every *_bytes bytes.
 */
#ifndef OBSERVE_SNAPSHOT_H
#define OBSERVE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vqsteer/guest_abi.h>

#include "common/cleanup.h"

struct vqs_snap_op {
	uint32_t opcode;        /* FUSE opcode; VQS_OP_OTHER: all that have no slot of their own */
	struct vqs_hist *total; /* owned */
	/* Hops of this opcode, only for the queue selected with --queue; else NULL. VQS_HOPS long,
	 * owned. */
	struct vqs_hist *hops;
};

struct vqs_snap_errno {
	uint32_t err; /* positive errno */
	uint64_t count;
};

struct vqs_snap_cpu {
	uint32_t cpu;
	uint64_t requests; /* that this CPU submitted to the queue */
};

struct vqs_snap_lock {
	enum vqs_lock_kind kind;
	uint64_t contended;      /* acquisitions that had to wait */
	uint64_t acquisitions;   /* derived from request counts (docs/metrics.md), an estimate */
	uint64_t submit_wait_ns; /* waited by tasks other than kernel workers */
	bool learnt;             /* its address is known at this moment */
	struct vqs_hist wait;    /* ns */
};

struct vqs_snap_queue {
	uint32_t slot;  /* in the BPF maps: stable while attached, pairs queues of two snapshots */
	uint32_t index; /* 0 is hiprio, request queues count from 1 */
	char name[VQS_QUEUE_NAME_LEN];
	uint32_t ring_size; /* descriptors */
	bool removed;       /* its device is gone */
	/* Conservation: submitted + complete_only =
	 * completed + in_flight + aborted + untracked_slot_taken + end_missed */
	uint64_t submitted, complete_only, completed, aborted;
	uint64_t untracked_slot_taken, end_missed;
	uint64_t in_flight;       /* followed requests that are on the ring now */
	uint64_t completing;      /* collected, not ended yet */
	uint64_t waiting_ring;    /* refused by a full ring, not yet on it */
	int64_t in_flight_kernel; /* virtio_fs_vq.in_flight; -1: unknown */
	uint64_t start_missed;    /* followed from submit only */
	uint64_t failed_before_ring;
	uint64_t background, bytes_in, bytes_out, ring_full;
	uint64_t kicks, interrupts, done_works;
	struct vqs_hist hop[VQS_HOPS];
	struct vqs_snap_op *ops; /* ascending opcode */
	size_t nr_ops;
	struct vqs_snap_errno *errors; /* ascending errno */
	size_t nr_errors;
	struct vqs_snap_cpu *cpus; /* ascending cpu, only those that submitted */
	size_t nr_cpus;
	struct vqs_snap_lock lock[VQS_QUEUE_LOCKS]; /* VQS_LOCK_VQ, VQS_LOCK_PQUEUE */
};

struct vqs_snap_device {
	uint32_t slot;
	char tag[VQS_TAG_LEN];
	uint32_t virtio_index;   /* N of virtioN */
	uint32_t request_queues; /* the device offers */
	uint32_t max_background;
	bool mounted;
	bool partial; /* queues were left out of this copy: sums over all of them are unknown */
	uint64_t failed_before_queue;
	/* CPU -> queue as the kernel says (mqs/Q/cpu_list); nr_map 0: this kernel does not say. */
	uint32_t *map;
	size_t nr_map;
	struct vqs_snap_queue *queues; /* ascending index, only those seen working */
	size_t nr_queues;
	struct vqs_snap_lock lock[VQS_DEVICE_LOCKS]; /* VQS_LOCK_IQUEUE, _BG, _CONN */
};

struct vqs_snap_prog {
	char name[64];                           /* probe, e.g. "virtqueue_add_sgs" */
	char rung[16];                           /* fentry, fexit, kprobe, kretprobe, tracepoint */
	uint64_t runs, run_ns, recursion_misses; /* runs and run_ns only with --self */
};

struct vqs_snap_stack {
	enum vqs_lock_kind kind;
	uint32_t device, queue; /* slots; queue is UINT32_MAX for a connection's lock */
	uint64_t waits, wait_ns;
	size_t depth;
	char (*frame)[64]; /* innermost first, "symbol+0xoff"; owned */
};

struct vqs_snap_self {
	uint64_t bpf_memory_bytes;
	struct vqs_snap_prog *progs;
	size_t nr_progs;
	bool timed; /* run_ns is being counted */
};

struct vqs_snapshot {
	uint64_t mono_ns;     /* CLOCK_MONOTONIC when taken */
	uint64_t real_ns;     /* CLOCK_REALTIME when taken */
	uint64_t interval_ns; /* 0: counts since attach; else what this interval added */
	char kernel[65];      /* uname -r */
	char lock_rung[32];   /* what sees contended waits: "fentry", ..., "none" */
	bool lock_complete;   /* and whether it sees all of them */
	uint64_t untracked_table_full, ops_full, trace_lost, index_full, lock_nested, recursion;
	uint64_t stack_failed; /* waits whose stack could not be taken */
	uint64_t wake_missed;  /* ends or wake-ups that were not seen: their hop is missing */
	struct vqs_snap_device *devices;
	size_t nr_devices;
	struct vqs_snap_stack *stacks; /* most wait first; only with --stacks */
	size_t nr_stacks;
	struct vqs_snap_self self;
};

struct vqs_snapshot *obs_snapshot_new(void);
void obs_snapshot_free(struct vqs_snapshot *s);
static inline void obs_snapshot_freep(struct vqs_snapshot **s)
{
	obs_snapshot_free(*s);
}
#define _cleanup_snapshot_ _cleanup_(obs_snapshot_freep)
/* Free what a part of a snapshot owns, not the part itself: for who takes it out. */
void obs_device_release(struct vqs_snap_device *d);
void obs_queue_release(struct vqs_snap_queue *q);
void obs_op_release(struct vqs_snap_op *op);

/* Most wait first, as they are in every snapshot. */
void obs_snapshot_sort_stacks(struct vqs_snapshot *s);

/*
 * What happened between @from and @to, as a new snapshot (NULL: -ENOMEM). Counters and histograms
 * are differences; levels (in_flight, completing, ...), names and maps are those of @to. An
 * interval's maximum is known to its bucket only, so wait.max and hop[].max become the highest
 * value of the highest bucket that grew, or the exact maximum when that one grew inside.
 */
struct vqs_snapshot *obs_snapshot_diff(const struct vqs_snapshot *from,
				       const struct vqs_snapshot *to);

/*
 * Imbalance of a queue's conservation equation, left side minus right side: 0 at quiet points. Of
 * cumulative snapshots only: in a difference in_flight is still a level. Under traffic counters and
 * slots are read microseconds apart, so it may be off by what completed between.
 */
int64_t obs_queue_imbalance(const struct vqs_snap_queue *q);

/* "virtio_fs_vq.lock" and so on; never NULL. */
const char *obs_lock_name(enum vqs_lock_kind kind);
/* The hops that make up a request's total, in order; a waiter's wake-up comes after it. */
#define OBS_HOPS_IN_LINE 4
extern const enum vqs_hop obs_hops_in_line[OBS_HOPS_IN_LINE];
/* "background", "input", "device", "irq", "complete", "wake", "total", "ring_full". */
const char *obs_hop_name(enum vqs_hop hop);
/* "LOOKUP", ...; "OTHER" for VQS_OP_OTHER and for opcodes that are unknown here. */
const char *obs_op_name(uint32_t opcode);
/* Opcode of a name (case-insensitive, with or without FUSE_) or a number; -EINVAL. */
int obs_op_parse(const char *text);

#endif
