// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtqueue/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each area begins at a cache line of its own, which all alignments divide. */
#define AREA_ALIGN 64u

static size_t place(size_t *end, size_t bytes)
{
	size_t at = *end;

	*end = (at + bytes + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;
	return at;
}

int vq_driver_layout(uint32_t size, uint32_t table_max, struct vq_layout *l)
{
	size_t end = 0;

	if (!vq_size_valid(size) || table_max > VQ_SIZE_MAX)
		return -EINVAL;
	l->desc = place(&end, vq_desc_bytes(size));
	l->avail = place(&end, vq_avail_bytes(size));
	l->used = place(&end, vq_used_bytes(size));
	l->tables = place(&end, vq_desc_bytes(table_max) * size);
	l->bytes = end;
	return 0;
}

int vq_driver_init(struct vq_driver *d, uint32_t size, uint32_t table_max, uint64_t features,
		   void *mem, uint64_t gpa, uint16_t start)
{
	struct vq_layout l;

	if (vq_driver_layout(size, table_max, &l) || (uintptr_t)mem % AREA_ALIGN ||
	    gpa % AREA_ALIGN)
		return -EINVAL;
	memset(d, 0, sizeof(*d));
	d->slot = calloc(size, sizeof(*d->slot));
	if (!d->slot)
		return -ENOMEM;
	d->ring.size = size;
	d->ring.desc = (void *)((char *)mem + l.desc);
	d->ring.avail = (void *)((char *)mem + l.avail);
	d->ring.used = (void *)((char *)mem + l.used);
	d->desc_gpa = gpa + l.desc;
	d->avail_gpa = gpa + l.avail;
	d->used_gpa = gpa + l.used;
	d->event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1;
	d->table_max = table_max;
	d->tables = (void *)((char *)mem + l.tables);
	d->tables_gpa = gpa + l.tables;
	vq_driver_reset(d, start);
	return 0;
}

void vq_driver_free(struct vq_driver *d)
{
	free(d->slot);
	d->slot = NULL;
}

void vq_driver_reset(struct vq_driver *d, uint16_t start)
{
	memset(d->ring.desc, 0, vq_desc_bytes(d->ring.size));
	memset(d->ring.avail, 0, vq_avail_bytes(d->ring.size));
	memset(d->ring.used, 0, vq_used_bytes(d->ring.size));
	memset(d->tables, 0, vq_desc_bytes(d->table_max) * d->ring.size);
	for (uint32_t i = 0; i < d->ring.size; i++)
		d->slot[i] = (struct vq_slot){.next = (uint16_t)(i + 1)};
	d->free_head = 0;
	d->nr_free = d->ring.size;
	d->in_flight = 0;
	d->fault = VQ_FAULT_NONE;
	d->broken = d->kick_due = false;
	d->avail = d->published = d->kicked = d->last_used = start;
	vq_store(&d->ring.used->idx, start);
	vq_store(vq_avail_event(&d->ring), start);
	vq_store_release(&d->ring.avail->idx, start);
	vq_driver_enable_calls(d);
}

static void write_desc(struct vring_desc *e, const struct vq_range *r, uint16_t flags,
		       uint16_t next)
{
	e->addr = htole64(r->gpa);
	e->len = htole32(r->len);
	e->flags = htole16(flags);
	e->next = htole16(next);
}

static uint16_t buffer_flags(uint32_t i, uint32_t nr_read, uint32_t total)
{
	return (uint16_t)((i + 1 < total ? VRING_DESC_F_NEXT : 0) |
			  (i >= nr_read ? VRING_DESC_F_WRITE : 0));
}

static void write_table(struct vq_driver *d, const struct vq_range *range, uint32_t nr_read,
			uint32_t total)
{
	uint64_t first = (uint64_t)d->free_head * d->table_max;
	struct vring_desc *table = d->tables + first;
	struct vq_range self = {
		.gpa = d->tables_gpa + first * sizeof(*table),
		.len = total * (uint32_t)sizeof(*table),
	};

	for (uint32_t i = 0; i < total; i++)
		write_desc(&table[i], &range[i], buffer_flags(i, nr_read, total),
			   (uint16_t)(i + 1 < total ? i + 1 : 0));
	write_desc(&d->ring.desc[d->free_head], &self, VRING_DESC_F_INDIRECT, 0);
}

/* Returns the last descriptor of the chain. */
static uint16_t write_chain(struct vq_driver *d, const struct vq_range *range, uint32_t nr_read,
			    uint32_t total)
{
	uint16_t at = d->free_head, last = at;

	for (uint32_t i = 0; i < total; i++) {
		uint16_t next = d->slot[at].next;

		write_desc(&d->ring.desc[at], &range[i], buffer_flags(i, nr_read, total),
			   i + 1 < total ? next : 0);
		last = at;
		at = next;
	}
	return last;
}

int vq_driver_add(struct vq_driver *d, const struct vq_range *range, uint32_t nr_read,
		  uint32_t nr_write, bool indirect, uint64_t token)
{
	uint64_t total = (uint64_t)nr_read + nr_write, bytes[2] = {0, 0};
	uint32_t need = indirect ? 1 : (uint32_t)total;
	uint16_t head = d->free_head, last = head;
	struct vq_slot *s = &d->slot[head];

	if (!total)
		return -EINVAL;
	if (total > (indirect ? d->table_max : d->ring.size))
		return -E2BIG;
	for (uint32_t i = 0; i < total; i++)
		bytes[i >= nr_read] += range[i].len;
	if (bytes[0] + bytes[1] > UINT32_MAX)
		return -EINVAL; /* 2.7.5.1 */
	if (need > d->nr_free)
		return -ENOSPC;
	if (indirect)
		write_table(d, range, nr_read, (uint32_t)total);
	else
		last = write_chain(d, range, nr_read, (uint32_t)total);
	d->free_head = d->slot[last].next;
	d->nr_free -= need;
	s->token = token;
	s->write_bytes = (uint32_t)bytes[1];
	s->descs = (uint16_t)need;
	s->in_flight = true;
	d->in_flight++;
	vq_store(&d->ring.avail->ring[d->avail++ & (d->ring.size - 1)], head);
	return head;
}

uint32_t vq_driver_publish(struct vq_driver *d)
{
	uint16_t n = (uint16_t)(d->avail - d->published);

	if (!n)
		return 0;
	if ((uint16_t)(d->avail - d->kicked) < n)
		d->kick_due = true;
	d->published = d->avail;
	vq_store_release(&d->ring.avail->idx, d->published);
	return n;
}

bool vq_driver_should_kick(struct vq_driver *d)
{
	uint16_t now = d->published, old = d->kicked;
	bool due = d->kick_due;

	vq_full_barrier(); /* 2.7.13.4.1 */
	d->kicked = now;
	d->kick_due = false;
	if (d->event_idx)
		return due || vq_need_event(vq_load(vq_avail_event(&d->ring)), now, old);
	return (due || now != old) && !(vq_load(&d->ring.used->flags) & VRING_USED_F_NO_NOTIFY);
}

static void release(struct vq_driver *d, uint16_t head)
{
	struct vq_slot *s = &d->slot[head];
	uint16_t last = head;

	for (uint16_t i = 1; i < s->descs; i++)
		last = d->slot[last].next;
	d->slot[last].next = d->free_head;
	d->free_head = head;
	d->nr_free += s->descs;
	s->in_flight = false;
	d->in_flight--;
}

static enum vq_fault judge(struct vq_driver *d, struct vq_reply *r)
{
	struct vq_slot *s;

	if (r->id >= d->ring.size)
		return VQ_FAULT_USED_HEAD;
	s = &d->slot[r->id];
	if (!s->in_flight)
		return VQ_FAULT_USED_UNKNOWN;
	r->token = s->token;
	r->write_bytes = s->write_bytes;
	release(d, (uint16_t)r->id);
	return r->len > r->write_bytes ? VQ_FAULT_USED_LENGTH : VQ_FAULT_NONE;
}

int vq_driver_get_used(struct vq_driver *d, struct vq_reply *r)
{
	uint16_t n = (uint16_t)(vq_load_acquire(&d->ring.used->idx) - d->last_used);
	const struct vring_used_elem *e;

	memset(r, 0, sizeof(*r));
	if (n > d->ring.size || d->broken) {
		d->broken = true;
		r->fault = d->fault = VQ_FAULT_USED_JUMP;
		return -EBADMSG;
	}
	if (!n)
		return 0;
	e = &d->ring.used->ring[d->last_used++ & (d->ring.size - 1)];
	r->id = le32toh(__atomic_load_n(&e->id, __ATOMIC_RELAXED));
	r->len = le32toh(__atomic_load_n(&e->len, __ATOMIC_RELAXED));
	r->fault = judge(d, r);
	if (!r->fault)
		return 1;
	d->fault = (uint8_t)r->fault;
	return -EBADMSG;
}

bool vq_driver_has_used(const struct vq_driver *d)
{
	return !d->broken && vq_load(&d->ring.used->idx) != d->last_used;
}

void vq_driver_disable_calls(struct vq_driver *d)
{
	/* With EVENT_IDX the flags stay 0, the event is left behind what comes (2.7.7.1). */
	if (!d->event_idx)
		vq_store(&d->ring.avail->flags, VRING_AVAIL_F_NO_INTERRUPT);
}

bool vq_driver_enable_calls(struct vq_driver *d)
{
	if (d->event_idx)
		vq_store(vq_used_event(&d->ring), d->last_used);
	else
		vq_store(&d->ring.avail->flags, 0);
	vq_full_barrier();
	return vq_driver_has_used(d);
}

bool vq_driver_next_in_flight(const struct vq_driver *d, uint32_t *pos, uint16_t *head,
			      uint64_t *token)
{
	while (*pos < d->ring.size) {
		const struct vq_slot *s = &d->slot[(*pos)++];

		if (!s->in_flight)
			continue;
		*head = (uint16_t)(*pos - 1);
		*token = s->token;
		return true;
	}
	return false;
}
