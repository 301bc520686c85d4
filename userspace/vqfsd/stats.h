/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statistics region (vqsteer/fsd_abi.h): makes it, finds its parts. */
#ifndef VQFSD_STATS_H
#define VQFSD_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <vqsteer/fsd_abi.h>

#define FSD_WORKERS_MAX 256u /* hiprio's, 0, included */
#define FSD_POOL_MAX    256u
#define FSD_THREADS_MAX (FSD_WORKERS_MAX + FSD_POOL_MAX)

struct fsd_stats {
	int fd; /* sealed; to be given away */
	size_t bytes;
	struct vqs_fsd_header *header;
	struct vqs_fsd_queue *queue;   /* nr_queues */
	struct vqs_fsd_thread *thread; /* FSD_THREADS_MAX: workers, then the pool */
};

/* 0 or -errno of memfd_create(), ftruncate(), mmap(), fcntl(). */
int fsd_stats_new(struct fsd_stats *s, uint32_t nr_queues, const char *tag);
/* Harmless on a zeroed one. */
void fsd_stats_free(struct fsd_stats *s);

/* The oldest request in progress of @queue: when it began and its opcode. 0: there is none. */
uint64_t fsd_stats_oldest(const struct fsd_stats *s, uint32_t queue, uint32_t *opcode);

/* The name of an opcode of FUSE, such as "READ", or NULL. */
const char *fsd_opcode_name(uint32_t opcode);

#endif
