// SPDX-License-Identifier: GPL-2.0-or-later
/* Guest memory: making regions, telling the daemon of them. */
#include "vqload/transport_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "common/cleanup.h"

/* No buffer at 0, which an uninitialised address would hit; gaps that an overrun falls into. */
#define GPA_FIRST (1ULL << 30)
#define GPA_STEP  (1ULL << 30)

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A memfd that nobody can cut off under the other's feet (a SIGBUS for it). */
static int make_memfd(uint64_t size)
{
	_cleanup_close_ int fd = memfd_create("vqload", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return TAKE_FD(fd);
}

/* Maps @fd between two pages that fault. */
static void *map_guarded(int fd, uint64_t size)
{
	uint64_t page = page_bytes();
	char *all = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return NULL;
	if (mmap(all + page, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		munmap(all, size + 2 * page);
		return NULL;
	}
	return all + page;
}

static void free_region(struct load_region *r)
{
	uint64_t page = page_bytes();

	if (r->addr)
		munmap((char *)r->addr - page, r->size + 2 * page);
	if (r->addr)
		close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

/* Behind the last region, touching it or not. */
static uint64_t next_gpa(const struct load_transport *t)
{
	const struct vq_mem_region *last;

	if (!t->mem.nr)
		return GPA_FIRST;
	last = &t->mem.region[t->mem.nr - 1];
	return t->opts.adjacent ? last->gpa + last->size
				: round_up(last->gpa + last->size, GPA_STEP) + GPA_STEP;
}

static int make_region(struct load_transport *t, struct load_region *r, uint64_t bytes)
{
	uint64_t size = round_up(bytes, page_bytes()), gpa = next_gpa(t);
	_cleanup_close_ int fd = make_memfd(size);
	void *addr;
	int err;

	if (fd < 0)
		return load_fail(t, fd, "cannot make %llu bytes of guest memory: %s",
				 (unsigned long long)size, strerror(-fd));
	addr = map_guarded(fd, size);
	if (!addr)
		return load_fail(t, -ENOMEM, "cannot map %llu bytes of guest memory: %s",
				 (unsigned long long)size, strerror(errno));
	err = vq_mem_add(&t->mem, gpa, size, addr);
	*r = (struct load_region){.gpa = gpa, .size = size, .addr = addr, .fd = TAKE_FD(fd)};
	if (err) {
		free_region(r);
		return load_fail(t, err, "no place for %llu bytes of guest memory at %#llx",
				 (unsigned long long)size, (unsigned long long)gpa);
	}
	return 0;
}

int load_make_memory(struct load_transport *t)
{
	while (t->nr_regions < t->opts.regions) {
		int err = make_region(t, &t->region[t->nr_regions], t->opts.region_bytes);

		if (err)
			return err;
		t->nr_regions++;
	}
	return 0;
}

void load_free_memory(struct load_transport *t)
{
	for (uint32_t i = 0; i < t->nr_regions; i++)
		free_region(&t->region[i]);
	t->nr_regions = 0;
	t->mem.nr = 0;
}

/* --- telling the daemon ---------------------------------------------------------------------- */

static struct vhu_mem_region describe(const struct load_region *r)
{
	return (struct vhu_mem_region){
		.gpa = r->gpa, .size = r->size, .user_addr = (uintptr_t)r->addr};
}

/*
 * Queues run on other threads of the daemon: a buffer in the region may be there before the message
 * was read. Without REPLY_ACK a request that has an answer tells when it was.
 */
static int ask_region(struct load_transport *t, uint32_t request, const struct load_region *r)
{
	struct vhu_msg m = {.request = request, .size = sizeof(struct vhu_single_region)};
	uint64_t ignored;
	int err;

	m.payload.mem_reg.region = describe(r);
	err = load_ask(t, &m, &r->fd, request == VHU_ADD_MEM_REG ? 1 : 0, NULL);
	if (!err && !load_has(t, VHU_PROTOCOL_F_REPLY_ACK))
		err = load_get_u64(t, VHU_GET_FEATURES, &ignored);
	return err;
}

static int ask_table(struct load_transport *t)
{
	struct vhu_msg m = {.request = VHU_SET_MEM_TABLE};
	int fds[VHU_MAX_FDS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nr_regions; i++) {
		if (!t->region[i].addr)
			continue;
		if (n == VHU_MAX_FDS)
			return load_fail(t, -ENOSPC,
					 "more than %u regions need CONFIGURE_MEM_SLOTS",
					 VHU_MAX_FDS);
		m.payload.memory.region[n] = describe(&t->region[i]);
		fds[n++] = t->region[i].fd;
	}
	m.payload.memory.nr = n;
	m.size =
		(uint32_t)(offsetof(struct vhu_memory, region) + n * sizeof(struct vhu_mem_region));
	return load_ask(t, &m, fds, n, NULL);
}

/* As QEMU does: one by one where regions can be added, else as one table. */
int load_share_memory(struct load_transport *t)
{
	bool slots = load_has(t, VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS);
	int err = slots ? 0 : ask_table(t);

	for (uint32_t i = 0; !err && i < t->nr_regions; i++) {
		struct load_region *r = &t->region[i];

		if (slots && r->addr && !r->shared)
			err = ask_region(t, VHU_ADD_MEM_REG, r);
		r->shared = !err && r->addr;
	}
	return err;
}

static int check_slots(struct load_transport *t)
{
	if (!load_has(t, VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS))
		return load_fail(
			t, -EOPNOTSUPP,
			"daemon at %s: it does not offer CONFIGURE_MEM_SLOTS, so memory is "
			"fixed while it runs",
			t->opts.socket);
	return 0;
}

int load_add_region(struct load_transport *t, uint64_t bytes, uint32_t *index)
{
	uint32_t i = 0;
	int err = check_slots(t);

	if (err)
		return err;
	if (!bytes || bytes > 1ULL << 40)
		return load_fail(t, -EINVAL, "a memory region of %llu bytes",
				 (unsigned long long)bytes);
	while (i < t->nr_regions && t->region[i].addr)
		i++;
	if (i == VQ_MEM_REGIONS || (t->mem_slots && t->mem.nr >= t->mem_slots))
		return load_fail(t, -ENOSPC, "no slot for one more memory region: %u of %u in use",
				 t->mem.nr, t->mem_slots ? t->mem_slots : VQ_MEM_REGIONS);
	err = make_region(t, &t->region[i], bytes);
	if (err)
		return err;
	err = ask_region(t, VHU_ADD_MEM_REG, &t->region[i]);
	if (err) {
		vq_mem_remove(&t->mem, t->region[i].gpa, t->region[i].size);
		free_region(&t->region[i]);
		return err;
	}
	t->region[i].shared = true;
	t->nr_regions = i == t->nr_regions ? i + 1 : t->nr_regions;
	*index = i;
	return 0;
}

int load_remove_region(struct load_transport *t, uint32_t index)
{
	struct load_region *r = &t->region[index < VQ_MEM_REGIONS ? index : 0];
	int err = check_slots(t);

	if (err)
		return err;
	if (index >= t->nr_regions || !r->addr)
		return load_fail(t, -EINVAL, "there is no memory region %u", index);
	for (uint32_t i = 0; t->queue && i < t->nr_queues; i++)
		if (t->queue[i].gpa - r->gpa < r->size)
			return load_fail(t, -EBUSY, "memory region %u holds the ring of queue %u",
					 index, i);
	err = ask_region(t, VHU_REM_MEM_REG, r);
	if (err)
		return err;
	vq_mem_remove(&t->mem, r->gpa, r->size);
	free_region(r);
	return 0;
}

void *load_alloc(struct load_transport *t, uint32_t index, uint64_t bytes, uint64_t align,
		 uint64_t *gpa)
{
	struct load_region *r = &t->region[index < VQ_MEM_REGIONS ? index : 0];
	uint64_t at;

	if (index >= t->nr_regions || !r->addr)
		return NULL;
	at = round_up(r->next, align);
	if (at > r->size || bytes > r->size - at)
		return NULL;
	r->next = at + bytes;
	*gpa = r->gpa + at;
	return (char *)r->addr + at;
}
