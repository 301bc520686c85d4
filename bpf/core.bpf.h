/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every program needs: reading kernel memory on either rung, counting, histograms. */
#ifndef BPF_CORE_H
#define BPF_CORE_H

#include "guest.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <vqsteer/guest_abi.h>

/*
 * Bodies are inline functions that serve the fentry rung, where a typed pointer is read directly,
 * and the kprobe rung, where it takes a helper call. @direct is a constant at every call.
 */
#ifndef RD /* tests/bench has its own */
#define RD(direct, p, field) ((direct) ? (p)->field : BPF_CORE_READ(p, field))
#endif

#define INLINE static __always_inline

/*
 * A typed pointer as a plain number. The verifier forbids arithmetic on pointers into the kernel
 * (hashing them, say) but forgets that a register held one when it is negated, which programs
 * allowed to see addresses may do; twice gives the value back. Two instructions, where a helper
 * call that reads the pointer from the stack would cost ten times that.
 */
INLINE __u64 addr(const void *p)
{
	__u64 v = (__u64)p;

	asm volatile("%0 = -%0\n%0 = -%0" : "+r"(v));
	return v;
}

INLINE void count(__u64 *counter, __u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* For histograms that one CPU at a time writes: under the queue's or the watched lock itself. */
INLINE void hist_add_locked(struct vqs_hist *h, __u64 v)
{
	__u64 *word = (__u64 *)h;

	word[vqs_hist_bucket(v) & VQS_HIST_WORD_MASK]++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
}

/* A maximum lost to a race would be a wrong figure: retry, it is rare that v is a new one. */
INLINE void max_shared(__u64 *max, __u64 v)
{
	__u64 seen = *max;

	for (int i = 0; i < 4 && v > seen; i++) {
		__u64 old = __sync_val_compare_and_swap(max, seen, v);

		if (old == seen)
			break;
		seen = old;
	}
}

INLINE void hist_add_shared(struct vqs_hist *h, __u64 v)
{
	__u64 *word = (__u64 *)h;

	count(&word[vqs_hist_bucket(v) & VQS_HIST_WORD_MASK], 1);
	count(&h->sum, v);
	max_shared(&h->max, v);
}

/* later - earlier, or 0 when clocks of two CPUs or a missed hop turned them round. */
INLINE __u64 elapsed(__u64 earlier, __u64 later)
{
	return later > earlier ? later - earlier : 0;
}

#endif
