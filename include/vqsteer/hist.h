/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The histogram of every latency in vqsteer: log-linear, eight buckets to the octave, over all
 * of u64. BPF programs write it, user space reads and merges it (by addition), and both sides
 * compile this one file, so that a bucket means the same everywhere.
 *
 * Values below 16 have a bucket of their own. Above, a bucket spans 1/8 of its lower bound, so
 * the midpoint that a percentile reports is at most 1/16 away from any value inside.
 */
#ifndef VQSTEER_HIST_H
#define VQSTEER_HIST_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define VQS_HIST_SUB_BITS  3
#define VQS_HIST_SUB       (1 << VQS_HIST_SUB_BITS)
/* Highest value: exponent 63, i.e. group 60, sub-bucket 7 of the upper half: 60 * 8 + 15. */
#define VQS_HIST_BUCKETS   496
/* A histogram is one page of 512 words; BPF masks its index with this to please 6.1's verifier. */
#define VQS_HIST_WORD_MASK 511

struct vqs_hist {
	__u64 bucket[VQS_HIST_BUCKETS];
	__u64 sum; /* of the values, in the histogram's unit (ns unless stated) */
	__u64 max; /* largest value seen since it was created, exact */
	__u64 reserved[14];
};

_Static_assert(sizeof(struct vqs_hist) == 4096, "a histogram is one page");

/* floor(log2(v)) for v > 0. BPF has no clz instruction; clang would call a library function. */
static inline __attribute__((always_inline)) __u32 vqs_hist_log2(__u64 v)
{
	__u32 r, shift;

	r = (v > 0xffffffffULL) << 5;
	v >>= r;
	shift = (v > 0xffff) << 4;
	v >>= shift;
	r |= shift;
	shift = (v > 0xff) << 3;
	v >>= shift;
	r |= shift;
	shift = (v > 0xf) << 2;
	v >>= shift;
	r |= shift;
	shift = (v > 0x3) << 1;
	v >>= shift;
	r |= shift;
	return r | (__u32)(v >> 1);
}

/* Bucket of @v, 0 .. VQS_HIST_BUCKETS - 1; monotonic in @v. */
static inline __attribute__((always_inline)) __u32 vqs_hist_bucket(__u64 v)
{
	__u32 shift;

	if (v < 2 * VQS_HIST_SUB)
		return (__u32)v;
	shift = vqs_hist_log2(v) - VQS_HIST_SUB_BITS;
	return (shift << VQS_HIST_SUB_BITS) + (__u32)(v >> shift);
}

/* Lowest value of bucket @i. */
static inline __u64 vqs_hist_low(__u32 i)
{
	__u32 shift;

	if (i < 2 * VQS_HIST_SUB)
		return i;
	shift = (i >> VQS_HIST_SUB_BITS) - 1;
	return (__u64)(VQS_HIST_SUB + (i & (VQS_HIST_SUB - 1))) << shift;
}

/* Highest value of bucket @i. */
static inline __u64 vqs_hist_high(__u32 i)
{
	if (i < 2 * VQS_HIST_SUB)
		return i;
	return vqs_hist_low(i) + ((1ULL << ((i >> VQS_HIST_SUB_BITS) - 1)) - 1);
}

#endif
