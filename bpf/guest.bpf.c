// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The guest side: where each program is attached. Every probe has a program on the fentry/fexit
 * rung and one on the kprobe/kretprobe rung, some one on a tracepoint; userspace/observe/probes.c
 * has the table and attaches exactly one of each. What they do is in the headers, one per thing
 * observed.
 */
#include "ends.bpf.h"
#include "locks.bpf.h"
#include "queues.bpf.h"

/* --- a request's life --- */

SEC("fentry/fuse_args_to_req")
int BPF_PROG(fentry_args_to_req, struct fuse_req *req)
{
	return on_start(req, true);
}

SEC("kprobe/fuse_args_to_req")
int BPF_KPROBE(kprobe_args_to_req, struct fuse_req *req)
{
	return on_start(req, false);
}

SEC("fentry/flush_bg_queue")
int BPF_PROG(fentry_flush_bg, void *conn)
{
	return on_flush_bg(conn, true);
}

SEC("kprobe/flush_bg_queue")
int BPF_KPROBE(kprobe_flush_bg, void *conn)
{
	return on_flush_bg(conn, false);
}

SEC("fexit/virtqueue_add_sgs")
int BPF_PROG(fexit_add_sgs, struct virtqueue *vq, void *sgs, unsigned int out, unsigned int in,
	     void *req, unsigned int gfp, int ret)
{
	return on_submit(vq, addr(req), ret, true);
}

/*
 * A virtqueue that is not virtio-fs's may be used from an interrupt inside: its return must not be
 * taken for ours. A return that the kernel missed is forgotten at the next entry.
 */
INLINE int save_entry(__u32 kind, struct virtqueue *vq, __u64 buf)
{
	struct entry_args *e = bpf_map_lookup_elem(&entry_percpu, &kind);

	if (!e)
		return 0;
	if (!is_virtio_fs(vq, false)) {
		e->nested += e->vq != 0;
		return 0;
	}
	e->vq = addr(vq);
	e->buf = buf;
	e->nested = 0;
	return 0;
}

/* The arguments of the call that returns now, NULL when it was not ours. */
INLINE struct entry_args *take_entry(__u32 kind)
{
	struct entry_args *e = bpf_map_lookup_elem(&entry_percpu, &kind);

	if (!e || !e->vq)
		return NULL;
	if (e->nested) {
		e->nested--;
		return NULL;
	}
	return e;
}

SEC("kprobe/virtqueue_add_sgs")
int BPF_KPROBE(kprobe_add_sgs, struct virtqueue *vq, void *sgs, unsigned int out, unsigned int in,
	       void *req)
{
	return save_entry(ENTRY_ADD_SGS, vq, addr(req));
}

SEC("kretprobe/virtqueue_add_sgs")
int BPF_KRETPROBE(kret_add_sgs, int ret)
{
	struct entry_args *e = take_entry(ENTRY_ADD_SGS);
	struct virtqueue *vq;

	if (!e)
		return 0;
	vq = (struct virtqueue *)e->vq;
	e->vq = 0;
	return on_submit(vq, e->buf, ret, false);
}

SEC("fexit/virtqueue_get_buf")
int BPF_PROG(fexit_get_buf, struct virtqueue *vq, unsigned int *len, void *buf)
{
	return on_collect(vq, addr(buf), true);
}

SEC("kprobe/virtqueue_get_buf")
int BPF_KPROBE(kprobe_get_buf, struct virtqueue *vq)
{
	return save_entry(ENTRY_GET_BUF, vq, 0);
}

SEC("kretprobe/virtqueue_get_buf")
int BPF_KRETPROBE(kret_get_buf, void *buf)
{
	struct entry_args *e = take_entry(ENTRY_GET_BUF);
	struct virtqueue *vq;

	if (!e)
		return 0;
	vq = (struct virtqueue *)e->vq;
	e->vq = 0;
	return on_collect(vq, addr(buf), false);
}

SEC("fentry/fuse_request_end")
int BPF_PROG(fentry_end, struct fuse_req *req)
{
	return on_end(req, true);
}

SEC("kprobe/fuse_request_end")
int BPF_KPROBE(kprobe_end, struct fuse_req *req)
{
	return on_end(req, false);
}

/* fuse_request_end the tracepoint, since 6.12 (upstream 396b209e405a "fuse: add simple request
 * tracepoints"), fires in fuse_request_end once the request is marked finished, so its waiter may
 * already be on its way. */
SEC("raw_tp/fuse_request_end")
int BPF_PROG(tp_end, struct fuse_req *req)
{
	return on_end(req, false);
}

SEC("fexit/request_wait_answer")
int BPF_PROG(fexit_wait_answer, struct fuse_req *req)
{
	return on_wake(addr(req));
}

/* A kretprobe there would need one instance per waiter, of which the kernel has twice as many as
 * CPUs. So it is the waiter's giving back of the request, its next step. */
SEC("kprobe/fuse_put_request")
int BPF_KPROBE(kprobe_put_request, struct fuse_req *req)
{
	return on_put(addr(req));
}

/* --- once per kick, interrupt, forget --- */

SEC("fentry/virtqueue_notify")
int BPF_PROG(fentry_notify, struct virtqueue *vq)
{
	return on_kick(vq, true);
}

SEC("kprobe/virtqueue_notify")
int BPF_KPROBE(kprobe_notify, struct virtqueue *vq)
{
	return on_kick(vq, false);
}

SEC("fentry/virtio_fs_vq_done")
int BPF_PROG(fentry_vq_done, struct virtqueue *vq)
{
	return on_interrupt(addr(vq));
}

SEC("kprobe/virtio_fs_vq_done")
int BPF_KPROBE(kprobe_vq_done, struct virtqueue *vq)
{
	return on_interrupt(addr(vq));
}

SEC("fentry/send_forget_request")
int BPF_PROG(fentry_forget, struct virtio_fs_vq *fsvq)
{
	queue_of_forget(fsvq, true);
	return 0;
}

SEC("fexit/send_forget_request")
int BPF_PROG(fexit_forget, struct virtio_fs_vq *fsvq, void *forget, bool in_flight, int ret)
{
	return on_forget(fsvq, ret, true);
}

/* At entry the outcome is unknown: a forget refused by a full ring counts as sent, once, here. */
SEC("kprobe/send_forget_request")
int BPF_KPROBE(kprobe_forget, struct virtio_fs_vq *fsvq, void *forget, bool in_flight)
{
	queue_of_forget(fsvq, false);
	return in_flight ? 0 : on_forget(fsvq, 0, false);
}

/* --- locks --- */

#define LOCK_PROGS(name, function)                                \
	SEC("fentry/" #function)                                  \
	int BPF_PROG(fentry_##name, void *lock)                   \
	{                                                         \
		return on_lock_contended(ctx, addr(lock), true);  \
	}                                                         \
	SEC("fexit/" #function)                                   \
	int BPF_PROG(fexit_##name, void *lock)                    \
	{                                                         \
		return on_lock_acquired(addr(lock));              \
	}                                                         \
	SEC("kprobe/" #function)                                  \
	int BPF_KPROBE(kprobe_##name, void *lock)                 \
	{                                                         \
		return on_lock_contended(ctx, addr(lock), false); \
	}                                                         \
	SEC("kretprobe/" #function)                               \
	int BPF_KRETPROBE(kret_##name)                            \
	{                                                         \
		return on_lock_acquired(0);                       \
	}

/* Which one spins depends on the kernel: the native one (also test-and-set under a hypervisor
 * without paravirtual spinlocks), the paravirtual one, or the only one there is (arm64). */
LOCK_PROGS(lock_native, native_queued_spin_lock_slowpath)
LOCK_PROGS(lock_pv, __pv_queued_spin_lock_slowpath)
LOCK_PROGS(lock_queued, queued_spin_lock_slowpath)

/* Sees queued waiters only: neither test-and-set nor the pending bit has a tracepoint. */
SEC("raw_tp/contention_begin")
int BPF_PROG(tp_contention_begin, void *lock, unsigned int flags)
{
	return on_lock_contended(ctx, addr(lock), true);
}

SEC("raw_tp/contention_end")
int BPF_PROG(tp_contention_end, void *lock, int ret)
{
	return on_lock_acquired(addr(lock));
}

/* --- connections and devices that go away --- */

SEC("fentry/virtio_fs_fiq_release")
int BPF_PROG(fentry_fiq_release, struct fuse_iqueue *fiq)
{
	return forget_connection(addr(fiq->priv));
}

SEC("kprobe/virtio_fs_fiq_release")
int BPF_KPROBE(kprobe_fiq_release, struct fuse_iqueue *fiq)
{
	return forget_connection(addr(BPF_CORE_READ(fiq, priv)));
}

SEC("fentry/virtio_fs_remove")
int BPF_PROG(fentry_remove, struct virtio_device *vdev)
{
	return mark_removed(addr(vdev->priv));
}

SEC("fexit/virtio_fs_remove")
int BPF_PROG(fexit_remove, struct virtio_device *vdev)
{
	return forget_removed();
}

SEC("kprobe/virtio_fs_remove")
int BPF_KPROBE(kprobe_remove, struct virtio_device *vdev)
{
	return mark_removed(addr(BPF_CORE_READ(vdev, priv)));
}

SEC("kretprobe/virtio_fs_remove")
int BPF_KRETPROBE(kret_remove)
{
	return forget_removed();
}

/* fuse_dev_free until 6.x, fuse_dev_put (reference counted) since 7.x; either may be the last use
 * of a virtio-fs queue's struct fuse_dev, and for any other the address is not in the index. */
SEC("fentry/fuse_dev_free")
int BPF_PROG(fentry_dev_free, void *fud)
{
	return forget_fud(addr(fud));
}

SEC("kprobe/fuse_dev_free")
int BPF_KPROBE(kprobe_dev_free, void *fud)
{
	return forget_fud(addr(fud));
}

SEC("fentry/fuse_dev_put")
int BPF_PROG(fentry_dev_put, void *fud)
{
	return forget_fud(addr(fud));
}

SEC("kprobe/fuse_dev_put")
int BPF_KPROBE(kprobe_dev_put, void *fud)
{
	return forget_fud(addr(fud));
}

/* --- asked by the loader before each snapshot --- */

static long read_in_flight(__u32 slot, void *unused)
{
	struct vqs_queue *q = bpf_map_lookup_elem(&queues, &slot);
	long n;

	if (!q)
		return 1;
	if (q->vq && q->fsvq && q->state != VQS_QUEUE_REMOVED &&
	    !bpf_probe_read_kernel(&n, sizeof(n), &((struct virtio_fs_vq *)q->fsvq)->in_flight))
		q->in_flight_kernel = n;
	return 0;
}

/* Set by the reply to INIT, and by whoever writes to fusectl: read when asked, not once. */
static long read_max_background(__u32 slot, void *unused)
{
	struct vqs_device *dev = bpf_map_lookup_elem(&devices, &slot);
	__u64 base;

	if (!dev)
		return 1;
	if (!dev->conn)
		return 0;
	if (bpf_core_field_exists(struct fuse_req___chan, chan)) {
		base = dev->conn - bpf_core_field_offset(struct fuse_chan, iq);
		dev->max_background = BPF_CORE_READ((struct fuse_chan *)base, max_background);
	} else {
		base = dev->conn - bpf_core_field_offset(struct fuse_conn, iq);
		dev->max_background = BPF_CORE_READ((struct fuse_conn *)base, max_background);
	}
	return 0;
}

SEC("syscall")
int snapshot_levels(void *ctx)
{
	bpf_loop(cfg.max_queues, read_in_flight, NULL, 0);
	bpf_loop(cfg.max_devices, read_max_background, NULL, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
