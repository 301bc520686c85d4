/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's memory as the front-end hands it over: maps regions, finds the front-end's own
 * addresses in them. Owns the mappings. Changes need all users of the map quiet
 * (fsd_device_quiesce()).
 */
#ifndef VQFSD_MEMORY_H
#define VQFSD_MEMORY_H

#include <stdbool.h>

#include "virtqueue/memory.h"
#include "virtqueue/vhost_user.h"

struct fsd_region {
	struct vhu_mem_region as_told;
	void *map; /* from the start of a page, hence maybe before the region */
	size_t map_bytes;
	size_t skip; /* bytes of the mapping before the region */
};

struct fsd_memory {
	struct vq_mem mem;
	struct fsd_region region[VQ_MEM_REGIONS];
	uint32_t nr;
	uint32_t broken; /* 1: some of it vanished (guard.h); atomic */
};

/*
 * Maps @bytes of @fd, which stays the caller's. 0; or with *why in words -EINVAL: no byte, numbers
 * that pass 2^64, beyond the end of the file; -EEXIST, -ENOSPC as vq_mem_add(); errors of mmap().
 */
int fsd_memory_add(struct fsd_memory *m, const struct vhu_mem_region *r, int fd, const char **why);
/* By address and size. 0, or -ENOENT. */
int fsd_memory_remove(struct fsd_memory *m, const struct vhu_mem_region *r);
void fsd_memory_clear(struct fsd_memory *m);

/* Where the front-end's address @user is here, @bytes of it in one piece, or NULL. */
void *fsd_memory_user(const struct fsd_memory *m, uint64_t user, uint64_t bytes);

/* Whether some of the memory vanished. */
static inline bool fsd_memory_broken(const struct fsd_memory *m)
{
	return __atomic_load_n(&m->broken, __ATOMIC_RELAXED);
}

#endif
