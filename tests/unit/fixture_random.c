// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots at random: whatever the contract allows. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"

static void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort(); /* a test without memory has nothing to say */
	return p;
}

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
	s->stack_failed = any64(rng);
	s->wake_missed = any64(rng);
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
