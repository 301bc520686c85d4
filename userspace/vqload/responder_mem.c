// SPDX-License-Identifier: GPL-2.0-or-later
/* The responder's view of guest memory: maps what a front-end shares, within what the file has. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "vqload/responder_priv.h"

#define REGION_MAX (1ULL << 40)

/* A region that its file does not hold whole would be a SIGBUS later. */
static int check_region(struct load_responder *r, const struct vhu_mem_region *m, int fd)
{
	struct stat st;
	uint64_t end;

	if (!m->size || m->size > REGION_MAX || m->user_addr + (m->size - 1) < m->user_addr ||
	    __builtin_add_overflow(m->mmap_offset, m->size, &end)) {
		rsp_complain(r, "a memory region of %llu bytes", (unsigned long long)m->size);
		return -EINVAL;
	}
	if (fstat(fd, &st) || (uint64_t)st.st_size < end) {
		rsp_complain(r, "a memory region beyond the end of its file");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < r->nr_regions; i++) {
		const struct rsp_region *o = &r->region[i];

		if (m->user_addr - o->user < o->size || o->user - m->user_addr < m->size) {
			rsp_complain(r, "memory regions that overlap in user addresses");
			return -EEXIST;
		}
	}
	return 0;
}

int rsp_add_region(struct load_responder *r, const struct vhu_mem_region *m, int fd)
{
	uint64_t skip = m->mmap_offset % (uint64_t)sysconf(_SC_PAGESIZE);
	struct rsp_region *g = &r->region[r->nr_regions];
	int err = check_region(r, m, fd);

	if (err)
		return err;
	if (r->nr_regions == VQ_MEM_REGIONS) {
		rsp_complain(r, "more memory regions than there are slots");
		return -ENOSPC;
	}
	*g = (struct rsp_region){
		.gpa = m->gpa, .size = m->size, .user = m->user_addr, .map_bytes = m->size + skip};
	g->map = mmap(NULL, g->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      (off_t)(m->mmap_offset - skip));
	if (g->map == MAP_FAILED) {
		rsp_complain(r, "a memory region that cannot be mapped: %s", strerror(errno));
		return -EINVAL;
	}
	err = vq_mem_add(&r->mem, m->gpa, m->size, (char *)g->map + skip);
	if (err) {
		rsp_complain(r, "memory regions that overlap, or pass 2^64");
		munmap(g->map, g->map_bytes);
		return err;
	}
	r->nr_regions++;
	return 0;
}

static bool holds(const struct rsp_region *g, uint64_t user)
{
	return user - g->user < g->size;
}

/* A ring whose memory goes away stops, and so do replies that wait in it. */
static void stop_rings_in(struct load_responder *r, const struct rsp_region *g)
{
	for (uint32_t i = 0; i < r->nr_queues; i++) {
		const struct vhu_vring_addr *a = &r->queue[i].addr;

		if (!r->queue[i].started ||
		    !(holds(g, a->desc) || holds(g, a->avail) || holds(g, a->used)))
			continue;
		rsp_complain(r, "memory of queue %u is removed while it runs", i);
		rsp_queue_stop(r, i);
	}
}

static void unmap(struct load_responder *r, uint32_t i)
{
	struct rsp_region *g = &r->region[i];

	stop_rings_in(r, g);
	vq_mem_remove(&r->mem, g->gpa, g->size);
	munmap(g->map, g->map_bytes);
	*g = r->region[--r->nr_regions];
}

int rsp_remove_region(struct load_responder *r, const struct vhu_mem_region *m)
{
	for (uint32_t i = 0; i < r->nr_regions; i++) {
		const struct rsp_region *g = &r->region[i];

		if (g->gpa != m->gpa || g->size != m->size || g->user != m->user_addr)
			continue;
		unmap(r, i);
		return 0;
	}
	rsp_complain(r, "removal of a memory region that is not there");
	return -ENOENT;
}

void rsp_unmap_all(struct load_responder *r)
{
	while (r->nr_regions)
		unmap(r, r->nr_regions - 1);
}

int rsp_set_table(struct load_responder *r, const struct vhu_memory *m, struct vhu_fds *fds)
{
	int err = 0;

	/* A front-end that wants to keep its rings stops them, and says their addresses again. */
	rsp_unmap_all(r);
	for (uint32_t i = 0; !err && i < m->nr; i++)
		err = rsp_add_region(r, &m->region[i], fds->fd[i]);
	return err;
}

void *rsp_user_at(const struct load_responder *r, uint64_t user, uint64_t len)
{
	for (uint32_t i = 0; i < r->nr_regions; i++) {
		const struct rsp_region *g = &r->region[i];
		size_t skip = g->map_bytes - g->size;

		if (holds(g, user) && len <= g->size - (user - g->user))
			return (char *)g->map + skip + (user - g->user);
	}
	return NULL;
}
