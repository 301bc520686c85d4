// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing snapshots, field by field. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

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
	    a->lock_nested != b->lock_nested || a->stack_failed != b->stack_failed ||
	    a->wake_missed != b->wake_missed || a->recursion != b->recursion)
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
