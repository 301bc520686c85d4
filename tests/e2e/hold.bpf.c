// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Holds virtio_fs_vq.lock for a known time: virtqueue_add_sgs runs with it taken, so a program at
 * its entry that spins makes every other submitter of that queue wait. No module, any kernel.
 */
#include "guest.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

const volatile __u64 hold_ns;
const volatile __u32 device_index; /* N of virtioN */

__u64 holds, held_ns, longest_ns;

struct spin {
	__u64 start_ns;
	__u64 now_ns;
};

static long spin_once(__u32 i, struct spin *s)
{
	s->now_ns = bpf_ktime_get_ns();
	return s->now_ns - s->start_ns >= hold_ns;
}

SEC("fentry/virtqueue_add_sgs")
int BPF_PROG(hold, struct virtqueue *vq)
{
	struct virtio_device *vdev = vq->vdev;
	struct spin s = {};
	__u64 held;

	if (vdev->id.device != VIRTIO_ID_FS || (__u32)vdev->index != device_index)
		return 0;
	s.start_ns = bpf_ktime_get_ns();
	bpf_loop(1 << 22, spin_once, &s, 0);
	held = s.now_ns - s.start_ns;
	__sync_fetch_and_add(&holds, 1);
	__sync_fetch_and_add(&held_ns, held);
	if (held > longest_ns)
		longest_ns = held;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
