// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps -> snapshot. The only place that reads the guest maps' figures. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/hist.h"
#include "observe/acquisitions.h"
#include "observe/devices.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

static int fill_lock(const struct obs_guest *g, uint32_t slot, enum vqs_lock_kind kind,
		     struct vqs_snap_lock *out)
{
	const struct vqs_lock *l = (const struct vqs_lock *)guest_map(g, MAP_LOCKS) + slot;

	out->kind = kind;
	out->contended = l->contended;
	out->submit_wait_ns = l->submit_wait_ns;
	out->learnt = l->addr != 0;
	out->wait = l->wait;
	return 0;
}

static int fill_errors(const struct obs_guest *g, struct vqs_snap_queue *q)
{
	const uint64_t *errors =
		(const uint64_t *)guest_map(g, MAP_ERRORS) + (size_t)q->slot * VQS_ERRNOS;
	size_t n = 0;

	for (size_t e = 0; e < VQS_ERRNOS; e++)
		n += errors[e] != 0;
	if (!n)
		return 0;
	q->errors = calloc(n, sizeof(*q->errors));
	if (!q->errors)
		return -ENOMEM;
	for (uint32_t e = 0; e < VQS_ERRNOS && q->nr_errors < n; e++)
		if (errors[e])
			q->errors[q->nr_errors++] = (struct vqs_snap_errno){e, errors[e]};
	return 0;
}

static int fill_cpus(const struct obs_guest *g, struct vqs_snap_queue *q)
{
	const uint64_t *row =
		(const uint64_t *)guest_map(g, MAP_CPU_QUEUE) + (size_t)q->slot * g->dims.cpus;
	size_t n = 0;

	for (size_t c = 0; c < g->dims.cpus; c++)
		n += row[c] != 0;
	if (!n)
		return 0;
	q->cpus = calloc(n, sizeof(*q->cpus));
	if (!q->cpus)
		return -ENOMEM;
	for (uint32_t c = 0; c < g->dims.cpus && q->nr_cpus < n; c++)
		if (row[c])
			q->cpus[q->nr_cpus++] = (struct vqs_snap_cpu){c, row[c]};
	return 0;
}

static int fill_op(const struct obs_guest *g, struct vqs_snap_queue *q, uint32_t op,
		   uint32_t pool_slot)
{
	const struct vqs_hist *pool = guest_map(g, MAP_OP_TOTALS);
	const struct vqs_hist *hops = guest_map(g, MAP_OP_HOPS);
	struct vqs_snap_op *out = &q->ops[q->nr_ops];

	if (pool_slot >= g->dims.max_ops)
		return 0;
	*out = (struct vqs_snap_op){.opcode = op, .total = malloc(sizeof(*out->total))};
	if (!out->total)
		return -ENOMEM;
	*out->total = pool[pool_slot];
	q->nr_ops++;
	/* The queue's total is the sum over its opcodes; BPF adds only what found no opcode slot.
	 */
	vqs_hist_merge(&q->hop[VQS_HOP_TOTAL], out->total);
	if (!g->dims.detail || (uint32_t)g->opts.detail_index != q->index)
		return 0;
	out->hops = malloc(VQS_HOPS * sizeof(*out->hops));
	if (!out->hops)
		return -ENOMEM;
	memcpy(out->hops, hops + (size_t)op * VQS_HOPS, VQS_HOPS * sizeof(*out->hops));
	return 0;
}

static int fill_ops(const struct obs_guest *g, struct vqs_snap_queue *q)
{
	const uint64_t *index =
		(const uint64_t *)guest_map(g, MAP_OP_INDEX) + (size_t)q->slot * VQS_OPS;
	size_t n = 0;
	int err = 0;

	for (size_t op = 0; op < VQS_OPS; op++)
		n += index[op] != 0;
	if (!n)
		return 0;
	q->ops = calloc(n, sizeof(*q->ops));
	if (!q->ops)
		return -ENOMEM;
	for (uint32_t op = 0; op < VQS_OPS && q->nr_ops < n && !err; op++)
		if (index[op])
			err = fill_op(g, q, op, index[op] - 1);
	return err;
}

static void fill_counters(const struct vqs_queue *from, struct vqs_snap_queue *q)
{
	q->index = from->index;
	q->ring_size = from->ring_size;
	q->removed = from->state == VQS_QUEUE_REMOVED;
	memcpy(q->name, from->name, sizeof(q->name) - 1);
	q->submitted = from->submitted;
	q->complete_only = from->complete_only;
	q->completed = from->completed;
	q->aborted = from->aborted;
	q->untracked_slot_taken = from->untracked_slot_taken;
	q->end_missed = from->end_missed;
	q->start_missed = from->start_missed;
	q->failed_before_ring = from->failed_before_ring;
	q->background = from->background;
	q->bytes_in = from->bytes_in;
	q->bytes_out = from->bytes_out;
	q->ring_full = from->ring_full;
	q->kicks = from->kicks;
	q->interrupts = from->interrupts;
	q->done_works = from->done_works;
	q->in_flight_kernel = q->removed ? -1 : (int64_t)from->in_flight_kernel;
	/* FORGETs have no fuse_req to follow: hiprio's depth is what the kernel counts. */
	if (!q->index && q->in_flight_kernel > 0)
		q->in_flight = q->in_flight_kernel;
}

static int fill_queue(const struct obs_guest *g, uint32_t slot, struct vqs_snap_queue *q)
{
	const struct vqs_queue *queues = guest_map(g, MAP_QUEUES);
	const struct vqs_hist *hists = guest_map(g, MAP_HISTS);
	int err;

	q->slot = slot;
	fill_counters(&queues[slot], q);
	memcpy(q->hop, hists + (size_t)slot * VQS_HOPS, sizeof(q->hop));
	fill_lock(g, slot * VQS_QUEUE_LOCKS + VQS_LOCK_VQ, VQS_LOCK_VQ, &q->lock[VQS_LOCK_VQ]);
	fill_lock(g, slot * VQS_QUEUE_LOCKS + VQS_LOCK_PQUEUE, VQS_LOCK_PQUEUE,
		  &q->lock[VQS_LOCK_PQUEUE]);
	err = fill_ops(g, q);
	if (!err)
		err = fill_errors(g, q);
	if (!err)
		err = fill_cpus(g, q);
	return err;
}

static uint32_t used_queues(const struct obs_guest *g)
{
	uint32_t n = g->skel->bss->globals.queues_used;

	return n < g->dims.max_queues ? n : g->dims.max_queues;
}

static int cmp_queue(const void *a, const void *b)
{
	const struct vqs_snap_queue *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The kernel's CPU -> queue map of @d, where it shows one. */
static int fill_map(const struct obs_guest *g, struct vqs_snap_device *d)
{
	for (size_t i = 0; i < g->sysfs.nr; i++) {
		const struct obs_device *from = &g->sysfs.device[i];

		if (from->virtio_index != d->virtio_index || !from->nr_map)
			continue;
		d->map = malloc(from->nr_map * sizeof(*d->map));
		if (!d->map)
			return -ENOMEM;
		d->nr_map = from->nr_map;
		for (size_t c = 0; c < d->nr_map; c++)
			d->map[c] = from->map[c] == OBS_NO_QUEUE ? 0 : from->map[c];
	}
	return 0;
}

/* The map changes with the device only: sysfs is read again when one appears. */
static int read_sysfs(struct obs_guest *g)
{
	uint32_t seen = g->skel->bss->globals.devices_used;

	if (g->sysfs_seen == seen)
		return 0;
	g->sysfs_seen = seen;
	obs_devices_free(&g->sysfs);
	return obs_devices_read("", &g->sysfs);
}

static int fill_device(const struct obs_guest *g, uint32_t slot, struct vqs_snap_device *d)
{
	const struct vqs_device *from = (const struct vqs_device *)guest_map(g, MAP_DEVICES) + slot;
	const struct vqs_queue *queues = guest_map(g, MAP_QUEUES);
	uint32_t used = used_queues(g), base;
	int err = 0;

	d->slot = slot;
	memcpy(d->tag, from->tag, sizeof(d->tag) - 1);
	d->virtio_index = from->virtio_index;
	d->request_queues = from->request_queues;
	d->max_background = from->max_background;
	d->mounted = from->conn != 0;
	d->failed_before_queue = from->failed_before_queue;
	base = g->dims.max_queues * VQS_QUEUE_LOCKS + slot * VQS_DEVICE_LOCKS;
	for (uint32_t k = 0; k < VQS_DEVICE_LOCKS; k++)
		fill_lock(g, base + k, VQS_QUEUE_LOCKS + k, &d->lock[k]);
	d->queues = calloc(used ? used : 1, sizeof(*d->queues));
	if (!d->queues)
		return -ENOMEM;
	for (uint32_t q = 0; q < used && !err; q++)
		if (queues[q].vq && queues[q].device == slot)
			err = fill_queue(g, q, &d->queues[d->nr_queues++]);
	qsort(d->queues, d->nr_queues, sizeof(*d->queues), cmp_queue);
	return err ?: fill_map(g, d);
}

static int fill_devices(const struct obs_guest *g, struct vqs_snapshot *s)
{
	const struct vqs_device *devices = guest_map(g, MAP_DEVICES);
	uint32_t used = g->skel->bss->globals.devices_used;
	int err = 0;

	used = used < g->dims.max_devices ? used : g->dims.max_devices;
	s->devices = calloc(used ? used : 1, sizeof(*s->devices));
	if (!s->devices)
		return -ENOMEM;
	for (uint32_t i = 0; i < used && !err; i++)
		if (devices[i].fs)
			err = fill_device(g, i, &s->devices[s->nr_devices++]);
	return err;
}

static struct vqs_snap_queue *queue_by_slot(struct vqs_snapshot *s, uint32_t slot)
{
	for (size_t d = 0; d < s->nr_devices; d++)
		for (size_t q = 0; q < s->devices[d].nr_queues; q++)
			if (s->devices[d].queues[q].slot == slot)
				return &s->devices[d].queues[q];
	return NULL;
}

/* Requests on the ring, being completed, or waiting for a full ring: counted slot by slot. */
static int count_slots(const struct obs_guest *g, struct vqs_snapshot *s)
{
	const struct vqs_slot_set *sets = guest_map(g, MAP_SLOT_SETS);
	uint32_t(*n)[VQS_SLOT_ENDED + 1];

	n = calloc(g->dims.max_queues, sizeof(*n));
	if (!n)
		return -ENOMEM;
	for (size_t i = 0; i < 1ul << g->dims.slot_set_bits; i++) {
		for (size_t way = 0; way < VQS_WAYS; way++) {
			const struct vqs_slot *slot = &sets[i].slot[way];
			uint8_t state = slot->state;
			uint16_t queue = slot->queue;

			if (sets[i].req[way] && queue < g->dims.max_queues &&
			    state <= VQS_SLOT_ENDED)
				n[queue][state]++;
		}
	}
	for (uint32_t i = 0; i < used_queues(g); i++) {
		struct vqs_snap_queue *q = queue_by_slot(s, i);

		if (!q || !q->index)
			continue;
		q->in_flight = n[i][VQS_SLOT_SUBMITTED];
		q->completing = n[i][VQS_SLOT_COLLECTED];
		q->waiting_ring = n[i][VQS_SLOT_RING_FULL];
	}
	free(n);
	return 0;
}

static const struct probe_plan *lock_plan(const struct obs_guest *g)
{
	for (size_t i = 0; i < obs_nr_probe_defs; i++)
		if (obs_probe_defs[i].locks)
			return &g->plan[i];
	return NULL;
}

/* Nothing changes it while this kernel runs. */
static enum obs_spin spin_here(struct obs_guest *g)
{
	struct obs_system_source here;

	if (!g->spin_known) {
		obs_system_here(&here);
		g->spin = obs_spin_find(&here, g->syms);
		g->spin_known = true;
	}
	return g->spin;
}

static void fill_lock_rung(struct obs_guest *g, struct vqs_snapshot *s)
{
	const struct probe_plan *plan = lock_plan(g);
	enum obs_rung rung = plan ? plan->rung : OBS_RUNG_NONE;

	snprintf(s->lock_rung, sizeof(s->lock_rung), "%s", obs_rung_name(rung));
	s->lock_complete = rung != OBS_RUNG_NONE && obs_locks_complete(rung, spin_here(g));
}

static void fill_losses(const struct obs_guest *g, struct vqs_snapshot *s)
{
	const struct vqs_globals *all = &g->skel->bss->globals;

	s->untracked_table_full = all->untracked_table_full;
	s->ops_full = all->ops_full;
	s->trace_lost = all->trace_lost;
	s->index_full = all->index_full;
	s->lock_nested = all->lock_nested;
	s->stack_failed = all->stack_failed;
	s->wake_missed = all->wake_missed;
}

/* Asks the kernel for each queue's virtio_fs_vq.in_flight; the figures appear in the queue map. */
static int read_levels(struct obs_guest *g)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	return bpf_prog_test_run_opts(bpf_program__fd(g->skel->progs.snapshot_levels), &run);
}

int obs_guest_snapshot(struct obs_guest *g, struct vqs_snapshot **out)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = obs_snapshot_new();
	struct utsname uts;
	int err;

	if (!s)
		return -ENOMEM;
	err = read_levels(g);
	if (!err)
		err = read_sysfs(g);
	if (err)
		return err;
	s->mono_ns = vqs_now_ns(CLOCK_MONOTONIC);
	s->real_ns = vqs_now_ns(CLOCK_REALTIME);
	if (!uname(&uts))
		snprintf(s->kernel, sizeof(s->kernel), "%s", uts.release);
	fill_lock_rung(g, s);
	fill_losses(g, s);
	err = fill_devices(g, s);
	if (!err)
		err = count_slots(g, s);
	if (!err)
		err = guest_fill_stacks(g, s);
	if (!err)
		err = guest_fill_self(g, s);
	if (err)
		return err;
	obs_derive_acquisitions(s, ksyms_has(g->syms, "virtio_fs_send_req"),
				!ksyms_has(g->syms, "fuse_chan_send"));
	*out = TAKE_PTR(s);
	return 0;
}
