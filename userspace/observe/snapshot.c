// SPDX-License-Identifier: GPL-2.0-or-later
/* Life of a snapshot: allocation, deep copy, difference of two. */
#include "observe/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"

struct vqs_snapshot *obs_snapshot_new(void)
{
	return calloc(1, sizeof(struct vqs_snapshot));
}

void obs_op_release(struct vqs_snap_op *op)
{
	free(op->total);
	free(op->hops);
}

void obs_queue_release(struct vqs_snap_queue *q)
{
	for (size_t i = 0; i < q->nr_ops; i++)
		obs_op_release(&q->ops[i]);
	free(q->ops);
	free(q->errors);
	free(q->cpus);
}

void obs_device_release(struct vqs_snap_device *d)
{
	for (size_t i = 0; i < d->nr_queues; i++)
		obs_queue_release(&d->queues[i]);
	free(d->queues);
	free(d->map);
}

void obs_snapshot_free(struct vqs_snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_devices; i++)
		obs_device_release(&s->devices[i]);
	free(s->devices);
	for (size_t i = 0; i < s->nr_stacks; i++)
		free(s->stacks[i].frame);
	free(s->stacks);
	free(s->self.progs);
	free(s);
}

/*
 * Copies *@p of @n elements; @n is 0 until the copy is there, so that a failed copy frees cleanly.
 * False: no memory.
 */
static bool dup_array(void *p, size_t *n, size_t size)
{
	const void *old = *(void **)p;
	size_t count = *n;
	void *copy;

	*(void **)p = NULL;
	*n = 0;
	if (!count)
		return true;
	copy = malloc(count * size);
	if (!copy)
		return false;
	memcpy(copy, old, count * size);
	*(void **)p = copy;
	*n = count;
	return true;
}

static bool dup_hists(struct vqs_hist **h, size_t count)
{
	return !*h || dup_array(h, &count, sizeof(**h));
}

static bool queue_dup(struct vqs_snap_queue *q)
{
	/* All three are taken off the original before the first of them can fail. */
	bool ok = dup_array(&q->ops, &q->nr_ops, sizeof(*q->ops));

	ok &= dup_array(&q->errors, &q->nr_errors, sizeof(*q->errors));
	ok &= dup_array(&q->cpus, &q->nr_cpus, sizeof(*q->cpus));
	for (size_t i = 0; i < q->nr_ops; i++) {
		ok &= dup_hists(&q->ops[i].total, 1);
		ok &= dup_hists(&q->ops[i].hops, VQS_HOPS);
	}
	return ok;
}

static bool device_dup(struct vqs_snap_device *d)
{
	bool ok = dup_array(&d->map, &d->nr_map, sizeof(*d->map));

	ok &= dup_array(&d->queues, &d->nr_queues, sizeof(*d->queues));
	for (size_t i = 0; i < d->nr_queues; i++)
		ok &= queue_dup(&d->queues[i]);
	return ok;
}

static struct vqs_snapshot *snapshot_dup(const struct vqs_snapshot *from)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = obs_snapshot_new();
	bool ok;

	if (!s)
		return NULL;
	*s = *from;
	ok = dup_array(&s->devices, &s->nr_devices, sizeof(*s->devices));
	ok &= dup_array(&s->stacks, &s->nr_stacks, sizeof(*s->stacks));
	ok &= dup_array(&s->self.progs, &s->self.nr_progs, sizeof(*s->self.progs));
	for (size_t i = 0; i < s->nr_devices; i++)
		ok &= device_dup(&s->devices[i]);
	for (size_t i = 0; i < s->nr_stacks; i++)
		ok &= dup_array(&s->stacks[i].frame, &s->stacks[i].depth,
				sizeof(*s->stacks[i].frame));
	return ok ? TAKE_PTR(s) : NULL;
}

/* Counters only grow; one that did not is a slot that was used anew, and says nothing. */
static void less(uint64_t *to, uint64_t from)
{
	*to = *to > from ? *to - from : 0;
}

static void lock_less(struct vqs_snap_lock *to, const struct vqs_snap_lock *from)
{
	less(&to->contended, from->contended);
	less(&to->acquisitions, from->acquisitions);
	less(&to->submit_wait_ns, from->submit_wait_ns);
	vqs_hist_diff(&to->wait, &from->wait, &to->wait);
}

static const struct vqs_snap_op *find_op(const struct vqs_snap_queue *q, uint32_t opcode)
{
	for (size_t i = 0; i < q->nr_ops; i++)
		if (q->ops[i].opcode == opcode)
			return &q->ops[i];
	return NULL;
}

/* Subtracts; true when anything is left. */
static bool op_less(struct vqs_snap_op *to, const struct vqs_snap_op *from)
{
	bool grew = false;

	if (from && from->total && to->total)
		vqs_hist_diff(to->total, from->total, to->total);
	if (to->total)
		grew = vqs_hist_count(to->total);
	for (int h = 0; to->hops && h < VQS_HOPS; h++) {
		if (from && from->hops)
			vqs_hist_diff(&to->hops[h], &from->hops[h], &to->hops[h]);
		grew = grew || vqs_hist_count(&to->hops[h]);
	}
	return grew;
}

static void ops_less(struct vqs_snap_queue *to, const struct vqs_snap_queue *from)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->nr_ops; i++) {
		struct vqs_snap_op *op = &to->ops[i];

		if (op_less(op, find_op(from, op->opcode)))
			to->ops[kept++] = *op;
		else
			obs_op_release(op);
	}
	to->nr_ops = kept;
}

static void errors_less(struct vqs_snap_queue *to, const struct vqs_snap_queue *from)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->nr_errors; i++) {
		for (size_t j = 0; j < from->nr_errors; j++)
			if (from->errors[j].err == to->errors[i].err)
				less(&to->errors[i].count, from->errors[j].count);
		if (to->errors[i].count)
			to->errors[kept++] = to->errors[i];
	}
	to->nr_errors = kept;
}

static void cpus_less(struct vqs_snap_queue *to, const struct vqs_snap_queue *from)
{
	size_t kept = 0, j = 0;

	for (size_t i = 0; i < to->nr_cpus; i++) {
		while (j < from->nr_cpus && from->cpus[j].cpu < to->cpus[i].cpu)
			j++;
		if (j < from->nr_cpus && from->cpus[j].cpu == to->cpus[i].cpu)
			less(&to->cpus[i].requests, from->cpus[j].requests);
		if (to->cpus[i].requests)
			to->cpus[kept++] = to->cpus[i];
	}
	to->nr_cpus = kept;
}

static void queue_less(struct vqs_snap_queue *to, const struct vqs_snap_queue *from)
{
	less(&to->submitted, from->submitted);
	less(&to->complete_only, from->complete_only);
	less(&to->completed, from->completed);
	less(&to->aborted, from->aborted);
	less(&to->untracked_slot_taken, from->untracked_slot_taken);
	less(&to->end_missed, from->end_missed);
	less(&to->start_missed, from->start_missed);
	less(&to->failed_before_ring, from->failed_before_ring);
	less(&to->background, from->background);
	less(&to->bytes_in, from->bytes_in);
	less(&to->bytes_out, from->bytes_out);
	less(&to->ring_full, from->ring_full);
	less(&to->kicks, from->kicks);
	less(&to->interrupts, from->interrupts);
	less(&to->done_works, from->done_works);
	for (int h = 0; h < VQS_HOPS; h++)
		vqs_hist_diff(&to->hop[h], &from->hop[h], &to->hop[h]);
	ops_less(to, from);
	errors_less(to, from);
	cpus_less(to, from);
	for (int l = 0; l < VQS_QUEUE_LOCKS; l++)
		lock_less(&to->lock[l], &from->lock[l]);
}

static void device_less(struct vqs_snap_device *to, const struct vqs_snap_device *from)
{
	less(&to->failed_before_queue, from->failed_before_queue);
	for (int l = 0; l < VQS_DEVICE_LOCKS; l++)
		lock_less(&to->lock[l], &from->lock[l]);
	for (size_t i = 0; i < to->nr_queues; i++)
		for (size_t j = 0; j < from->nr_queues; j++)
			if (to->queues[i].slot == from->queues[j].slot)
				queue_less(&to->queues[i], &from->queues[j]);
}

static bool same_stack(const struct vqs_snap_stack *a, const struct vqs_snap_stack *b)
{
	if (a->kind != b->kind || a->device != b->device || a->queue != b->queue ||
	    a->depth != b->depth)
		return false;
	for (size_t i = 0; i < a->depth; i++)
		if (strncmp(a->frame[i], b->frame[i], sizeof(a->frame[i])))
			return false;
	return true;
}

static int by_wait(const void *a, const void *b)
{
	const struct vqs_snap_stack *x = a, *y = b;

	return (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns);
}

void obs_snapshot_sort_stacks(struct vqs_snapshot *s)
{
	if (s->nr_stacks)
		qsort(s->stacks, s->nr_stacks, sizeof(*s->stacks), by_wait);
}

static void stacks_less(struct vqs_snapshot *to, const struct vqs_snapshot *from)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->nr_stacks; i++) {
		struct vqs_snap_stack *s = &to->stacks[i];

		for (size_t j = 0; j < from->nr_stacks; j++) {
			if (!same_stack(s, &from->stacks[j]))
				continue;
			less(&s->waits, from->stacks[j].waits);
			less(&s->wait_ns, from->stacks[j].wait_ns);
			break;
		}
		if (s->waits)
			to->stacks[kept++] = *s;
		else
			free(s->frame);
	}
	to->nr_stacks = kept;
	obs_snapshot_sort_stacks(to);
}

static void progs_less(struct vqs_snap_self *to, const struct vqs_snap_self *from)
{
	for (size_t i = 0; i < to->nr_progs; i++) {
		struct vqs_snap_prog *p = &to->progs[i];

		for (size_t j = 0; j < from->nr_progs; j++) {
			const struct vqs_snap_prog *f = &from->progs[j];

			if (strcmp(p->name, f->name) || strcmp(p->rung, f->rung))
				continue;
			less(&p->runs, f->runs);
			less(&p->run_ns, f->run_ns);
			less(&p->recursion_misses, f->recursion_misses);
			break;
		}
	}
}

struct vqs_snapshot *obs_snapshot_diff(const struct vqs_snapshot *from,
				       const struct vqs_snapshot *to)
{
	struct vqs_snapshot *d = snapshot_dup(to);

	if (!d)
		return NULL;
	d->interval_ns = to->mono_ns > from->mono_ns ? to->mono_ns - from->mono_ns : 0;
	less(&d->untracked_table_full, from->untracked_table_full);
	less(&d->ops_full, from->ops_full);
	less(&d->trace_lost, from->trace_lost);
	less(&d->index_full, from->index_full);
	less(&d->lock_nested, from->lock_nested);
	less(&d->stack_failed, from->stack_failed);
	less(&d->wake_missed, from->wake_missed);
	less(&d->recursion, from->recursion);
	for (size_t i = 0; i < d->nr_devices; i++)
		for (size_t j = 0; j < from->nr_devices; j++)
			if (d->devices[i].slot == from->devices[j].slot)
				device_less(&d->devices[i], &from->devices[j]);
	stacks_less(d, from);
	progs_less(&d->self, &from->self);
	return d;
}

int64_t obs_queue_imbalance(const struct vqs_snap_queue *q)
{
	uint64_t left = q->submitted + q->complete_only;
	uint64_t right =
		q->completed + q->in_flight + q->aborted + q->untracked_slot_taken + q->end_missed;

	return (int64_t)(left - right);
}
