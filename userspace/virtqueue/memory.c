// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtqueue/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The last byte: the end itself may be 2^64. */
static uint64_t last_byte(const struct vq_mem_region *r)
{
	return r->gpa + (r->size - 1);
}

int vq_mem_add(struct vq_mem *m, uint64_t gpa, uint64_t size, void *addr)
{
	uint32_t at = 0;

	if (!size || gpa + (size - 1) < gpa)
		return -EINVAL;
	while (at < m->nr && m->region[at].gpa < gpa)
		at++;
	if (at > 0 && last_byte(&m->region[at - 1]) >= gpa)
		return -EEXIST;
	if (at < m->nr && m->region[at].gpa <= gpa + (size - 1))
		return -EEXIST;
	if (m->nr == VQ_MEM_REGIONS)
		return -ENOSPC;
	memmove(&m->region[at + 1], &m->region[at], (m->nr - at) * sizeof(m->region[0]));
	m->region[at] = (struct vq_mem_region){.gpa = gpa, .size = size, .addr = addr};
	m->nr++;
	return 0;
}

int vq_mem_remove(struct vq_mem *m, uint64_t gpa, uint64_t size)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		if (m->region[i].gpa != gpa || m->region[i].size != size)
			continue;
		m->nr--;
		memmove(&m->region[i], &m->region[i + 1], (m->nr - i) * sizeof(m->region[0]));
		return 0;
	}
	return -ENOENT;
}

static bool within(const struct vq_mem_region *r, uint64_t gpa)
{
	return gpa - r->gpa < r->size;
}

/* Index of the region of @gpa, or m->nr. A hint may be stale, even beyond the end. */
static uint32_t find(const struct vq_mem *m, const uint32_t *hint, uint64_t gpa)
{
	uint32_t i = 0;

	if (hint && *hint < m->nr && within(&m->region[*hint], gpa))
		return *hint;
	while (i < m->nr && !within(&m->region[i], gpa))
		i++;
	return i;
}

const struct vq_mem_region *vq_mem_find(const struct vq_mem *m, uint64_t gpa)
{
	uint32_t i = find(m, NULL, gpa);

	return i < m->nr ? &m->region[i] : NULL;
}

int vq_mem_translate(const struct vq_mem *m, uint32_t *hint, uint64_t gpa, uint64_t len,
		     struct iovec *iov, uint32_t max)
{
	uint32_t n = 0, i;

	if (!len)
		return 0;
	if (gpa + (len - 1) < gpa)
		return -EFAULT;
	i = find(m, hint, gpa);
	for (; len; i++, n++) {
		const struct vq_mem_region *r = &m->region[i];
		uint64_t off, part;

		if (i >= m->nr || !within(r, gpa))
			return -EFAULT;
		if (n == max)
			return -ENOSPC;
		off = gpa - r->gpa;
		part = r->size - off < len ? r->size - off : len;
		iov[n].iov_base = (char *)r->addr + off;
		iov[n].iov_len = part;
		if (hint)
			*hint = i;
		gpa += part;
		len -= part;
	}
	return (int)n;
}

void *vq_mem_at(const struct vq_mem *m, uint32_t *hint, uint64_t gpa, uint64_t len)
{
	struct iovec iov;

	return vq_mem_translate(m, hint, gpa, len, &iov, 1) == 1 ? iov.iov_base : NULL;
}
