// SPDX-License-Identifier: GPL-2.0-or-later
/* A snapshot as JSON. The order and the names of the fields are docs/schema.md's. */
#include "export/json.h"

#include "export/build.h"
#include "observe/acquisitions.h"

static void put_conservation(struct exp_build *b, struct json_object *o,
			     const struct vqs_snap_queue *q, bool cumulative)
{
	struct json_object *c = exp_put_object(b, o, "conservation");

	exp_put_u64(b, c, "submitted", q->submitted);
	exp_put_u64(b, c, "complete_only", q->complete_only);
	exp_put_u64(b, c, "completed", q->completed);
	exp_put_u64(b, c, "in_flight", q->in_flight);
	exp_put_u64(b, c, "aborted", q->aborted);
	exp_put_u64(b, c, "untracked_slot_taken", q->untracked_slot_taken);
	exp_put_u64(b, c, "end_missed", q->end_missed);
	/* in_flight is a level: over an interval the equation does not hold and says nothing. */
	if (cumulative)
		exp_put_i64(b, c, "imbalance", obs_queue_imbalance(q));
}

static void put_hops(struct exp_build *b, struct json_object *o, const struct vqs_hist *hops)
{
	struct json_object *h = exp_put_object(b, o, "hops");

	for (int i = 0; i < VQS_HOPS; i++)
		exp_put_hist(b, h, obs_hop_name((enum vqs_hop)i), &hops[i], false);
}

static void put_lock(struct exp_build *b, struct json_object *array, enum vqs_lock_kind kind,
		     const struct vqs_snap_lock *l, uint64_t submit_ns)
{
	struct json_object *o = exp_add_object(b, array);

	exp_put_text(b, o, "lock", obs_lock_name(kind), SIZE_MAX);
	exp_put_bool(b, o, "learnt", l->learnt);
	exp_put_u64(b, o, "contended", l->contended);
	if (l->acquisitions)
		exp_put_u64(b, o, "acquisitions", l->acquisitions);
	exp_put_ratio(b, o, "ratio", l->contended, l->acquisitions);
	exp_put_u64(b, o, "submit_wait_ns", l->submit_wait_ns);
	exp_put_ratio(b, o, "submit_share", l->submit_wait_ns, submit_ns);
	exp_put_hist(b, o, "wait", &l->wait, false);
}

static void put_ops(struct exp_build *b, struct json_object *o, const struct vqs_snap_queue *q)
{
	struct json_object *ops;

	if (!q->nr_ops)
		return;
	ops = exp_put_array(b, o, "ops");
	for (size_t i = 0; i < q->nr_ops; i++) {
		const struct vqs_snap_op *op = &q->ops[i];
		struct json_object *e = exp_add_object(b, ops);

		exp_put_u64(b, e, "opcode", op->opcode);
		exp_put_text(b, e, "op", obs_op_name(op->opcode), SIZE_MAX);
		if (op->total)
			exp_put_hist(b, e, "total", op->total, true);
		if (op->hops)
			put_hops(b, e, op->hops);
	}
}

static void put_errors(struct exp_build *b, struct json_object *o, const struct vqs_snap_queue *q)
{
	struct json_object *e;

	if (!q->nr_errors)
		return;
	e = exp_put_object(b, o, "errors");
	for (size_t i = 0; i < q->nr_errors; i++)
		exp_put_errno(b, e, q->errors[i].err, q->errors[i].count);
}

static void put_cpus(struct exp_build *b, struct json_object *o, const struct vqs_snap_queue *q)
{
	struct json_object *cpus;

	if (!q->nr_cpus)
		return;
	cpus = exp_put_array(b, o, "cpus");
	for (size_t i = 0; i < q->nr_cpus; i++) {
		struct json_object *pair = json_object_new_array_ext(2);

		exp_add(b, cpus, pair);
		if (b->err)
			return;
		exp_add_u64(b, pair, q->cpus[i].cpu);
		exp_add_u64(b, pair, q->cpus[i].requests);
	}
}

static void put_queue(struct exp_build *b, struct json_object *array,
		      const struct vqs_snap_device *d, const struct vqs_snap_queue *q,
		      bool cumulative)
{
	struct json_object *o = exp_add_object(b, array), *locks;

	exp_put_u64(b, o, "index", q->index);
	exp_put_text(b, o, "name", q->name, sizeof(q->name));
	exp_put_u64(b, o, "slot", q->slot);
	exp_put_u64(b, o, "ring_size", q->ring_size);
	exp_put_bool(b, o, "removed", q->removed);
	put_conservation(b, o, q, cumulative);
	if (q->in_flight_kernel >= 0)
		exp_put_i64(b, o, "in_flight_kernel", q->in_flight_kernel);
	exp_put_u64(b, o, "completing", q->completing);
	exp_put_u64(b, o, "waiting_ring", q->waiting_ring);
	exp_put_u64(b, o, "start_missed", q->start_missed);
	exp_put_u64(b, o, "failed_before_ring", q->failed_before_ring);
	exp_put_u64(b, o, "background", q->background);
	exp_put_u64(b, o, "bytes_in", q->bytes_in);
	exp_put_u64(b, o, "bytes_out", q->bytes_out);
	exp_put_u64(b, o, "ring_full", q->ring_full);
	exp_put_u64(b, o, "kicks", q->kicks);
	exp_put_u64(b, o, "kicks_suppressed",
		    q->submitted > q->kicks ? q->submitted - q->kicks : 0);
	exp_put_u64(b, o, "interrupts", q->interrupts);
	exp_put_u64(b, o, "done_works", q->done_works);
	put_hops(b, o, q->hop);
	put_ops(b, o, q);
	put_errors(b, o, q);
	put_cpus(b, o, q);
	locks = exp_put_array(b, o, "locks");
	for (int i = 0; i < VQS_QUEUE_LOCKS; i++) {
		enum vqs_lock_kind kind = (enum vqs_lock_kind)i;

		put_lock(b, locks, kind, &q->lock[i], obs_submit_ns(d, q));
	}
}

static void put_device(struct exp_build *b, struct json_object *array,
		       const struct vqs_snap_device *d, bool cumulative)
{
	struct json_object *o = exp_add_object(b, array), *queues, *locks, *map;

	exp_put_text(b, o, "tag", d->tag, sizeof(d->tag));
	exp_put_u64(b, o, "virtio_index", d->virtio_index);
	exp_put_u64(b, o, "slot", d->slot);
	exp_put_u64(b, o, "request_queues", d->request_queues);
	exp_put_u64(b, o, "max_background", d->max_background);
	exp_put_bool(b, o, "mounted", d->mounted);
	exp_put_u64(b, o, "failed_before_queue", d->failed_before_queue);
	if (d->nr_map) {
		map = exp_put_array(b, o, "map");
		for (size_t i = 0; i < d->nr_map; i++)
			exp_add_u64(b, map, d->map[i]);
	}
	queues = exp_put_array(b, o, "queues");
	for (size_t i = 0; i < d->nr_queues; i++)
		put_queue(b, queues, d, &d->queues[i], cumulative);
	locks = exp_put_array(b, o, "locks");
	for (int i = 0; i < VQS_DEVICE_LOCKS; i++) {
		enum vqs_lock_kind kind = (enum vqs_lock_kind)(i + VQS_QUEUE_LOCKS);

		put_lock(b, locks, kind, &d->lock[i], obs_submit_ns(d, NULL));
	}
}

static void put_stacks(struct exp_build *b, struct json_object *o, const struct vqs_snapshot *s)
{
	struct json_object *stacks;

	if (!s->nr_stacks)
		return;
	stacks = exp_put_array(b, o, "stacks");
	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct vqs_snap_stack *k = &s->stacks[i];
		struct json_object *e = exp_add_object(b, stacks), *frames;

		exp_put_text(b, e, "lock", obs_lock_name(k->kind), SIZE_MAX);
		exp_put_u64(b, e, "device", k->device);
		if (k->queue != UINT32_MAX)
			exp_put_u64(b, e, "queue", k->queue);
		exp_put_u64(b, e, "waits", k->waits);
		exp_put_u64(b, e, "wait_ns", k->wait_ns);
		frames = exp_put_array(b, e, "frames");
		for (size_t f = 0; f < k->depth; f++)
			exp_add_text(b, frames, k->frame[f], sizeof(k->frame[f]));
	}
}

static void put_self(struct exp_build *b, struct json_object *o, const struct vqs_snap_self *self)
{
	struct json_object *e = exp_put_object(b, o, "self"), *progs;

	exp_put_u64(b, e, "bpf_memory_bytes", self->bpf_memory_bytes);
	exp_put_bool(b, e, "timed", self->timed);
	progs = exp_put_array(b, e, "programs");
	for (size_t i = 0; i < self->nr_progs; i++) {
		const struct vqs_snap_prog *p = &self->progs[i];
		struct json_object *q = exp_add_object(b, progs);

		exp_put_text(b, q, "name", p->name, sizeof(p->name));
		exp_put_text(b, q, "rung", p->rung, sizeof(p->rung));
		if (self->timed || p->runs)
			exp_put_u64(b, q, "runs", p->runs);
		if (self->timed || p->run_ns)
			exp_put_u64(b, q, "run_ns", p->run_ns);
		exp_put_u64(b, q, "recursion_misses", p->recursion_misses);
	}
}

static void put_losses(struct exp_build *b, struct json_object *o, const struct vqs_snapshot *s)
{
	struct json_object *l = exp_put_object(b, o, "losses");

	exp_put_u64(b, l, "untracked_table_full", s->untracked_table_full);
	exp_put_u64(b, l, "ops_full", s->ops_full);
	exp_put_u64(b, l, "trace_lost", s->trace_lost);
	exp_put_u64(b, l, "index_full", s->index_full);
	exp_put_u64(b, l, "lock_nested", s->lock_nested);
	exp_put_u64(b, l, "stack_failed", s->stack_failed);
	exp_put_u64(b, l, "wake_missed", s->wake_missed);
	exp_put_u64(b, l, "recursion", s->recursion);
}

int exp_snapshot_json(const struct vqs_snapshot *s, FILE *out)
{
	struct exp_build b = {0};
	struct json_object *root = json_object_new_object(), *o;

	exp_put_text(&b, root, "schema", EXP_SCHEMA, SIZE_MAX);
	exp_put_text(&b, root, "kernel", s->kernel, sizeof(s->kernel));
	o = exp_put_object(&b, root, "time");
	exp_put_u64(&b, o, "real_ns", s->real_ns);
	exp_put_u64(&b, o, "mono_ns", s->mono_ns);
	exp_put_u64(&b, root, "interval_ns", s->interval_ns);
	o = exp_put_object(&b, root, "lock_watch");
	exp_put_text(&b, o, "rung", s->lock_rung, sizeof(s->lock_rung));
	exp_put_bool(&b, o, "complete", s->lock_complete);
	o = exp_put_array(&b, root, "devices");
	for (size_t i = 0; i < s->nr_devices; i++)
		put_device(&b, o, &s->devices[i], !s->interval_ns);
	put_stacks(&b, root, s);
	put_self(&b, root, &s->self);
	put_losses(&b, root, s);
	return exp_write_line(&b, root, out);
}
