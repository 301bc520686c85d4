// SPDX-License-Identifier: GPL-2.0-or-later
/* Rings that no driver may make. What follows each is the queue's restart, or a new connection. */
#include <errno.h>
#include <string.h>

#include "vqload/hostile_priv.h"

#define NEXT     VRING_DESC_F_NEXT
#define WRITE    VRING_DESC_F_WRITE
#define INDIRECT VRING_DESC_F_INDIRECT

static struct load_queue *queue(struct host *h)
{
	return &h->t.queue[HOST_QUEUE];
}

static uint32_t size(struct host *h)
{
	return queue(h)->driver.ring.size;
}

static void put_at(struct host *h, struct vring_desc *e, uint64_t addr, uint32_t len,
		   uint32_t flags, uint32_t next)
{
	*e = (struct vring_desc){.addr = htole64(addr),
				 .len = htole32(len),
				 .flags = htole16((uint16_t)flags),
				 .next = htole16((uint16_t)next)};
	host_digest(h, e, sizeof(*e));
}

static void put(struct host *h, uint32_t i, uint64_t addr, uint32_t len, uint32_t flags,
		uint32_t next)
{
	put_at(h, &queue(h)->driver.ring.desc[i], addr, len, flags, next);
}

static struct vring_desc *table(struct host *h, uint32_t i)
{
	return (struct vring_desc *)h->table.at + i;
}

/* Makes @head available, @ahead entries behind the last; no more than is told here. */
static void offer(struct host *h, uint16_t head, uint16_t ahead)
{
	struct vq_driver *d = &queue(h)->driver;

	d->ring.avail->ring[d->avail % d->ring.size] = htole16(head);
	d->avail = (uint16_t)(d->avail + ahead);
	host_digest(h, &head, sizeof(head));
	host_digest(h, &ahead, sizeof(ahead));
}

static void kick(struct host *h)
{
	struct load_queue *q = queue(h);
	uint64_t one = 1;

	vq_store_release(&q->driver.ring.avail->idx, q->driver.avail);
	vq_full_barrier();
	if (write(q->kick_fd, &one, sizeof(one)) < 0)
		return;
}

/* Time for the daemon to stumble: until it calls, complains, closes, or long enough. */
static void settle(struct host *h)
{
	load_wait_call(&h->t, HOST_QUEUE, vhu_deadline(HOST_SETTLE_MS));
	if (h->out_room && !host_guards(h)) {
		h->found = LOAD_OVERWROTE;
		host_say(h, "bytes around the reply buffer");
	}
}

static void go(struct host *h, uint16_t head)
{
	offer(h, head, 1);
	kick(h);
	settle(h);
}

/* A sound request, to lie in the buffers; its length. */
static uint32_t getattr(struct host *h)
{
	struct load_head head = host_head(h, FUSE_ROOT_ID);
	struct load_req r;

	load_req_init(&r, h->in.at, HOST_IN_BYTES);
	load_build_getattr(&r, &head, NULL);
	return r.in_size;
}

/* Header, arguments, reply as Linux has them, from descriptor @i on. */
static void sound_chain(struct host *h, uint32_t i)
{
	uint32_t n = getattr(h);

	put(h, i, h->in.gpa, 40, NEXT, i + 1);
	put(h, i + 1, h->in.gpa + 40, n - 40, NEXT, i + 2);
	put(h, i + 2, host_lay(h, 120), 120, WRITE, 0);
}

/* Addresses that are no memory, of a guest with three regions from 1 GiB on. */
static uint64_t nowhere(struct host *h)
{
	const struct load_region *g = &h->t.region[host_below(h, h->t.nr_regions)];

	switch (host_below(h, 8)) {
	case 0:
		return 0;
	case 1:
		return g->gpa - 1 - host_below(h, 64);
	case 2:
		return g->gpa + g->size - host_below(h, 16);
	case 3:
		return g->gpa + g->size;
	case 4:
		return UINT64_MAX - host_below(h, 4096);
	case 5:
		return 1ULL << (40 + host_below(h, 24));
	case 6:
		return g->gpa | 1ULL << 63;
	default:
		return load_rng(&h->rng);
	}
}

/* --- chains ---------------------------------------------------------------------------------- */

static void loop(struct host *h)
{
	uint32_t n = 1 + (uint32_t)host_below(h, 16), back = (uint32_t)host_below(h, n);
	uint32_t flags = HOST_PICK(h, ((const uint32_t[]){0, WRITE}));
	uint32_t len = HOST_PICK(h, ((const uint32_t[]){0, 1, 40, 4096}));

	getattr(h);
	for (uint32_t i = 0; i < n; i++)
		put(h, i, h->in.gpa, len, NEXT | flags, i + 1 < n ? i + 1 : back);
	host_say(h, "%u descriptors of %u bytes, back to %u", n, len, back);
	go(h, 0);
}

static void next_beyond(struct host *h)
{
	uint32_t next = size(h) + (uint32_t)host_below(h, 65536 - size(h));

	getattr(h);
	put(h, 0, h->in.gpa, 40, NEXT, next);
	host_say(h, "next %u", next);
	go(h, 0);
}

static void head_beyond(struct host *h)
{
	uint16_t head = (uint16_t)(size(h) + host_below(h, 65536 - size(h)));

	sound_chain(h, 0);
	host_say(h, "head %u", head);
	go(h, head);
}

static void avail_jump(struct host *h)
{
	uint32_t ahead = host_below(h, 2) ? size(h) + 1 : (uint32_t)host_below(h, 65536);

	sound_chain(h, 0);
	host_say(h, "%u ahead", ahead);
	offer(h, 0, (uint16_t)ahead);
	kick(h);
	settle(h);
}

static void avail_back(struct host *h)
{
	sound_chain(h, 0);
	host_say(h, "by one");
	offer(h, 0, 0xffff);
	kick(h);
	settle(h);
}

static void zero_length(struct host *h)
{
	uint32_t n = 1 + (uint32_t)host_below(h, 8);

	for (uint32_t i = 0; i < n; i++)
		put(h, i, host_below(h, 2) ? h->in.gpa : nowhere(h), 0,
		    (i + 1 < n ? NEXT : 0) | (host_below(h, 2) ? WRITE : 0), i + 1);
	host_say(h, "%u descriptors", n);
	go(h, 0);
}

static void unmapped(struct host *h)
{
	uint64_t addr = nowhere(h);
	bool reading = host_below(h, 2);
	uint32_t len = HOST_PICK(h, ((const uint32_t[]){1, 40, 4096, 1u << 20, UINT32_MAX}));

	sound_chain(h, 0);
	if (reading)
		put(h, 0, addr, len, NEXT, 1);
	else
		put(h, 2, addr, len, WRITE, 0);
	host_say(h, "%u bytes at %#llx to %s", len, (unsigned long long)addr,
		 reading ? "read" : "write");
	go(h, 0);
}

static void wraps(struct host *h)
{
	uint32_t len = 16 + (uint32_t)host_below(h, UINT32_MAX - 16);
	bool reading = host_below(h, 2);
	uint64_t addr = 0 - host_below(h, len) - 1;

	sound_chain(h, 0);
	put(h, reading ? 1 : 2, addr, len, reading ? NEXT : WRITE, 2);
	host_say(h, "%u bytes at %#llx", len, (unsigned long long)addr);
	go(h, 0);
}

static void wrong_order(struct host *h)
{
	uint32_t n = 2 + (uint32_t)host_below(h, 6);

	getattr(h);
	host_lay(h, 120);
	put(h, 0, h->out.gpa + HOST_OUT_BYTES / 2, 120, WRITE | NEXT, 1);
	for (uint32_t i = 1; i < n; i++)
		put(h, i, i & 1 ? h->in.gpa : h->out.gpa + HOST_OUT_BYTES / 2, 56,
		    (i & 1 ? 0 : WRITE) | (i + 1 < n ? NEXT : 0), i + 1);
	host_say(h, "%u descriptors, written ones first", n);
	go(h, 0);
}

static void one_way(struct host *h)
{
	bool write = host_below(h, 2);
	uint32_t len = HOST_PICK(h, ((const uint32_t[]){1, 15, 16, 39, 40, 56}));

	getattr(h);
	put(h, 0, write ? host_lay(h, len) : h->in.gpa, len, write ? WRITE : 0, 0);
	host_say(h, "%u bytes to %s only", len, write ? "write" : "read");
	go(h, 0);
}

static void huge(struct host *h)
{
	uint32_t n = size(h);

	getattr(h);
	for (uint32_t i = 0; i < n; i++)
		put(h, i, h->t.region[0].gpa, (uint32_t)h->t.region[0].size,
		    (i + 1 < n ? NEXT : 0) | (i ? WRITE : 0), i + 1);
	/* All of the region is written to, the ring of hiprio included: nothing in it is left. */
	h->must_reopen = true;
	h->out_room = 0;
	host_say(h, "%u times a whole region", n);
	go(h, 0);
}

static void over_the_ring(struct host *h)
{
	struct vq_driver *d = &queue(h)->driver;
	uint64_t at = HOST_PICK(h, ((const uint64_t[]){d->desc_gpa, d->avail_gpa, d->used_gpa}));

	sound_chain(h, 0);
	put(h, 2, at, 120, WRITE, 0);
	h->must_reopen = true;
	host_say(h, "the reply goes to the %s",
		 at == d->desc_gpa    ? "descriptors"
		 : at == d->avail_gpa ? "available ring"
				      : "used ring");
	go(h, 0);
}

static void twice(struct host *h)
{
	uint32_t n = 2 + (uint32_t)host_below(h, size(h) - 2);

	sound_chain(h, 0);
	for (uint32_t i = 0; i < n; i++)
		offer(h, 0, 1);
	host_say(h, "the same head %u times", n);
	kick(h);
	settle(h);
}

static void noise(struct host *h)
{
	uint32_t n = 1 + (uint32_t)host_below(h, size(h));

	h->out_room = 0;
	for (uint32_t i = 0; i < size(h); i++) {
		/* Reading anywhere, writing to the reply's area only. */
		bool write = host_below(h, 2);
		uint64_t at = host_below(h, 4) ? (write ? h->out.gpa : h->in.gpa) : nowhere(h);

		put(h, i, at, (uint32_t)host_below(h, HOST_IN_BYTES),
		    (uint32_t)(load_rng(&h->rng) & 0xfff8) | (write ? WRITE : 0) |
			    (uint32_t)host_below(h, 2) | (host_below(h, 8) ? 0 : INDIRECT),
		    (uint32_t)host_below(h, size(h) + 2));
	}
	host_say(h, "%u random heads", n);
	for (uint32_t i = 0; i < n; i++)
		offer(h, (uint16_t)host_below(h, size(h) + 1), 1);
	kick(h);
	settle(h);
}

/* --- indirect tables ------------------------------------------------------------------------- */

static void indirect(struct host *h, uint64_t gpa, uint32_t len, uint32_t flags, uint32_t next)
{
	uint32_t n = getattr(h);

	put_at(h, table(h, 0), h->in.gpa, n, NEXT, 1);
	put_at(h, table(h, 1), host_lay(h, 120), 120, WRITE, 0);
	put(h, 0, gpa, len, INDIRECT | flags, next);
}

static void indirect_length(struct host *h)
{
	uint32_t len = HOST_PICK(h, ((const uint32_t[]){0, 1, 15, 17, 24, 31, 33, 0xfffffff0u,
							UINT32_MAX, 1u << 31}));

	indirect(h, h->table.gpa, len, 0, 0);
	host_say(h, "a table of %u bytes", len);
	go(h, 0);
}

static void indirect_nested(struct host *h)
{
	bool self = host_below(h, 2);

	indirect(h, h->table.gpa, 32, 0, 0);
	put_at(h, table(h, 0), self ? h->table.gpa : h->table.gpa + 4096, 32, INDIRECT, 0);
	put_at(h, table(h, 256), h->in.gpa, 56, NEXT, 1);
	put_at(h, table(h, 257), host_lay(h, 120), 120, WRITE, 0);
	host_say(h, self ? "in itself" : "two deep");
	go(h, 0);
}

static void indirect_next(struct host *h)
{
	indirect(h, h->table.gpa, 32, NEXT, 1);
	put(h, 1, host_lay(h, 120), 120, WRITE, 0);
	host_say(h, "INDIRECT with NEXT");
	go(h, 0);
}

static void indirect_unmapped(struct host *h)
{
	uint64_t at = nowhere(h);

	indirect(h, at, 32, 0, 0);
	host_say(h, "a table at %#llx", (unsigned long long)at);
	go(h, 0);
}

static void indirect_loop(struct host *h)
{
	uint32_t n = 1 + (uint32_t)host_below(h, 64), to = (uint32_t)host_below(h, n + 2);

	indirect(h, h->table.gpa, n * 16, 0, 0);
	for (uint32_t i = 0; i < n; i++)
		put_at(h, table(h, i), h->in.gpa, 16, NEXT, i + 1 < n ? i + 1 : to);
	host_say(h, "a table of %u, then to %u", n, to);
	go(h, 0);
}

static void indirect_long(struct host *h)
{
	uint32_t n = HOST_TABLE_BYTES / 16;

	indirect(h, h->table.gpa, n * 16, 0, 0);
	for (uint32_t i = 1; i < n; i++)
		put_at(h, table(h, i), h->out.gpa + i, 1, WRITE | (i + 1 < n ? NEXT : 0), i + 1);
	put_at(h, table(h, 0), h->in.gpa, 56, NEXT, 1);
	h->out_room = 0;
	host_say(h, "a table of %u", n);
	go(h, 0);
}

/* --- while requests are in flight ------------------------------------------------------------ */

static void many_in_flight(struct host *h)
{
	uint32_t n = 1 + (uint32_t)host_below(h, 16);

	for (uint32_t i = 0; i < n; i++) {
		sound_chain(h, 3 * i);
		offer(h, (uint16_t)(3 * i), 1);
	}
	host_say(h, "%u in flight", n);
	kick(h);
}

static void stop_in_flight(struct host *h)
{
	struct load_queue *q = queue(h);

	many_in_flight(h);
	/* The used index is the daemon's; what is left over waits for the next start. */
	if (load_queue_stop(&h->t, HOST_QUEUE))
		return;
	if ((uint16_t)(q->driver.avail - q->base) > size(h)) {
		h->found = LOAD_WRONG;
		host_say(h, "base %u of %u available", q->base, q->driver.avail);
	}
}

static void close_in_flight(struct host *h)
{
	many_in_flight(h);
	h->must_reopen = true;
}

static void remove_in_use(struct host *h)
{
	uint32_t n = getattr(h);

	put(h, 0, h->in.gpa, n, NEXT, 1);
	put(h, 1, h->spare.gpa, 120, WRITE, 0);
	offer(h, 0, 1);
	kick(h);
	host_say(h, "the region of the reply");
	h->out_room = 0;
	h->must_reopen = true;
	if (load_remove_region(&h->t, 2) == -EOPNOTSUPP)
		host_say(h, "not offered by this daemon");
	settle(h);
}

const struct host_kind host_ring_kinds[] = {
	{"loop", loop},
	{"next", next_beyond},
	{"head", head_beyond},
	{"avail_jump", avail_jump},
	{"avail_back", avail_back},
	{"zero_length", zero_length},
	{"unmapped", unmapped},
	{"wraps", wraps},
	{"order", wrong_order},
	{"one_way", one_way},
	{"huge", huge},
	{"over_ring", over_the_ring},
	{"twice", twice},
	{"noise", noise},
	{"indirect_length", indirect_length},
	{"indirect_nested", indirect_nested},
	{"indirect_next", indirect_next},
	{"indirect_unmapped", indirect_unmapped},
	{"indirect_loop", indirect_loop},
	{"indirect_long", indirect_long},
	{"stop_in_flight", stop_in_flight},
	{"close_in_flight", close_in_flight},
	{"remove_in_use", remove_in_use},
};
const uint32_t host_ring_nr = ARRAY_SIZE(host_ring_kinds);
