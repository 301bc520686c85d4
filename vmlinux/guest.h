/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the guest programs read, and of those only the members they read. Offsets
 * are relocated at load (CO-RE), so order and padding here mean nothing.
 *
 * A type whose members moved between kernel generations appears once per layout, under a flavour
 * suffix that libbpf strips (___fm, ___chan); the program asks bpf_core_field_exists() which one
 * the running kernel has. Each flavour cites the change it follows.
 */
#ifndef VMLINUX_GUEST_H
#define VMLINUX_GUEST_H

/* bpf_tracing.h: registers below carry the kernel's names, not those of user-space headers. */
#define __VMLINUX_H__

#include <stdbool.h>

/* Fixed-width names as include/linux/types.h has them; the header itself wants an architecture. */
typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#define NULL ((void *)0)

enum bpf_map_type_values {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_F_MMAPABLE = 1 << 10,
};

/* Registers of a kprobe's context, whole: their layout is the context's ABI, not relocated. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
};
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct virtio_device_id {
	__u32 device;
};

struct virtio_device {
	int index;
	struct virtio_device_id id;
	void *priv; /* struct virtio_fs, when id.device is VIRTIO_ID_FS */
};

struct virtqueue {
	struct virtio_device *vdev;
	unsigned int index;
};

/* num_max: since 6.0 ("virtio: record the maximum queue num supported by the device"); older
 * kernels have no equivalent in struct virtqueue. */
struct virtqueue___num_max {
	unsigned int num_max;
};

struct spinlock {
	int unused;
};

struct fuse_pqueue {
	struct spinlock lock;
};

struct fuse_dev {
	struct fuse_pqueue pq;
};

struct virtio_fs_vq {
	struct spinlock lock;
	struct virtqueue *vq;
	struct fuse_dev *fud;
	bool connected;
	long in_flight;
	char name[24];
};

struct virtio_fs {
	char *tag;
	struct virtio_fs_vq *vqs;
	unsigned int nvqs;
	unsigned int num_request_queues;
};

struct fuse_iqueue {
	struct spinlock lock;
	void *priv; /* struct virtio_fs; NULL for /dev/fuse */
};

struct fuse_in_header {
	__u32 len;
	__u32 opcode;
	__u64 unique;
	__u64 nodeid;
	__u32 pid;
};

struct fuse_out_header {
	__u32 len;
	__s32 error;
};

struct fuse_req {
	struct list_head list;
	unsigned long flags; /* bits are enum fuse_req_flag */
	struct {
		struct fuse_in_header h;
	} in;
	struct {
		struct fuse_out_header h;
	} out;
};

/* Up to 7.2 a request points to its mount, and the connection holds queues and counters. */
struct fuse_conn {
	struct spinlock lock;
	struct fuse_iqueue iq;
	unsigned int max_background;
	unsigned int active_background;
	struct list_head bg_queue;
	struct spinlock bg_lock;
};

struct fuse_mount {
	struct fuse_conn *fc;
};

struct fuse_req___fm {
	struct fuse_mount *fm;
};

/* From 7.3 transport state lives in struct fuse_chan, split out of struct fuse_conn, and requests
 * point to it (fs/fuse/fuse_dev_i.h); bg_lock, bg_queue, lock and iq moved along. */
struct fuse_chan {
	struct spinlock lock;
	struct fuse_iqueue iq;
	unsigned int max_background;
	unsigned int active_background;
	struct list_head bg_queue;
	struct spinlock bg_lock;
};

struct fuse_req___chan {
	struct fuse_chan *chan;
};

struct task_struct {
	unsigned int flags;
};

#pragma clang attribute pop

/* Bit numbers changed places over the years: always through bpf_core_enum_value(). */
enum fuse_req_flag {
	FR_BACKGROUND = 2,
};

#define VIRTIO_ID_FS 26         /* include/uapi/linux/virtio_ids.h */
#define PF_WQ_WORKER 0x00000020 /* include/linux/sched.h */
#define ENOMEM       12
#define ENOSPC       28

#endif
