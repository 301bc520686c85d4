// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bodies of the guest programs under SEC("socket"), which BPF_PROG_RUN repeats and times
 * natively on any machine, with or without virtio-fs. A read of a kernel structure becomes a read
 * of one plain word, which costs what a direct read of a cached line costs; relocations that pick
 * a layout become constants. What this leaves out is the trampoline (docs/performance.md).
 */
#include "guest.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* Serves every field: VIRTIO_ID_FS, an opcode, a length, flags without FR_BACKGROUND, no error. */
__u64 fake_word = VIRTIO_ID_FS;

static __always_inline __u64 fake_probe_read(void)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), &fake_word);
	return v;
}

#define RD(direct, p, field) (*(volatile typeof((p)->field) *)&fake_word)
#undef BPF_CORE_READ
#define BPF_CORE_READ(...) fake_probe_read()
#undef BPF_CORE_READ_STR_INTO
#define BPF_CORE_READ_STR_INTO(...)
#undef bpf_core_field_exists
#define bpf_core_field_exists(...) 0
#undef bpf_core_field_offset
#define bpf_core_field_offset(...) 64
#undef bpf_core_enum_value
#define bpf_core_enum_value(...) 2
#undef bpf_core_type_size
#define bpf_core_type_size(...) 256

#include "ends.bpf.h"
#include "locks.bpf.h"
#include "queues.bpf.h"

#define VQ        ((struct virtqueue *)0xffff888000001000ULL)
#define VQ_ADDR   0xffff888000001000ULL
#define LOCK_ADDR 0xffff888000002000ULL
#define REQ_BASE  0xffff888100000000ULL
#define REQ_SIZE  320 /* a struct fuse_req with its slab's alignment */

__u32 turn;

/* 256 requests in flight in turn: their slots do not all stay in the first-level cache. */
static __always_inline __u64 next_req(void)
{
	return REQ_BASE + (__u64)(turn++ & 255) * REQ_SIZE;
}

SEC("socket")
int setup(void *ctx)
{
	__u32 zero = 0;
	struct vqs_queue *q = bpf_map_lookup_elem(&queues, &zero);
	struct vqs_lock *l = bpf_map_lookup_elem(&locks, &zero);

	if (!q || !l)
		return 0;
	q->vq = VQ_ADDR;
	q->index = 1;
	q->state = VQS_QUEUE_LIVE;
	l->addr = LOCK_ADDR;
	index_insert(&vq_index, VQ_ADDR, 0);
	index_insert(&lock_index, LOCK_ADDR, 0);
	return 1;
}

SEC("socket")
int empty(void *ctx)
{
	return next_req() & 1;
}

#define LIFE(name, steps)               \
	SEC("socket")                   \
	int name(void *ctx)             \
	{                               \
		__u64 req = next_req(); \
		steps;                  \
		return 0;               \
	}

#define START   on_start((struct fuse_req *)req, true)
#define SUBMIT  on_submit(VQ, req, 0, true)
#define COLLECT on_collect(VQ, req, true)
#define END     on_end((struct fuse_req *)req, true)
#define WAKE    on_wake(req)

LIFE(life_1_start, START)
LIFE(life_2_submit, START; SUBMIT)
LIFE(life_3_collect, START; SUBMIT; COLLECT)
LIFE(life_4_end, START; SUBMIT; COLLECT; END)
LIFE(life_5_wake, START; SUBMIT; COLLECT; END; WAKE)
LIFE(kick, on_kick(VQ, true))
LIFE(interrupt_done_work, on_interrupt(VQ_ADDR); on_collect(VQ, 0, true))
LIFE(lock_watched, on_lock_contended(ctx, LOCK_ADDR, true); on_lock_acquired(LOCK_ADDR))
LIFE(lock_foreign, on_lock_contended(ctx, LOCK_ADDR + 64, true); on_lock_acquired(LOCK_ADDR + 64))
LIFE(other_fuse_mount, on_end((struct fuse_req *)(req + 1), true))

char LICENSE[] SEC("license") = "Dual BSD/GPL";
