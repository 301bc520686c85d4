/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both sides of a split virtqueue share: where its three areas lie, how their indices are
 * read and written, and what may be wrong with what the other side wrote. Sections are those of
 * virtio 1.2; all fields in guest memory are little-endian (1.4).
 */
#ifndef VIRTQUEUE_RING_H
#define VIRTQUEUE_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

/* A queue size is a power of two, at most 2^15 (2.7). */
#define VQ_SIZE_MAX 32768u

/*
 * What one side found wrong with what the other side wrote. Everything here was possible only by a
 * breach of the specification or of memory; none of it ends the process.
 */
enum vq_fault {
	VQ_FAULT_NONE,
	/* the driver's, seen by the device */
	VQ_FAULT_AVAIL_JUMP,       /* avail idx is more than the queue size ahead */
	VQ_FAULT_HEAD,             /* a head beyond the queue size */
	VQ_FAULT_NEXT,             /* a next beyond its table */
	VQ_FAULT_LOOP,             /* a chain of more descriptors than its table has */
	VQ_FAULT_TOO_LONG,         /* more buffers than VQ_CHAIN_MAX and the queue size */
	VQ_FAULT_TOO_BIG,          /* more than 2^32 - 1 bytes to read, or to write */
	VQ_FAULT_TOO_FRAGMENTED,   /* more pieces than the iovecs given */
	VQ_FAULT_ADDRESS,          /* a buffer that is not all within memory */
	VQ_FAULT_ORDER,            /* a readable buffer after a writable one */
	VQ_FAULT_INDIRECT_OFF,     /* INDIRECT without the feature */
	VQ_FAULT_INDIRECT_NEXT,    /* INDIRECT and NEXT in one descriptor */
	VQ_FAULT_INDIRECT_NESTED,  /* INDIRECT within an indirect table */
	VQ_FAULT_INDIRECT_LENGTH,  /* a table of no entry, or not of whole ones */
	VQ_FAULT_INDIRECT_ADDRESS, /* a table that is not all within memory */
	/* the device's, seen by the driver */
	VQ_FAULT_USED_JUMP,    /* used idx is more than the queue size ahead */
	VQ_FAULT_USED_HEAD,    /* a head beyond the queue size */
	VQ_FAULT_USED_UNKNOWN, /* a head that is not in flight: never sent, or answered already */
	VQ_FAULT_USED_LENGTH,  /* more bytes than the chain had room for */
	VQ_FAULTS,
};

/* Short name for logs and tests, such as "avail-jump"; and what it means, in words. */
const char *vq_fault_name(enum vq_fault f);
const char *vq_fault_text(enum vq_fault f);

/* The areas of a ring at their addresses in this process (2.7: alignment 16, 2 and 4). */
struct vq_ring {
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	uint32_t size;
};

/* Bytes of each area, used_event and avail_event included (2.7.6, 2.7.8). */
static inline size_t vq_desc_bytes(uint32_t size)
{
	return sizeof(struct vring_desc) * size;
}

static inline size_t vq_avail_bytes(uint32_t size)
{
	return sizeof(uint16_t) * (3 + (size_t)size);
}

static inline size_t vq_used_bytes(uint32_t size)
{
	return sizeof(uint16_t) * 3 + sizeof(struct vring_used_elem) * size;
}

/* Whether @size is one a queue may have. */
static inline bool vq_size_valid(uint32_t size)
{
	return size && size <= VQ_SIZE_MAX && !(size & (size - 1));
}

/* 0, or -EINVAL: a size that no queue has, an area that is NULL or not aligned. */
int vq_ring_check(const struct vq_ring *r);

/*
 * The indices that one side publishes and the other side reads. A publication makes all that was
 * written before it visible to whoever reads it by vq_load_acquire().
 */
static inline uint16_t vq_load_acquire(const __virtio16 *p)
{
	return le16toh(__atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE));
}

static inline uint16_t vq_load(const __virtio16 *p)
{
	return le16toh(__atomic_load_n((const uint16_t *)p, __ATOMIC_RELAXED));
}

static inline void vq_store_release(__virtio16 *p, uint16_t v)
{
	__atomic_store_n((uint16_t *)p, htole16(v), __ATOMIC_RELEASE);
}

static inline void vq_store(__virtio16 *p, uint16_t v)
{
	__atomic_store_n((uint16_t *)p, htole16(v), __ATOMIC_RELAXED);
}

/*
 * Between a store and a load that must not be exchanged, even by x86's store buffer: publishing an
 * index and reading whether the other side wants to be told (2.7.13.4.1), asking to be told and
 * looking once more (2.7.14).
 */
static inline void vq_full_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The driver's used_event behind the available ring, the device's avail_event behind the used. */
static inline __virtio16 *vq_used_event(const struct vq_ring *r)
{
	return &r->avail->ring[r->size];
}

static inline __virtio16 *vq_avail_event(const struct vq_ring *r)
{
	return (__virtio16 *)&r->used->ring[r->size];
}

/*
 * Whether going from index @old to @now passed entry @event, whose completion the other side wants
 * to be told of (2.7.7.2, 2.7.10.1). All of it modulo 2^16.
 */
static inline bool vq_need_event(uint16_t event, uint16_t now, uint16_t old)
{
	return (uint16_t)(now - event - 1) < (uint16_t)(now - old);
}

#endif
