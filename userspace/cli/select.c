// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/select.h"

#include <stdlib.h>
#include <string.h>

static void select_ops(struct vqs_snap_queue *q, int op)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->nr_ops; i++) {
		if (op < 0 || q->ops[i].opcode == (uint32_t)op)
			q->ops[kept++] = q->ops[i];
		else
			obs_op_release(&q->ops[i]);
	}
	q->nr_ops = kept;
}

static void select_queues(struct vqs_snap_device *d, const struct cli_opts *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->nr_queues; i++) {
		if (o->queue >= 0 && d->queues[i].index != (uint32_t)o->queue) {
			obs_queue_release(&d->queues[i]);
			d->partial = true;
			continue;
		}
		if (kept != i)
			d->queues[kept] = d->queues[i];
		select_ops(&d->queues[kept++], o->op);
	}
	d->nr_queues = kept;
}

static bool has_queue(const struct vqs_snapshot *s, uint32_t slot)
{
	for (size_t i = 0; i < s->nr_devices; i++)
		for (size_t j = 0; j < s->devices[i].nr_queues; j++)
			if (s->devices[i].queues[j].slot == slot)
				return true;
	return false;
}

static bool has_device(const struct vqs_snapshot *s, uint32_t slot)
{
	for (size_t i = 0; i < s->nr_devices; i++)
		if (s->devices[i].slot == slot)
			return true;
	return false;
}

/* Stacks of waiters go with the device and the queue whose lock they waited for. */
static void select_stacks(struct vqs_snapshot *s, const struct cli_opts *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct vqs_snap_stack *st = &s->stacks[i];

		if (has_device(s, st->device) &&
		    (o->queue < 0 || st->queue == UINT32_MAX || has_queue(s, st->queue)))
			s->stacks[kept++] = *st;
		else
			free(st->frame);
	}
	s->nr_stacks = kept;
}

void cli_select(struct vqs_snapshot *s, const struct cli_opts *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_devices; i++) {
		struct vqs_snap_device *d = &s->devices[i];

		if (o->tag && strncmp(d->tag, o->tag, sizeof(d->tag))) {
			obs_device_release(d);
			continue;
		}
		if (kept != i)
			s->devices[kept] = *d;
		select_queues(&s->devices[kept++], o);
	}
	s->nr_devices = kept;
	select_stacks(s, o);
}
