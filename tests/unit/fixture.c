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
	static const char *const names[] = {"fuse_args_to_req", "virtqueue_add_sgs",
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
