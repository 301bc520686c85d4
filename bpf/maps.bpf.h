/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of the guest programs (layouts: include/vqsteer/guest_abi.h). Sizes of 1 are set by
 * the loader from the devices and CPUs it finds.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "core.bpf.h"

const volatile struct vqs_config cfg;
struct vqs_globals globals;

#define SHARED_ARRAY(name, value_type)             \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, __u32);                \
		__type(value, value_type);         \
	} name SEC(".maps")

SHARED_ARRAY(queues, struct vqs_queue);       /* [max_queues] */
SHARED_ARRAY(devices, struct vqs_device);     /* [max_devices] */
SHARED_ARRAY(hists, struct vqs_hist);         /* [max_queues * VQS_HOPS] */
SHARED_ARRAY(op_index, __u64);                /* [max_queues * VQS_OPS]: slot in op_totals + 1 */
SHARED_ARRAY(op_totals, struct vqs_hist);     /* [max_ops] */
SHARED_ARRAY(op_hops, struct vqs_hist);       /* [VQS_OPS * VQS_HOPS] when a queue is selected */
SHARED_ARRAY(errors, __u64);                  /* [max_queues * VQS_ERRNOS] */
SHARED_ARRAY(cpu_queue, __u64);               /* [max_queues * cpus] */
SHARED_ARRAY(locks, struct vqs_lock);         /* [max_queues * 2 + max_devices * 3] */
SHARED_ARRAY(slot_sets, struct vqs_slot_set); /* [1 << (32 - slot_set_shift)] */
SHARED_ARRAY(vq_index, struct vqs_index);     /* [1 << (32 - index_shift)] */
SHARED_ARRAY(lock_index, struct vqs_index);   /* [1 << (32 - index_shift)] */
SHARED_ARRAY(stack_stats, struct vqs_stack_stat); /* [max_stacks] */

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, VQS_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

/* A wait for a watched lock in progress on this CPU: spinning disables preemption, so one. */
struct lock_wait {
	__u64 addr; /* 0: none */
	__u64 start_ns;
	__u32 lock;
	__s32 stack;
	__u64 nested; /* kretprobe rung: waits for other locks that an interrupt began since */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_wait);
} lock_waits SEC(".maps");

/* Entry arguments for the kretprobe rung, of functions that run under a spinlock. */
struct entry_args {
	__u64 vq, buf; /* vq 0: none of ours in progress */
	__u64 nested;  /* calls for other devices that an interrupt made since */
};

enum { ENTRY_ADD_SGS, ENTRY_GET_BUF, ENTRY_KINDS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ENTRY_KINDS);
	__type(key, __u32);
	__type(value, struct entry_args);
} entry_percpu SEC(".maps");

/* One ring buffer per CPU: producers that share one serialise on its lock. */
struct trace_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct trace_ring);
} trace_rings SEC(".maps");

#endif
