/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Learning queues, devices and the addresses of their locks at first sight, and forgetting them
 * when their memory is freed. All of this is the slow path: once per queue and mount.
 */
#ifndef BPF_REGISTER_H
#define BPF_REGISTER_H

#include "tables.bpf.h"

#define NO_SLOT 0xffffffffu

/* Address of a member, relocated, of a structure that is not read. */
#define ADDR_OF(type, base, field) ((base) + bpf_core_field_offset(type, field))

INLINE __u32 queue_lock_slot(__u32 queue, enum vqs_lock_kind kind)
{
	return queue * VQS_QUEUE_LOCKS + kind;
}

INLINE __u32 device_lock_slot(__u32 device, enum vqs_lock_kind kind)
{
	return cfg.max_queues * VQS_QUEUE_LOCKS + device * VQS_DEVICE_LOCKS + kind -
	       VQS_QUEUE_LOCKS;
}

INLINE void lock_forget(__u32 slot)
{
	struct vqs_lock *l = bpf_map_lookup_elem(&locks, &slot);

	if (!l || !l->addr)
		return;
	index_remove(&lock_index, l->addr);
	l->addr = 0;
}

static __noinline int lock_learn(__u32 slot, __u64 addr)
{
	struct vqs_lock *l;

	if (!cfg.locks)
		return 0;
	l = bpf_map_lookup_elem(&locks, &slot);
	if (!l || l->addr == addr)
		return 0;
	lock_forget(slot);
	l->addr = addr;
	index_insert(&lock_index, addr, slot);
	return 0;
}

/* Locks of the connection that @req belongs to; returns its iqueue's address. */
static __noinline __u64 learn_connection(__u64 req, struct vqs_device *dev, __u32 slot)
{
	__u64 iq = 0;

	if (bpf_core_field_exists(struct fuse_req___chan, chan)) {
		__u64 chan = (__u64)BPF_CORE_READ((struct fuse_req___chan *)req, chan);

		iq = ADDR_OF(struct fuse_chan, chan, iq);
		lock_learn(device_lock_slot(slot, VQS_LOCK_BG),
			   ADDR_OF(struct fuse_chan, chan, bg_lock));
		lock_learn(device_lock_slot(slot, VQS_LOCK_CONN),
			   ADDR_OF(struct fuse_chan, chan, lock));
	} else {
		__u64 fc = (__u64)BPF_CORE_READ((struct fuse_req___fm *)req, fm, fc);

		iq = ADDR_OF(struct fuse_conn, fc, iq);
		lock_learn(device_lock_slot(slot, VQS_LOCK_BG),
			   ADDR_OF(struct fuse_conn, fc, bg_lock));
		lock_learn(device_lock_slot(slot, VQS_LOCK_CONN),
			   ADDR_OF(struct fuse_conn, fc, lock));
	}
	lock_learn(device_lock_slot(slot, VQS_LOCK_IQUEUE), ADDR_OF(struct fuse_iqueue, iq, lock));
	dev->conn = iq;
	return iq;
}

/* Slot of the device with this struct virtio_fs, NO_SLOT when there is no room. */
static __noinline __u32 learn_device(__u64 fs_addr, int virtio_index)
{
	struct virtio_fs *fs = (struct virtio_fs *)fs_addr;
	struct vqs_device *dev;
	__u32 slot, own;

	if (index_find(&vq_index, fs_addr, &slot))
		return slot;
	if (globals.devices_used >= cfg.max_devices)
		return NO_SLOT;
	slot = own = __sync_fetch_and_add(&globals.devices_used, 1);
	dev = bpf_map_lookup_elem(&devices, &slot);
	if (!dev)
		return NO_SLOT;
	dev->nvqs = BPF_CORE_READ(fs, nvqs);
	dev->request_queues = BPF_CORE_READ(fs, num_request_queues);
	dev->virtio_index = virtio_index;
	bpf_probe_read_kernel_str(dev->tag, sizeof(dev->tag), BPF_CORE_READ(fs, tag));
	if (!index_insert(&vq_index, fs_addr, slot) || !index_find(&vq_index, fs_addr, &slot))
		return NO_SLOT;
	/* Two CPUs on different queues may learn the same device: the loser's slot stays unused. */
	if (slot == own)
		dev->fs = fs_addr;
	return slot;
}

/* FORGETs are counted, not followed: those on the ring before are what their kernel count says. */
INLINE void learn_forgets_in_flight(struct vqs_queue *q, struct virtio_fs_vq *fsvq)
{
	if (!q->index)
		q->complete_only = BPF_CORE_READ(fsvq, in_flight);
}

static __noinline int learn_queue_names(struct vqs_queue *q, __u64 vq_addr, __u64 fsvq_addr)
{
	struct virtqueue___num_max *vq = (struct virtqueue___num_max *)vq_addr;
	struct virtio_fs_vq *fsvq = (struct virtio_fs_vq *)fsvq_addr;

	q->fsvq = fsvq_addr;
	q->index = BPF_CORE_READ((struct virtqueue *)vq_addr, index);
	if (bpf_core_field_exists(vq->num_max))
		q->ring_size = BPF_CORE_READ(vq, num_max);
	BPF_CORE_READ_STR_INTO(&q->name, fsvq, name);
	return 0;
}

/*
 * Learns the virtqueue @vq_addr, or its locks anew after a mount. @req is a request of its
 * connection, 0 for hiprio. Runs under the queue's lock but for FORGETs; when two CPUs learn hiprio
 * at once, one of their slots stays unused.
 */
static __noinline __u32 learn_queue(__u64 vq_addr, __u64 req)
{
	struct virtqueue *vq = (struct virtqueue *)vq_addr;
	struct virtio_device *vdev = BPF_CORE_READ(vq, vdev);
	__u64 fs = (__u64)BPF_CORE_READ(vdev, priv);
	__u32 index = BPF_CORE_READ(vq, index), slot, dev_slot;
	__u64 fsvq, fud;
	struct vqs_device *dev;
	struct vqs_queue *q;

	dev_slot = learn_device(fs, BPF_CORE_READ(vdev, index));
	dev = bpf_map_lookup_elem(&devices, &dev_slot);
	if (!dev)
		return NO_SLOT;
	if (!index_find(&vq_index, vq_addr, &slot)) {
		if (globals.queues_used >= cfg.max_queues)
			return NO_SLOT;
		slot = __sync_fetch_and_add(&globals.queues_used, 1);
		if (slot >= cfg.max_queues || !index_insert(&vq_index, vq_addr, slot) ||
		    !index_find(&vq_index, vq_addr, &slot))
			return NO_SLOT;
	}
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q)
		return NO_SLOT;
	fsvq = (__u64)BPF_CORE_READ((struct virtio_fs *)fs, vqs) +
	       (__u64)index * bpf_core_type_size(struct virtio_fs_vq);
	if (!q->vq) {
		learn_queue_names(q, vq_addr, fsvq);
		learn_forgets_in_flight(q, (struct virtio_fs_vq *)fsvq);
	}
	q->vq = vq_addr;
	q->device = dev_slot;
	fud = (__u64)BPF_CORE_READ((struct virtio_fs_vq *)fsvq, fud);
	lock_learn(queue_lock_slot(slot, VQS_LOCK_VQ), ADDR_OF(struct virtio_fs_vq, fsvq, lock));
	if (fud)
		lock_learn(queue_lock_slot(slot, VQS_LOCK_PQUEUE),
			   ADDR_OF(struct fuse_dev, fud, pq) +
				   bpf_core_field_offset(struct fuse_pqueue, lock));
	if (req)
		learn_connection(req, dev, dev_slot);
	/* Without a fud (never seen with a request on its way) look again at the next one. */
	q->state = fud ? VQS_QUEUE_LIVE : VQS_QUEUE_STALE;
	return slot;
}

/* --- forgetting --- */

INLINE struct vqs_device *known_device(__u64 fs, __u32 *slot)
{
	if (!index_find(&vq_index, fs, slot))
		return NULL;
	return bpf_map_lookup_elem(&devices, slot);
}

static long forget_fud_of(__u32 slot, __u32 *device)
{
	struct vqs_queue *q = bpf_map_lookup_elem(&queues, &slot);

	if (!q)
		return 1;
	if (!q->vq || q->device != *device)
		return 0;
	lock_forget(queue_lock_slot(slot, VQS_LOCK_PQUEUE));
	if (q->state == VQS_QUEUE_LIVE)
		q->state = VQS_QUEUE_STALE;
	return 0;
}

/* The connection of device @fs is being released, and with it its locks and every queue's fud. */
static __noinline int forget_connection(__u64 fs)
{
	__u32 slot;
	struct vqs_device *dev = known_device(fs, &slot);

	if (!dev)
		return 0;
	bpf_loop(cfg.max_queues, forget_fud_of, &slot, 0);
	lock_forget(device_lock_slot(slot, VQS_LOCK_IQUEUE));
	lock_forget(device_lock_slot(slot, VQS_LOCK_BG));
	lock_forget(device_lock_slot(slot, VQS_LOCK_CONN));
	dev->conn = 0;
	if (dev->removed)
		index_remove(&vq_index, fs);
	return 0;
}

/*
 * virtio_fs_remove begins: the device @fs will have drained its queues and freed them when it
 * returns. A mount of it lives on, its requests fail before any ring, so the device itself stays
 * known until its connection is released too.
 */
static __noinline int mark_removed(__u64 fs)
{
	__u32 slot;
	struct vqs_device *dev = known_device(fs, &slot);

	if (dev)
		dev->removed = 1;
	return 0;
}

static long forget_if_removed(__u32 slot, void *unused)
{
	struct vqs_queue *q = bpf_map_lookup_elem(&queues, &slot);
	struct vqs_device *dev;
	__u32 device;

	if (!q)
		return 1;
	device = q->device;
	dev = bpf_map_lookup_elem(&devices, &device);
	if (!q->vq || q->state == VQS_QUEUE_REMOVED || !dev || !dev->removed)
		return 0;
	lock_forget(queue_lock_slot(slot, VQS_LOCK_VQ));
	index_remove(&vq_index, q->vq);
	q->state = VQS_QUEUE_REMOVED;
	q->fsvq = 0;
	if (!dev->conn)
		index_remove(&vq_index, dev->fs);
	return 0;
}

/* virtio_fs_remove returned: queues of devices marked before are freed now. */
static __noinline int forget_removed(void)
{
	bpf_loop(cfg.max_queues, forget_if_removed, NULL, 0);
	return 0;
}

/* A struct fuse_dev is being freed: its pqueue.lock's memory will be used again. */
INLINE int forget_fud(__u64 fud)
{
	__u32 slot;
	__u64 addr =
		ADDR_OF(struct fuse_dev, fud, pq) + bpf_core_field_offset(struct fuse_pqueue, lock);

	if (index_find(&lock_index, addr, &slot))
		lock_forget(slot);
	return 0;
}

#endif
