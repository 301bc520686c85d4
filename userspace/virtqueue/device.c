// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtqueue/device.h"

#include <errno.h>
#include <string.h>

int vq_device_start(struct vq_device *d, const struct vq_ring *r, const struct vq_mem *mem,
		    uint64_t features, uint16_t base)
{
	if (vq_ring_check(r))
		return -EINVAL;
	memset(d, 0, sizeof(*d));
	d->ring = *r;
	d->mem = mem;
	d->event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1;
	d->indirect = features >> VIRTIO_RING_F_INDIRECT_DESC & 1;
	d->pop.last_avail = d->pop.seen_avail = base;
	d->push.used = d->push.published = d->push.signalled = vq_load(&r->used->idx);
	/* With EVENT_IDX the flags must be 0 (2.7.10.2). */
	vq_store(&r->used->flags, 0);
	vq_device_enable_kicks(d);
	return 0;
}

/* --- pop side -------------------------------------------------------------------------------- */

/* A table of descriptors: the ring's own, or an indirect one, which may lie anywhere. */
struct table {
	const void *at; /* NULL: not in one piece, read by guest-physical address */
	uint64_t gpa;
	uint32_t entries;
	bool indirect;
};

/*
 * Copies bytes that the guest may be changing. What the compiler knows of the copy ends here: it
 * must not read the original a second time, after the check of the first.
 */
static void copy_once(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static bool read_entry(struct vq_device *d, const struct table *t, uint32_t i,
		       struct vring_desc *out)
{
	struct iovec iov[sizeof(*out)];
	size_t done = 0;
	int n;

	if (t->at) {
		copy_once(out, (const char *)t->at + (size_t)i * sizeof(*out), sizeof(*out));
	} else {
		n = vq_mem_translate(d->mem, &d->pop.hint, t->gpa + (uint64_t)i * sizeof(*out),
				     sizeof(*out), iov, sizeof(*out));
		if (n < 0)
			return false;
		for (int k = 0; k < n; done += iov[k++].iov_len)
			copy_once((char *)out + done, iov[k].iov_base, iov[k].iov_len);
	}
	out->addr = le64toh(out->addr);
	out->len = le32toh(out->len);
	out->flags = le16toh(out->flags);
	out->next = le16toh(out->next);
	return true;
}

static enum vq_fault add_buffer(struct vq_device *d, struct vq_chain *c, bool *writing,
				const struct vring_desc *e)
{
	uint32_t limit = d->ring.size > VQ_CHAIN_MAX ? d->ring.size : VQ_CHAIN_MAX;
	uint32_t at = c->nr_read + c->nr_write, *bytes, *nr;
	bool write = e->flags & VRING_DESC_F_WRITE;
	int n;

	if (c->descs == limit)
		return VQ_FAULT_TOO_LONG;
	c->descs++;
	if (*writing && !write)
		return VQ_FAULT_ORDER; /* 2.7.4.2 */
	*writing = write;
	bytes = write ? &c->write_bytes : &c->read_bytes;
	nr = write ? &c->nr_write : &c->nr_read;
	if (e->len > UINT32_MAX - *bytes)
		return VQ_FAULT_TOO_BIG; /* 2.7.5.1 */
	n = vq_mem_translate(d->mem, &d->pop.hint, e->addr, e->len, c->iov + at, c->max_iov - at);
	if (n < 0)
		return n == -ENOSPC ? VQ_FAULT_TOO_FRAGMENTED : VQ_FAULT_ADDRESS;
	*bytes += e->len;
	*nr += (uint32_t)n;
	return VQ_FAULT_NONE;
}

/* The table that @e refers to, checked as 2.7.5.3.1 binds the driver. */
static enum vq_fault find_table(struct vq_device *d, const struct vring_desc *e, struct table *t)
{
	struct iovec iov[VQ_MEM_REGIONS];
	int n;

	if (!d->indirect)
		return VQ_FAULT_INDIRECT_OFF;
	if (e->flags & VRING_DESC_F_NEXT)
		return VQ_FAULT_INDIRECT_NEXT;
	if (!e->len || e->len % sizeof(*e))
		return VQ_FAULT_INDIRECT_LENGTH;
	n = vq_mem_translate(d->mem, &d->pop.hint, e->addr, e->len, iov, VQ_MEM_REGIONS);
	if (n < 0)
		return VQ_FAULT_INDIRECT_ADDRESS;
	*t = (struct table){
		.at = n == 1 ? iov[0].iov_base : NULL,
		.gpa = e->addr,
		.entries = e->len / (uint32_t)sizeof(*e),
		.indirect = true,
	};
	return VQ_FAULT_NONE;
}

static enum vq_fault walk(struct vq_device *d, struct vq_chain *c)
{
	struct table t = {.at = d->ring.desc, .entries = d->ring.size};
	uint32_t i = c->head, left = t.entries;
	enum vq_fault f = VQ_FAULT_NONE;
	bool writing = false;
	struct vring_desc e;

	while (left--) {
		if (!read_entry(d, &t, i, &e))
			return VQ_FAULT_INDIRECT_ADDRESS;
		if (e.flags & VRING_DESC_F_INDIRECT) {
			f = t.indirect ? VQ_FAULT_INDIRECT_NESTED : find_table(d, &e, &t);
			if (f)
				return f;
			c->indirect = true;
			i = 0;
			left = t.entries;
			continue;
		}
		f = add_buffer(d, c, &writing, &e);
		if (f || !(e.flags & VRING_DESC_F_NEXT))
			return f;
		if (e.next >= t.entries)
			return VQ_FAULT_NEXT;
		i = e.next;
	}
	return VQ_FAULT_LOOP;
}

static int broken(struct vq_device *d, enum vq_fault f)
{
	d->pop.fault = (uint8_t)f;
	return -EBADMSG;
}

/* 1: there are entries to take, 0: none, -EBADMSG. */
static int look(struct vq_device *d)
{
	struct vq_pop *p = &d->pop;

	if (p->last_avail != p->seen_avail)
		return 1;
	p->seen_avail = vq_load_acquire(&d->ring.avail->idx);
	if ((uint16_t)(p->seen_avail - p->last_avail) > d->ring.size)
		return broken(d, VQ_FAULT_AVAIL_JUMP);
	return p->last_avail != p->seen_avail;
}

int vq_device_pop(struct vq_device *d, struct vq_chain *c)
{
	struct vq_pop *p = &d->pop;
	enum vq_fault f;
	int found;

	if (p->fault)
		return -EBADMSG;
	found = look(d);
	if (found <= 0)
		return found;
	c->head = vq_load(&d->ring.avail->ring[p->last_avail & (d->ring.size - 1)]);
	if (c->head >= d->ring.size)
		return broken(d, VQ_FAULT_HEAD);
	c->nr_read = c->nr_write = c->read_bytes = c->write_bytes = c->descs = 0;
	c->indirect = false;
	f = walk(d, c);
	if (f)
		return broken(d, f);
	/* Others read it for vq_device_depth(). */
	__atomic_store_n(&p->last_avail, (uint16_t)(p->last_avail + 1), __ATOMIC_RELAXED);
	p->popped++;
	return 1;
}

uint32_t vq_device_depth(const struct vq_device *d)
{
	uint16_t last = __atomic_load_n(&d->pop.last_avail, __ATOMIC_RELAXED);
	uint16_t n = (uint16_t)(vq_load(&d->ring.avail->idx) - last);

	return n > d->ring.size ? 0 : n;
}

bool vq_device_has_avail(struct vq_device *d)
{
	return !d->pop.fault && vq_load(&d->ring.avail->idx) != d->pop.last_avail;
}

void vq_device_disable_kicks(struct vq_device *d)
{
	d->pop.kicks_off = true;
	/* With EVENT_IDX the event is left where it is, behind what comes (2.7.10.2). */
	if (!d->event_idx)
		vq_store(&d->ring.used->flags, VRING_USED_F_NO_NOTIFY);
}

bool vq_device_enable_kicks(struct vq_device *d)
{
	d->pop.kicks_off = false;
	if (d->event_idx)
		vq_store(vq_avail_event(&d->ring), d->pop.last_avail);
	else
		vq_store(&d->ring.used->flags, 0);
	vq_full_barrier();
	return vq_device_has_avail(d);
}

/* --- used side ------------------------------------------------------------------------------- */

int vq_device_push(struct vq_device *d, const struct vq_used *u, uint32_t n)
{
	struct vq_push *p = &d->push;
	uint32_t size = d->ring.size;

	if (n > size - (uint16_t)(p->used - p->published))
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++)
		if (u[i].head >= size)
			return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		struct vring_used_elem *e = &d->ring.used->ring[p->used++ & (size - 1)];

		__atomic_store_n(&e->id, htole32(u[i].head), __ATOMIC_RELAXED);
		__atomic_store_n(&e->len, htole32(u[i].len), __ATOMIC_RELAXED);
	}
	p->pushed += n;
	return 0;
}

uint32_t vq_device_publish(struct vq_device *d)
{
	struct vq_push *p = &d->push;
	uint16_t n = (uint16_t)(p->used - p->published);

	if (!n)
		return 0;
	/* 2^16 entries without a decision: which ones were passed is no longer known. */
	if ((uint16_t)(p->used - p->signalled) < n)
		p->signalled_valid = false;
	p->published = p->used;
	vq_store_release(&d->ring.used->idx, p->published);
	return n;
}

bool vq_device_should_call(struct vq_device *d)
{
	struct vq_push *p = &d->push;
	uint16_t now = p->published, old = p->signalled;
	bool valid = p->signalled_valid;

	vq_full_barrier();
	p->signalled = now;
	p->signalled_valid = true;
	if (d->event_idx)
		return !valid || vq_need_event(vq_load(vq_used_event(&d->ring)), now, old);
	return (!valid || now != old) &&
	       !(vq_load(&d->ring.avail->flags) & VRING_AVAIL_F_NO_INTERRUPT);
}

int vq_device_finish(struct vq_device *d, uint16_t head, uint32_t len)
{
	struct vq_used u = {.head = head, .len = len};
	int err = vq_device_push(d, &u, 1);

	if (err)
		return err;
	vq_device_publish(d);
	return vq_device_should_call(d);
}
