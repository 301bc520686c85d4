/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory: which guest-physical addresses there are and where this process has them. The map
 * owns no memory; who maps and unmaps it adds and removes regions. Any number of threads may
 * translate at once; changes need all of them quiet.
 */
#ifndef VIRTQUEUE_MEMORY_H
#define VIRTQUEUE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <sys/uio.h>

#define VQ_MEM_REGIONS 32u

struct vq_mem_region {
	uint64_t gpa;
	uint64_t size; /* bytes, never 0; gpa + size does not pass 2^64 */
	void *addr;    /* of its first byte in this process */
};

struct vq_mem {
	uint32_t nr;
	struct vq_mem_region region[VQ_MEM_REGIONS]; /* by rising gpa, without overlap */
};

/*
 * 0; -EINVAL: no byte, or addresses that pass 2^64; -EEXIST: overlaps a region; -ENOSPC: no slot
 * free.
 */
int vq_mem_add(struct vq_mem *m, uint64_t gpa, uint64_t size, void *addr);

/* Removes the region that is exactly this one. 0, or -ENOENT. */
int vq_mem_remove(struct vq_mem *m, uint64_t gpa, uint64_t size);

/* The region that @gpa lies in, or NULL. */
const struct vq_mem_region *vq_mem_find(const struct vq_mem *m, uint64_t gpa);

/*
 * Where the bytes [gpa, gpa + len) are: one iovec per region that they cross; regions that touch
 * in guest-physical addresses may be far apart here. Returns how many of the @max iovecs were
 * filled; -EFAULT: not all of it is memory, or gpa + len passes 2^64; -ENOSPC: more than @max
 * pieces. No byte is nowhere: @len 0 gives 0 iovecs for every @gpa.
 *
 * @hint is the caller's own (it starts as 0, and may be NULL): the region that was hit last, looked
 * at first, so that a thread that stays in one region never searches. It is not in the map, where
 * threads would write to each other's cache line.
 */
int vq_mem_translate(const struct vq_mem *m, uint32_t *hint, uint64_t gpa, uint64_t len,
		     struct iovec *iov, uint32_t max);

/* As a single piece: its address, or NULL. For rings, whose areas must lie in one region. */
void *vq_mem_at(const struct vq_mem *m, uint32_t *hint, uint64_t gpa, uint64_t len);

#endif
