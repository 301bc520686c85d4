// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"

#define SECOND 1000000000ULL

uint64_t fixture_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t fixture_below(uint64_t *state, uint64_t n)
{
	return n ? fixture_rand(state) % n : 0;
}

static void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort(); /* a test without memory has nothing to say */
	return p;
}

/* ---- the realistic guest ------------------------------------------------------------------- */

enum { OP_LOOKUP = 1, OP_GETATTR = 3, OP_OPEN = 14, OP_READ = 15, OP_WRITE = 16 };

/* A latency around @base with a tail: 1% five times, 0.1% thirty times as long. */
static uint64_t latency(uint64_t *rng, uint64_t base)
{
	uint64_t v = base / 2 + fixture_below(rng, base);
	uint64_t dice = fixture_below(rng, 1000);

	if (dice == 0)
		return v * 30;
	if (dice < 10)
		return v * 5;
	return v;
}

static struct vqs_snap_op *op_of(struct vqs_snap_queue *q, uint32_t opcode)
{
	struct vqs_snap_op *op;
	size_t i = 0;

	while (i < q->nr_ops && q->ops[i].opcode < opcode)
		i++;
	if (i < q->nr_ops && q->ops[i].opcode == opcode)
		return &q->ops[i];
	memmove(&q->ops[i + 1], &q->ops[i], (q->nr_ops - i) * sizeof(*q->ops));
	q->nr_ops++;
	op = &q->ops[i];
	*op = (struct vqs_snap_op){.opcode = opcode, .total = zalloc(1, sizeof(*op->total))};
	return op;
}

static void count_error(struct vqs_snap_queue *q, uint32_t err)
{
	if (!q->errors)
		q->errors = zalloc(4, sizeof(*q->errors));
	if (!q->nr_errors)
		q->errors[q->nr_errors++].err = err;
	q->errors[0].count++;
}

static void add_request(struct vqs_snap_queue *q, uint64_t *rng, bool hot)
{
	static const uint32_t opcodes[] = {OP_READ, OP_READ, OP_READ,    OP_READ,
					   OP_READ, OP_OPEN, OP_GETATTR, OP_LOOKUP};
	uint32_t opcode = opcodes[fixture_below(rng, ARRAY_SIZE(opcodes))];
	bool read = opcode == OP_READ, background = read && fixture_below(rng, 2);
	uint64_t input = latency(rng, hot ? 90000 : 4000), device = latency(rng, 210000);
	uint64_t complete = latency(rng, 3000), wait = background ? latency(rng, 60000) : 0;
	uint64_t total = wait + input + device + complete;

	q->submitted++;
	q->completed++;
	q->bytes_in += read ? 80 : 96;
	q->bytes_out += read ? 4096 + 16 : 144;
	if (background) {
		q->background++;
		vqs_hist_add(&q->hop[VQS_HOP_BACKGROUND], wait);
	} else {
		vqs_hist_add(&q->hop[VQS_HOP_WAKE], latency(rng, 9000));
	}
	vqs_hist_add(&q->hop[VQS_HOP_INPUT], input);
	vqs_hist_add(&q->hop[VQS_HOP_DEVICE], device);
	vqs_hist_add(&q->hop[VQS_HOP_COMPLETE], complete);
	vqs_hist_add(&q->hop[VQS_HOP_TOTAL], total);
	vqs_hist_add(op_of(q, opcode)->total, total);
	if (opcode == OP_LOOKUP && !fixture_below(rng, 20))
		count_error(q, 2);
	if (!fixture_below(rng, 3))
		q->kicks++;
	if (!fixture_below(rng, 4)) {
		q->interrupts++;
		q->done_works++;
		vqs_hist_add(&q->hop[VQS_HOP_IRQ], latency(rng, 2500));
	}
	if (hot && !fixture_below(rng, 400)) {
		q->ring_full++;
		vqs_hist_add(&q->hop[VQS_HOP_RING_FULL], latency(rng, 200000));
	}
}

static void add_wait(struct vqs_snap_lock *l, uint64_t *rng, uint64_t base)
{
	uint64_t wait = latency(rng, base);

	l->contended++;
	if (fixture_below(rng, 4))
		l->submit_wait_ns += wait;
	vqs_hist_add(&l->wait, wait);
}

static void init_queue(struct vqs_snap_queue *q, uint32_t slot, uint32_t index)
{
	q->slot = slot;
	q->index = index;
	q->ring_size = 1024;
	if (index)
		snprintf(q->name, sizeof(q->name), "requests.%u", index - 1);
	else
		snprintf(q->name, sizeof(q->name), "hiprio");
	for (size_t i = 0; i < VQS_QUEUE_LOCKS; i++) {
		q->lock[i].kind = (enum vqs_lock_kind)i;
		q->lock[i].learnt = index != 0;
	}
	q->ops = zalloc(VQS_OPS, sizeof(*q->ops));
}

static void init_device(struct vqs_snap_device *d, uint32_t slot, const char *tag, uint32_t queues,
			uint32_t first_slot)
{
	d->slot = slot;
	snprintf(d->tag, sizeof(d->tag), "%s", tag);
	d->virtio_index = 3 + slot;
	d->request_queues = queues;
	d->max_background = 64;
	d->mounted = true;
	d->nr_map = 8;
	d->map = zalloc(d->nr_map, sizeof(*d->map));
	for (size_t cpu = 0; cpu < d->nr_map; cpu++)
		d->map[cpu] = 1 + (uint32_t)(cpu * queues / d->nr_map);
	d->nr_queues = queues + 1;
	d->queues = zalloc(d->nr_queues, sizeof(*d->queues));
	for (size_t i = 0; i < d->nr_queues; i++)
		init_queue(&d->queues[i], first_slot + (uint32_t)i, (uint32_t)i);
	for (size_t i = 0; i < VQS_DEVICE_LOCKS; i++) {
		d->lock[i].kind = (enum vqs_lock_kind)(i + VQS_QUEUE_LOCKS);
		d->lock[i].learnt = true;
	}
}

static void add_second(struct vqs_snap_device *d, uint64_t *rng, uint64_t load)
{
	for (size_t i = 1; i < d->nr_queues; i++) {
		struct vqs_snap_queue *q = &d->queues[i];
		bool hot = i == 1 && load > 100;
		uint64_t requests = hot ? load * 6 : load / 2 + fixture_below(rng, load);

		for (uint64_t n = 0; n < requests; n++) {
			add_request(q, rng, hot);
			if (hot && !fixture_below(rng, 5))
				add_wait(&q->lock[VQS_LOCK_VQ], rng, 21000);
			if (hot && !fixture_below(rng, 60))
				add_wait(&q->lock[VQS_LOCK_PQUEUE], rng, 900);
			if (load > 100 && !fixture_below(rng, 30))
				add_wait(&d->lock[0], rng, 700);
			if (load > 100 && !fixture_below(rng, 12))
				add_wait(&d->lock[1], rng, 16000);
		}
		d->queues[0].submitted += requests / 50;
		d->queues[0].completed += requests / 50;
		d->queues[0].bytes_in += requests / 50 * 56;
		d->queues[0].kicks += requests / 60;
		d->queues[0].interrupts += requests / 70;
		d->queues[0].done_works += requests / 70;
	}
}

static void add_levels(struct vqs_snap_device *d, uint64_t load)
{
	for (size_t i = 0; i < d->nr_queues; i++) {
		struct vqs_snap_queue *q = &d->queues[i];

		if (i && load > 100) {
			q->in_flight = i == 1 ? 31 : 3;
			q->completing = 1;
			q->submitted += q->in_flight;
		}
		q->in_flight_kernel = (int64_t)(q->in_flight + q->completing);
		q->lock[VQS_LOCK_VQ].acquisitions = 2 * q->submitted + 2 * q->done_works;
		q->lock[VQS_LOCK_PQUEUE].acquisitions = i ? 3 * q->submitted : 0;
		d->lock[0].acquisitions += q->submitted;
		d->lock[1].acquisitions += 2 * q->background;
		if (!i || !q->submitted)
			continue;
		q->nr_cpus = 0;
		q->cpus = zalloc(d->nr_map, sizeof(*q->cpus));
		for (size_t cpu = 0; cpu < d->nr_map; cpu++)
			if (d->map[cpu] == q->index)
				q->cpus[q->nr_cpus++].cpu = (uint32_t)cpu;
		for (size_t c = 0; c < q->nr_cpus; c++)
			q->cpus[c].requests = q->submitted / q->nr_cpus;
	}
}

static void add_stack(struct vqs_snapshot *s)
{
	static const char *const frames[] = {
		"native_queued_spin_lock_slowpath+0x0",
		"_raw_spin_lock+0x2e",
		"virtio_fs_enqueue_req+0x1c2",
		"virtio_fs_send_req+0x76",
		"fuse_simple_request+0x1b4",
		"fuse_do_getattr+0xf1",
		"vfs_statx+0xa4",
		"do_syscall_64+0x82",
	};
	const struct vqs_snap_queue *hot = &s->devices[0].queues[1];
	struct vqs_snap_stack *k;

	s->nr_stacks = 1;
	s->stacks = k = zalloc(1, sizeof(*k));
	k->kind = VQS_LOCK_VQ;
	k->device = s->devices[0].slot;
	k->queue = hot->slot;
	k->waits = hot->lock[VQS_LOCK_VQ].contended / 2;
	k->wait_ns = hot->lock[VQS_LOCK_VQ].wait.sum / 2;
	k->depth = ARRAY_SIZE(frames);
	k->frame = zalloc(k->depth, sizeof(*k->frame));
	for (size_t i = 0; i < k->depth; i++)
		snprintf(k->frame[i], sizeof(k->frame[i]), "%s", frames[i]);
}

static void add_self(struct vqs_snapshot *s)
{
	static const char *const names[] = {"fuse_request_alloc", "virtqueue_add_sgs",
					    "virtqueue_get_buf", "fuse_request_end"};
	uint64_t runs = 0;

	for (size_t d = 0; d < s->nr_devices; d++)
		for (size_t q = 0; q < s->devices[d].nr_queues; q++)
			runs += s->devices[d].queues[q].submitted;
	s->self.bpf_memory_bytes = 5 << 20;
	s->self.timed = true;
	s->self.nr_progs = ARRAY_SIZE(names);
	s->self.progs = zalloc(s->self.nr_progs, sizeof(*s->self.progs));
	for (size_t i = 0; i < s->self.nr_progs; i++) {
		struct vqs_snap_prog *p = &s->self.progs[i];

		snprintf(p->name, sizeof(p->name), "%s", names[i]);
		snprintf(p->rung, sizeof(p->rung), "%s", i == 1 ? "fentry" : "fexit");
		p->runs = runs;
		p->run_ns = runs * (20 + 7 * i);
	}
}

struct vqs_snapshot *fixture_guest(unsigned int seconds)
{
	struct vqs_snapshot *s = obs_snapshot_new();
	uint64_t rng = 20240611;

	if (!s)
		return NULL;
	s->mono_ns = 1234 * SECOND + seconds * SECOND;
	s->real_ns = 1750000000 * SECOND + seconds * SECOND;
	snprintf(s->kernel, sizeof(s->kernel), "6.12.38+deb13-cloud-amd64");
	snprintf(s->lock_rung, sizeof(s->lock_rung), "fentry");
	s->lock_complete = true;
	s->nr_devices = 2;
	s->devices = zalloc(s->nr_devices, sizeof(*s->devices));
	init_device(&s->devices[0], 0, "data", 4, 0);
	init_device(&s->devices[1], 1, "home", 1, 5);
	for (unsigned int i = 0; i < seconds; i++) {
		add_second(&s->devices[0], &rng, 900);
		add_second(&s->devices[1], &rng, 12);
	}
	add_levels(&s->devices[0], seconds ? 900 : 0);
	add_levels(&s->devices[1], 12);
	if (seconds)
		add_stack(s);
	add_self(s);
	return s;
}

/* ---- random ones --------------------------------------------------------------------------- */

static uint64_t any64(uint64_t *rng)
{
	switch (fixture_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return fixture_rand(rng);
	case 3:
		return 1ULL << fixture_below(rng, 64);
	default:
		return fixture_below(rng, 100000);
	}
}

static uint32_t any32(uint64_t *rng)
{
	return (uint32_t)any64(rng);
}

/* UTF-8 of at most @size - 1 bytes, some with quotes, backslashes and letters of several bytes. */
static void any_text(uint64_t *rng, char *out, size_t size)
{
	static const char *const pieces[] = {"a", "Z", "0", "-", " ", "/", "\"", "\\", "é", "日"};
	size_t want = fixture_below(rng, 3) ? fixture_below(rng, size) : size - 1, len = 0;

	while (len < want) {
		const char *p = pieces[fixture_below(rng, ARRAY_SIZE(pieces))];

		if (len + strlen(p) > want)
			p = "x";
		memcpy(out + len, p, strlen(p));
		len += strlen(p);
	}
	out[len] = '\0';
}

static void any_hist(uint64_t *rng, struct vqs_hist *h)
{
	uint64_t n = fixture_below(rng, 4) ? fixture_below(rng, 12) : 0;

	for (uint64_t i = 0; i < n; i++)
		vqs_hist_add(h, any64(rng));
	if (n && !fixture_below(rng, 6))
		h->bucket[fixture_below(rng, VQS_HIST_BUCKETS)] += any64(rng);
}

static void any_lock(uint64_t *rng, struct vqs_snap_lock *l, enum vqs_lock_kind kind)
{
	l->kind = kind;
	l->contended = any64(rng);
	l->acquisitions = any64(rng);
	l->submit_wait_ns = any64(rng);
	l->learnt = fixture_below(rng, 2);
	any_hist(rng, &l->wait);
}

static void any_ops(uint64_t *rng, struct vqs_snap_queue *q)
{
	q->ops = zalloc(VQS_OPS, sizeof(*q->ops));
	for (uint32_t op = 1; op < VQS_OPS; op += 1 + (uint32_t)fixture_below(rng, 30)) {
		struct vqs_snap_op *o = &q->ops[q->nr_ops++];

		o->opcode = op;
		o->total = zalloc(1, sizeof(*o->total));
		any_hist(rng, o->total);
		if (fixture_below(rng, 3))
			continue;
		o->hops = zalloc(VQS_HOPS, sizeof(*o->hops));
		for (size_t h = 0; h < VQS_HOPS; h++)
			any_hist(rng, &o->hops[h]);
	}
}

static void any_lists(uint64_t *rng, struct vqs_snap_queue *q)
{
	q->errors = zalloc(VQS_ERRNOS, sizeof(*q->errors));
	for (uint32_t e = 1 + (uint32_t)fixture_below(rng, 40); e < VQS_ERRNOS;
	     e += 1 + (uint32_t)fixture_below(rng, 90))
		q->errors[q->nr_errors++] = (struct vqs_snap_errno){e, any64(rng)};
	q->cpus = zalloc(32, sizeof(*q->cpus));
	for (uint32_t c = (uint32_t)fixture_below(rng, 3); c < 512 && q->nr_cpus < 32;
	     c += 1 + (uint32_t)fixture_below(rng, fixture_below(rng, 2) ? 2 : 300))
		q->cpus[q->nr_cpus++] = (struct vqs_snap_cpu){c, any64(rng)};
}

static void any_queue(uint64_t *rng, struct vqs_snap_queue *q, uint32_t index)
{
	uint64_t *const counters[] = {
		&q->submitted,    &q->complete_only,
		&q->completed,    &q->aborted,
		&q->in_flight,    &q->completing,
		&q->waiting_ring, &q->start_missed,
		&q->background,   &q->bytes_in,
		&q->bytes_out,    &q->ring_full,
		&q->kicks,        &q->interrupts,
		&q->done_works,   &q->failed_before_ring,
		&q->end_missed,   &q->untracked_slot_taken,
	};

	q->slot = any32(rng);
	q->index = index;
	any_text(rng, q->name, sizeof(q->name));
	q->ring_size = any32(rng);
	q->removed = !fixture_below(rng, 5);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		*counters[i] = any64(rng);
	q->in_flight_kernel = fixture_below(rng, 2) ? (int64_t)(any64(rng) >> 1) : -1;
	for (size_t h = 0; h < VQS_HOPS; h++)
		any_hist(rng, &q->hop[h]);
	any_ops(rng, q);
	any_lists(rng, q);
	for (size_t i = 0; i < VQS_QUEUE_LOCKS; i++)
		any_lock(rng, &q->lock[i], (enum vqs_lock_kind)i);
}

static void any_device(uint64_t *rng, struct vqs_snap_device *d)
{
	uint32_t index = (uint32_t)fixture_below(rng, 2);

	d->slot = any32(rng);
	any_text(rng, d->tag, sizeof(d->tag));
	d->virtio_index = any32(rng);
	d->request_queues = any32(rng);
	d->max_background = any32(rng);
	d->mounted = fixture_below(rng, 2);
	d->failed_before_queue = any64(rng);
	d->nr_map = fixture_below(rng, 2) * fixture_below(rng, 70);
	d->map = zalloc(d->nr_map, sizeof(*d->map));
	for (size_t i = 0; i < d->nr_map; i++)
		d->map[i] = (uint32_t)fixture_below(rng, 5);
	d->queues = zalloc(4, sizeof(*d->queues));
	d->nr_queues = fixture_below(rng, 5);
	for (size_t i = 0; i < d->nr_queues; i++) {
		any_queue(rng, &d->queues[i], index);
		index += 1 + (uint32_t)fixture_below(rng, 80);
	}
	for (size_t i = 0; i < VQS_DEVICE_LOCKS; i++)
		any_lock(rng, &d->lock[i], (enum vqs_lock_kind)(i + VQS_QUEUE_LOCKS));
}

static void any_stack(uint64_t *rng, struct vqs_snap_stack *k)
{
	k->kind = (enum vqs_lock_kind)fixture_below(rng, VQS_LOCK_KINDS);
	k->device = any32(rng);
	k->queue = fixture_below(rng, 2) ? UINT32_MAX : any32(rng);
	k->waits = any64(rng);
	k->wait_ns = any64(rng);
	k->depth = fixture_below(rng, VQS_STACK_DEPTH + 1);
	k->frame = zalloc(k->depth, sizeof(*k->frame));
	for (size_t i = 0; i < k->depth; i++)
		any_text(rng, k->frame[i], sizeof(k->frame[i]));
}

static void any_self(uint64_t *rng, struct vqs_snap_self *self)
{
	self->bpf_memory_bytes = any64(rng);
	self->timed = fixture_below(rng, 2);
	self->nr_progs = fixture_below(rng, 4);
	self->progs = zalloc(self->nr_progs, sizeof(*self->progs));
	for (size_t i = 0; i < self->nr_progs; i++) {
		struct vqs_snap_prog *p = &self->progs[i];

		any_text(rng, p->name, sizeof(p->name));
		any_text(rng, p->rung, sizeof(p->rung));
		p->runs = self->timed ? any64(rng) : 0;
		p->run_ns = self->timed ? any64(rng) : 0;
		p->recursion_misses = any64(rng);
	}
}

struct vqs_snapshot *fixture_random(uint64_t seed)
{
	struct vqs_snapshot *s = obs_snapshot_new();
	uint64_t state = seed, *rng = &state;

	if (!s)
		return NULL;
	s->mono_ns = any64(rng);
	s->real_ns = any64(rng);
	s->interval_ns = any64(rng);
	any_text(rng, s->kernel, sizeof(s->kernel));
	any_text(rng, s->lock_rung, sizeof(s->lock_rung));
	s->lock_complete = fixture_below(rng, 2);
	s->untracked_table_full = any64(rng);
	s->ops_full = any64(rng);
	s->trace_lost = any64(rng);
	s->index_full = any64(rng);
	s->lock_nested = any64(rng);
	s->recursion = any64(rng);
	s->nr_devices = fixture_below(rng, 4);
	s->devices = zalloc(s->nr_devices, sizeof(*s->devices));
	for (size_t i = 0; i < s->nr_devices; i++)
		any_device(rng, &s->devices[i]);
	s->nr_stacks = fixture_below(rng, 3);
	s->stacks = zalloc(s->nr_stacks, sizeof(*s->stacks));
	for (size_t i = 0; i < s->nr_stacks; i++)
		any_stack(rng, &s->stacks[i]);
	any_self(rng, &s->self);
	return s;
}

/* ---- comparison ---------------------------------------------------------------------------- */

struct where {
	char *text;
	size_t len;
};

static bool differs(struct where *w, const char *what, size_t i)
{
	snprintf(w->text, w->len, "%s %zu", what, i);
	return false;
}

static bool same_ops(const struct vqs_snap_queue *a, const struct vqs_snap_queue *b)
{
	if (a->nr_ops != b->nr_ops)
		return false;
	for (size_t i = 0; i < a->nr_ops; i++) {
		const struct vqs_snap_op *x = &a->ops[i], *y = &b->ops[i];

		if (x->opcode != y->opcode || !x->total != !y->total || !x->hops != !y->hops)
			return false;
		if (x->total && memcmp(x->total, y->total, sizeof(*x->total)))
			return false;
		if (x->hops && memcmp(x->hops, y->hops, VQS_HOPS * sizeof(*x->hops)))
			return false;
	}
	return true;
}

static bool same_errors(const struct vqs_snap_queue *a, const struct vqs_snap_queue *b)
{
	if (a->nr_errors != b->nr_errors)
		return false;
	for (size_t i = 0; i < a->nr_errors; i++)
		if (a->errors[i].err != b->errors[i].err ||
		    a->errors[i].count != b->errors[i].count)
			return false;
	return true;
}

static bool same_cpus(const struct vqs_snap_queue *a, const struct vqs_snap_queue *b)
{
	if (a->nr_cpus != b->nr_cpus)
		return false;
	for (size_t i = 0; i < a->nr_cpus; i++)
		if (a->cpus[i].cpu != b->cpus[i].cpu || a->cpus[i].requests != b->cpus[i].requests)
			return false;
	return true;
}

static bool same_locks(const struct vqs_snap_lock *a, const struct vqs_snap_lock *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].kind != b[i].kind || a[i].contended != b[i].contended ||
		    a[i].acquisitions != b[i].acquisitions || a[i].learnt != b[i].learnt ||
		    a[i].submit_wait_ns != b[i].submit_wait_ns ||
		    memcmp(&a[i].wait, &b[i].wait, sizeof(a[i].wait)))
			return false;
	return true;
}

static bool same_queue(const struct vqs_snap_queue *a, const struct vqs_snap_queue *b,
		       struct where *w)
{
	const size_t counters = offsetof(struct vqs_snap_queue, submitted);

	if (a->slot != b->slot || a->index != b->index || a->ring_size != b->ring_size ||
	    a->removed != b->removed || strcmp(a->name, b->name))
		return differs(w, "identity of queue", a->index);
	/* From the first counter to the histograms there are 64-bit words only. */
	if (memcmp(&a->submitted, &b->submitted, offsetof(struct vqs_snap_queue, hop) - counters))
		return differs(w, "counters of queue", a->index);
	if (memcmp(a->hop, b->hop, sizeof(a->hop)))
		return differs(w, "hops of queue", a->index);
	if (!same_ops(a, b))
		return differs(w, "opcodes of queue", a->index);
	if (!same_errors(a, b))
		return differs(w, "errors of queue", a->index);
	if (!same_cpus(a, b))
		return differs(w, "CPUs of queue", a->index);
	if (!same_locks(a->lock, b->lock, VQS_QUEUE_LOCKS))
		return differs(w, "locks of queue", a->index);
	return true;
}

static bool same_device(const struct vqs_snap_device *a, const struct vqs_snap_device *b,
			struct where *w)
{
	if (a->slot != b->slot || strcmp(a->tag, b->tag) || a->virtio_index != b->virtio_index ||
	    a->request_queues != b->request_queues || a->max_background != b->max_background ||
	    a->mounted != b->mounted || a->failed_before_queue != b->failed_before_queue)
		return differs(w, "device", a->slot);
	if (a->nr_map != b->nr_map ||
	    (a->nr_map && memcmp(a->map, b->map, a->nr_map * sizeof(*a->map))))
		return differs(w, "map of device", a->slot);
	if (!same_locks(a->lock, b->lock, VQS_DEVICE_LOCKS))
		return differs(w, "locks of device", a->slot);
	if (a->nr_queues != b->nr_queues)
		return differs(w, "number of queues of device", a->slot);
	for (size_t i = 0; i < a->nr_queues; i++)
		if (!same_queue(&a->queues[i], &b->queues[i], w))
			return false;
	return true;
}

static bool same_stack(const struct vqs_snap_stack *a, const struct vqs_snap_stack *b)
{
	if (a->kind != b->kind || a->device != b->device || a->queue != b->queue ||
	    a->waits != b->waits || a->wait_ns != b->wait_ns || a->depth != b->depth)
		return false;
	for (size_t i = 0; i < a->depth; i++)
		if (strcmp(a->frame[i], b->frame[i]))
			return false;
	return true;
}

static bool same_self(const struct vqs_snap_self *a, const struct vqs_snap_self *b)
{
	if (a->bpf_memory_bytes != b->bpf_memory_bytes || a->timed != b->timed ||
	    a->nr_progs != b->nr_progs)
		return false;
	for (size_t i = 0; i < a->nr_progs; i++) {
		const struct vqs_snap_prog *x = &a->progs[i], *y = &b->progs[i];

		if (strcmp(x->name, y->name) || strcmp(x->rung, y->rung) || x->runs != y->runs ||
		    x->run_ns != y->run_ns || x->recursion_misses != y->recursion_misses)
			return false;
	}
	return true;
}

bool fixture_equal(const struct vqs_snapshot *a, const struct vqs_snapshot *b, char *where,
		   size_t where_len)
{
	struct where w = {where, where_len};

	if (a->mono_ns != b->mono_ns || a->real_ns != b->real_ns ||
	    a->interval_ns != b->interval_ns || strcmp(a->kernel, b->kernel) ||
	    strcmp(a->lock_rung, b->lock_rung) || a->lock_complete != b->lock_complete)
		return differs(&w, "head", 0);
	if (a->untracked_table_full != b->untracked_table_full || a->ops_full != b->ops_full ||
	    a->trace_lost != b->trace_lost || a->index_full != b->index_full ||
	    a->lock_nested != b->lock_nested || a->recursion != b->recursion)
		return differs(&w, "losses", 0);
	if (a->nr_devices != b->nr_devices || a->nr_stacks != b->nr_stacks)
		return differs(&w, "number of devices or stacks", a->nr_devices);
	for (size_t i = 0; i < a->nr_devices; i++)
		if (!same_device(&a->devices[i], &b->devices[i], &w))
			return false;
	for (size_t i = 0; i < a->nr_stacks; i++)
		if (!same_stack(&a->stacks[i], &b->stacks[i]))
			return differs(&w, "stack", i);
	return same_self(&a->self, &b->self) || differs(&w, "self", 0);
}
