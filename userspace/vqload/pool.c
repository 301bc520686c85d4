// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqload/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE     64u
#define GUARD    LOAD_GUARD_SIZE
#define UNLAID   UINT32_MAX
/* An odd number of lines, so that slots do not all fall into the same sets of the cache. */
#define ODD_LINE LINE

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* in | guard | out, guard */
static uint64_t head_stride(uint32_t in_cap)
{
	uint64_t lines = (round_up(in_cap, LINE) + GUARD + LOAD_OUT_BYTES + GUARD) / LINE;

	return (lines | 1) * LINE;
}

/* data | guard ... guard: the one in front of the next slot's data ends at its page. */
static uint64_t data_stride(uint32_t data_cap)
{
	return data_cap ? round_up(data_cap, LOAD_PAGE) + LOAD_PAGE : 0;
}

uint64_t load_pool_bytes(uint32_t nr, uint32_t in_cap, uint32_t data_cap)
{
	return nr * (head_stride(in_cap) + data_stride(data_cap)) + 4 * LOAD_PAGE;
}

static void init_slot(struct load_slot *s, char *head, uint64_t head_gpa, uint32_t in_cap)
{
	uint64_t out = round_up(in_cap, LINE) + GUARD;

	load_req_init(&s->req, head, in_cap);
	s->in_gpa = head_gpa;
	s->out = head + out;
	s->out_gpa = head_gpa + out;
	s->out_guarded = s->data_guarded = UNLAID;
	load_guard_fill(head + out - GUARD, GUARD, s->out_gpa - GUARD);
}

int load_pool_init(struct load_pool *p, struct load_transport *t, uint32_t queue, uint32_t nr,
		   uint32_t in_cap, uint32_t data_cap)
{
	uint64_t head_step = head_stride(in_cap), data_step = data_stride(data_cap);
	uint64_t head_gpa, data_gpa = 0;
	uint32_t regions = t->opts.regions;
	char *head, *data = NULL;

	*p = (struct load_pool){0};
	p->slot = calloc(nr, sizeof(*p->slot));
	if (!p->slot)
		return -ENOMEM;
	/* Headers and data from different regions, where there are several. */
	head = load_alloc(t, queue % regions, nr * head_step, LOAD_PAGE, &head_gpa);
	if (data_step)
		data = load_alloc(t, (queue + 1) % regions, nr * data_step + LOAD_PAGE, LOAD_PAGE,
				  &data_gpa);
	if (!head || (data_step && !data)) {
		load_pool_free(p);
		return -ENOSPC;
	}
	p->nr = nr;
	for (uint32_t i = nr; i-- > 0;) {
		struct load_slot *s = &p->slot[i];

		init_slot(s, head + i * head_step, head_gpa + i * head_step, in_cap);
		s->index = i;
		s->queue = queue;
		if (data_step) {
			s->data = data + LOAD_PAGE + i * data_step;
			s->data_gpa = data_gpa + LOAD_PAGE + i * data_step;
			s->data_cap = (uint32_t)(data_step - LOAD_PAGE);
			load_guard_fill((char *)s->data - GUARD, GUARD, s->data_gpa - GUARD);
		}
		load_pool_give(p, s);
	}
	return 0;
}

void load_pool_free(struct load_pool *p)
{
	free(p->slot);
	*p = (struct load_pool){0};
}

/* --- guards ------------------------------------------------------------------------------ */

void load_slot_guard(struct load_slot *s)
{
	const struct load_req *r = &s->req;

	if (r->out_size != s->out_guarded) {
		load_guard_fill((char *)s->out + r->out_size, GUARD, s->out_gpa + r->out_size);
		s->out_guarded = r->out_size;
	}
	/* Who sent data wrote where the guard was. */
	if (r->in_data_size > s->data_guarded)
		s->data_guarded = UNLAID;
	if (r->out_data_size && r->out_data_size != s->data_guarded) {
		load_guard_fill((char *)s->data + r->out_data_size, GUARD,
				s->data_gpa + r->out_data_size);
		s->data_guarded = r->out_data_size;
	}
}

static int64_t check(void *at, uint64_t key)
{
	int64_t bad = load_guard_check(at, GUARD, key);

	if (bad >= 0)
		load_guard_fill(at, GUARD, key);
	return bad;
}

int64_t load_slot_check(struct load_slot *s)
{
	uint32_t out = s->req.out_size, len = s->req.out_data_size;
	int64_t bad = check((char *)s->out + out, s->out_gpa + out);

	if (bad < 0)
		bad = check((char *)s->out - GUARD, s->out_gpa - GUARD);
	if (bad < 0 && len)
		bad = check((char *)s->data + len, s->data_gpa + len);
	if (bad < 0 && len)
		bad = check((char *)s->data - GUARD, s->data_gpa - GUARD);
	return bad;
}

/* --- buffers ----------------------------------------------------------------------------- */

struct ranges {
	struct vq_range *range;
	uint32_t nr, max;
};

static void put(struct ranges *a, uint64_t gpa, uint32_t len)
{
	if (!len)
		return;
	if (a->nr < a->max)
		a->range[a->nr] = (struct vq_range){gpa, len};
	a->nr++;
}

static void put_pages(struct ranges *a, uint64_t gpa, uint32_t len)
{
	for (; len > LOAD_PAGE; gpa += LOAD_PAGE, len -= LOAD_PAGE)
		put(a, gpa, LOAD_PAGE);
	put(a, gpa, len);
}

uint32_t load_slot_ranges(const struct load_slot *s, struct vq_range *range, uint32_t max,
			  uint32_t *nr_read)
{
	const uint32_t in = sizeof(struct fuse_in_header), out = sizeof(struct fuse_out_header);
	const struct load_req *r = &s->req;
	struct ranges a = {.range = range, .max = max};

	put(&a, s->in_gpa, in);
	put(&a, s->in_gpa + in, r->in_size - in);
	put_pages(&a, s->data_gpa, r->in_data_size);
	*nr_read = a.nr;
	if (r->out_size) {
		put(&a, s->out_gpa, out);
		put(&a, s->out_gpa + out, r->out_size - out);
		put_pages(&a, s->data_gpa, r->out_data_size);
	}
	return a.nr;
}
