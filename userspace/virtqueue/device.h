/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device's side of a split virtqueue: takes chains off the available ring, puts heads onto the
 * used ring. Nothing of what the driver wrote is trusted: descriptors are copied once and checked
 * on the copy; a breach of the rules is a fault, which breaks the ring until it is started again.
 *
 * A ring has three parts. What is fixed while it runs (struct vq_device itself); the pop side
 * (struct vq_pop), which one thread at a time owns; the used side (struct vq_push), which threads
 * share under a lock of theirs. The sides are in cache lines of their own, write different words
 * of guest memory, and are plain fields without pointers to a thread: a queue changes its owner by
 * the new one using it after the old one stopped (with a lock or another release/acquire between).
 *
 * Loop of an owner, without a wake-up lost:
 *
 *	for (;;) {
 *		vq_device_disable_kicks(d);
 *		while (vq_device_pop(d, &chain) > 0)
 *			...
 *		if (!vq_device_enable_kicks(d))
 *			wait for the kick, and read it
 *	}
 */
#ifndef VIRTQUEUE_DEVICE_H
#define VIRTQUEUE_DEVICE_H

#include "virtqueue/memory.h"
#include "virtqueue/ring.h"

/*
 * Buffers in one chain at most, or the queue size where that is more. 2.7.5.3.1 forbids drivers
 * chains longer than the queue size, but Linux has sent longer ones through indirect tables on
 * small queues, and QEMU takes up to 1024.
 */
#define VQ_CHAIN_MAX 1024u

/* Of 64 bytes on x86 and most arm64; pairs are prefetched together, hence two. */
#define VQ_CACHE_LINE 128

/* One request as the driver described it. The caller gives the iovecs and may use it again. */
struct vq_chain {
	/* In: where buffers are put. One more than VQ_CHAIN_MAX (or the queue size) per region
	 * border that a buffer might cross; VQ_CHAIN_MAX + VQ_MEM_REGIONS is ample. */
	struct iovec *iov;
	uint32_t max_iov;
	/* Out: iov[0 .. nr_read) can be read, iov[nr_read .. nr_read + nr_write) written. */
	uint32_t nr_read, nr_write;
	uint32_t read_bytes, write_bytes;
	uint32_t descs; /* buffers: descriptors, less the one that named an indirect table */
	uint16_t head;  /* what to push when done */
	bool indirect;
};

/* The pop side. */
struct vq_pop {
	uint16_t last_avail; /* next entry of the available ring to take */
	uint16_t seen_avail; /* avail idx as it was read last */
	uint8_t fault;       /* enum vq_fault; once set, pop refuses */
	bool kicks_off;      /* kicks were disabled and not enabled since */
	uint32_t hint;       /* vq_mem_translate()'s */
	uint64_t popped;     /* chains, since the start */
};

/* The used side. */
struct vq_push {
	uint16_t used;      /* entries written to the used ring */
	uint16_t published; /* of these, how many the driver can see: used idx */
	uint16_t signalled; /* published as of the last decision to call or not */
	bool signalled_valid;
	uint64_t pushed; /* since the start */
};

struct vq_device {
	struct vq_ring ring;
	const struct vq_mem *mem; /* not owned */
	bool event_idx, indirect;
	_Alignas(VQ_CACHE_LINE) struct vq_pop pop;
	_Alignas(VQ_CACHE_LINE) struct vq_push push;
};

/*
 * Starts a ring: @r as this process has it mapped, @features the negotiated ones
 * (VIRTIO_RING_F_EVENT_IDX and _INDIRECT_DESC count), @base the next available entry to take, as
 * VHOST_USER_SET_VRING_BASE said. The used index goes on from where guest memory has it. Kicks are
 * wanted after this, and the first push calls whatever used_event says, for nobody knows what was
 * signalled before. 0, or -EINVAL as vq_ring_check().
 */
int vq_device_start(struct vq_device *d, const struct vq_ring *r, const struct vq_mem *mem,
		    uint64_t features, uint16_t base);

/* The base to start from the next time: what VHOST_USER_GET_VRING_BASE answers. */
static inline uint16_t vq_device_base(const struct vq_device *d)
{
	return d->pop.last_avail;
}

/* --- pop side: the owner only -------------------------------------------------------------- */

/*
 * Takes the next chain. 1: @c is filled; 0: none there; -EBADMSG: d->pop.fault says why, now and
 * on every later call. A faulty chain is not taken: last_avail still points at it.
 *
 * Rules (2.7.5, 2.7.6): a descriptor of no byte is allowed - nothing forbids it - and adds no
 * iovec; WRITE is ignored on a descriptor that refers to an indirect table; direct descriptors may
 * come before one that refers to a table, which is the last. At most VQ_CHAIN_MAX (or the queue
 * size) descriptors and one more are read, whatever the guest wrote.
 */
int vq_device_pop(struct vq_device *d, struct vq_chain *c);

/*
 * Chains that wait to be popped, as of now; 0 when the ring is broken. Also for other threads than
 * the owner, as a statistic: then it may be off by what the owner does meanwhile.
 */
uint32_t vq_device_depth(const struct vq_device *d);

/*
 * Whether a pop would find something new, by a fresh look at the ring: a chain, or a fault that was
 * not reported yet. False once the ring is broken, so that an owner who waits does not spin.
 */
bool vq_device_has_avail(struct vq_device *d);

/* Kicks are not needed until enabled again; a hint to the driver, some may come yet (2.7.10). */
void vq_device_disable_kicks(struct vq_device *d);

/*
 * Asks for a kick for whatever comes after what was popped, and looks once more (as 2.7.14 does on
 * the other side). True: something came before the driver could know, go on popping; false: every
 * later chain kicks.
 */
bool vq_device_enable_kicks(struct vq_device *d);

/* --- used side: under the caller's lock ------------------------------------------------------ */

struct vq_used {
	uint16_t head;
	uint32_t len; /* bytes written to the writable buffers */
};

/*
 * Puts @n entries onto the used ring; the driver sees them after vq_device_publish(). 0, or
 * -EINVAL with nothing done: a head beyond the size, or more entries than the ring has room for
 * before the next publication - a mistake of the caller, not of the guest.
 */
int vq_device_push(struct vq_device *d, const struct vq_used *u, uint32_t n);

/* Makes all pushed entries visible. Returns how many became so. */
uint32_t vq_device_publish(struct vq_device *d);

/*
 * Whether the driver wants a call for what was published since this was asked last (2.7.7.2):
 * used_event with EVENT_IDX, else the available ring's flags. Contains the full barrier that must
 * stand between publishing and looking.
 */
bool vq_device_should_call(struct vq_device *d);

/* All three for one request. Returns whether to call; -EINVAL as vq_device_push(). */
int vq_device_finish(struct vq_device *d, uint16_t head, uint32_t len);

#endif
