// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "vqfsd/guard.h"

static bool passes_end(uint64_t start, uint64_t bytes)
{
	return start + bytes < start;
}

static const char *check(const struct vhu_mem_region *r, const struct stat *st)
{
	uint64_t end = r->mmap_offset + r->size;

	if (!r->size)
		return "a region of no byte";
	if (passes_end(r->gpa, r->size) || passes_end(r->user_addr, r->size) ||
	    passes_end(r->mmap_offset, r->size))
		return "a region that passes 2^64";
	/* A device's memory says no size. */
	if (S_ISREG(st->st_mode) && (st->st_size < 0 || end > (uint64_t)st->st_size))
		return "a region beyond the end of its file";
	return S_ISREG(st->st_mode) || S_ISCHR(st->st_mode)
		       ? NULL
		       : "a region in something that is no memory";
}

/* Files of huge pages are mapped from the start of one; st_blksize is its size. */
static uint64_t page_of(const struct stat *st)
{
	uint64_t n = st->st_blksize > 0 ? (uint64_t)st->st_blksize : 0;

	return n >= 4096 && !(n & (n - 1)) ? n : 4096;
}

static int map(struct fsd_region *r, int fd, const struct stat *st, const char **why)
{
	uint64_t page = page_of(st), start = r->as_told.mmap_offset & ~(page - 1);

	r->skip = r->as_told.mmap_offset - start;
	if (r->as_told.size > SIZE_MAX / 2) {
		*why = "a region too large for an address space";
		return -EINVAL;
	}
	r->map_bytes = (r->skip + r->as_told.size + page - 1) & ~(page - 1);
	r->map = mmap(NULL, r->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
		      (off_t)start);
	if (r->map == MAP_FAILED) {
		*why = strerrordesc_np(errno);
		return -errno;
	}
	/* Not the guest's memory in a dump of ours. Only a wish. */
	madvise(r->map, r->map_bytes, MADV_DONTDUMP);
	return 0;
}

static void unmap(struct fsd_region *r)
{
	fsd_guard_remove(r->map);
	munmap(r->map, r->map_bytes);
}

int fsd_memory_add(struct fsd_memory *m, const struct vhu_mem_region *told, int fd,
		   const char **why)
{
	struct fsd_region r = {.as_told = *told};
	struct stat st;
	int err;

	if (fstat(fd, &st)) {
		*why = strerrordesc_np(errno);
		return -errno;
	}
	*why = check(told, &st);
	if (*why)
		return -EINVAL;
	if (m->nr == VQ_MEM_REGIONS) {
		*why = "more regions than there are slots";
		return -ENOSPC;
	}
	err = map(&r, fd, &st, why);
	if (err)
		return err;
	err = fsd_guard_add(r.map, r.map_bytes, &m->broken);
	if (!err)
		err = vq_mem_add(&m->mem, told->gpa, told->size, (char *)r.map + r.skip);
	if (err) {
		*why = err == -EEXIST ? "a region that overlaps another" : "no slot for it";
		unmap(&r);
		return err;
	}
	m->region[m->nr++] = r;
	return 0;
}

int fsd_memory_remove(struct fsd_memory *m, const struct vhu_mem_region *told)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		struct fsd_region *r = &m->region[i];

		if (r->as_told.gpa != told->gpa || r->as_told.size != told->size ||
		    r->as_told.user_addr != told->user_addr)
			continue;
		vq_mem_remove(&m->mem, told->gpa, told->size);
		unmap(r);
		*r = m->region[--m->nr];
		return 0;
	}
	return -ENOENT;
}

void fsd_memory_clear(struct fsd_memory *m)
{
	while (m->nr)
		unmap(&m->region[--m->nr]);
	memset(m, 0, sizeof(*m));
}

void *fsd_memory_user(const struct fsd_memory *m, uint64_t user, uint64_t bytes)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		const struct fsd_region *r = &m->region[i];
		uint64_t at = user - r->as_told.user_addr;

		if (at < r->as_told.size && bytes <= r->as_told.size - at)
			return (char *)r->map + r->skip + at;
	}
	return NULL;
}
