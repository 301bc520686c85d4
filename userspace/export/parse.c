// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a snapshot back from its JSON, part by part. parse_values.c has the single values and the
 * bounds of text and memory; parse_queue.c a queue and its lists.
 */
#include "export/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "export/parse.h"

static bool get_map(struct exp_parse *p, struct json_object *o, struct vqs_snap_device *d)
{
	struct json_object *array;
	uint64_t queue;

	if (!exp_get_part(p, o, "map", json_type_array, &array))
		return false;
	if (!exp_length(array))
		return true;
	if (!exp_take(p, &d->map, exp_length(array), sizeof(*d->map)))
		return false;
	d->nr_map = exp_length(array);
	for (size_t i = 0; i < d->nr_map; i++) {
		if (!exp_to_u64(p, json_object_array_get_idx(array, i), "map", UINT32_MAX, &queue))
			return false;
		d->map[i] = (uint32_t)queue;
	}
	return true;
}

static bool get_queues(struct exp_parse *p, struct json_object *o, struct vqs_snap_device *d)
{
	struct json_object *array, *v;

	if (!exp_get_part(p, o, "queues", json_type_array, &array))
		return false;
	if (!exp_length(array))
		return true;
	if (!exp_take(p, &d->queues, exp_length(array), sizeof(*d->queues)))
		return false;
	d->nr_queues = exp_length(array);
	for (size_t i = 0; i < d->nr_queues; i++) {
		struct vqs_snap_queue *q = &d->queues[i];

		v = exp_element(p, array, i, json_type_object, "queues");
		if (!v || !exp_get_queue(p, v, q))
			return false;
		if (i && q->index < q[-1].index)
			return exp_fail(p, "queue %u is out of order", q->index);
	}
	return true;
}

static bool get_device(struct exp_parse *p, struct json_object *o, struct vqs_snap_device *d)
{
	return exp_get_text(p, o, "tag", d->tag, sizeof(d->tag)) &&
	       exp_get_u32(p, o, "virtio_index", &d->virtio_index) &&
	       exp_get_u32(p, o, "slot", &d->slot) &&
	       exp_get_u32(p, o, "request_queues", &d->request_queues) &&
	       exp_get_u32(p, o, "max_background", &d->max_background) &&
	       exp_get_bool(p, o, "mounted", &d->mounted) &&
	       exp_get_u64(p, o, "failed_before_queue", &d->failed_before_queue) &&
	       get_map(p, o, d) && get_queues(p, o, d) &&
	       exp_get_locks(p, o, d->lock, VQS_QUEUE_LOCKS, VQS_DEVICE_LOCKS);
}

static bool get_devices(struct exp_parse *p, struct json_object *o, struct vqs_snapshot *s)
{
	struct json_object *array, *v;

	if (!exp_get_part(p, o, "devices", json_type_array, &array))
		return false;
	if (!exp_length(array))
		return true;
	if (!exp_take(p, &s->devices, exp_length(array), sizeof(*s->devices)))
		return false;
	s->nr_devices = exp_length(array);
	for (size_t i = 0; i < s->nr_devices; i++) {
		v = exp_element(p, array, i, json_type_object, "devices");
		if (!v || !get_device(p, v, &s->devices[i]))
			return false;
	}
	return true;
}

static bool get_stack(struct exp_parse *p, struct json_object *o, struct vqs_snap_stack *k)
{
	struct json_object *frames;

	k->queue = UINT32_MAX;
	if (!exp_get_kind(p, o, &k->kind) || !exp_get_u32(p, o, "device", &k->device) ||
	    !exp_get_u32(p, o, "queue", &k->queue) || !exp_get_u64(p, o, "waits", &k->waits) ||
	    !exp_get_u64(p, o, "wait_ns", &k->wait_ns) ||
	    !exp_get_part(p, o, "frames", json_type_array, &frames))
		return false;
	if (!exp_length(frames))
		return true;
	if (!exp_take(p, &k->frame, exp_length(frames), sizeof(*k->frame)))
		return false;
	k->depth = exp_length(frames);
	for (size_t i = 0; i < k->depth; i++)
		if (!exp_to_text(p, json_object_array_get_idx(frames, i), "frames", k->frame[i],
				 sizeof(k->frame[i])))
			return false;
	return true;
}

static bool get_stacks(struct exp_parse *p, struct json_object *o, struct vqs_snapshot *s)
{
	struct json_object *array, *v;

	if (!exp_get_part(p, o, "stacks", json_type_array, &array))
		return false;
	if (!exp_length(array))
		return true;
	if (!exp_take(p, &s->stacks, exp_length(array), sizeof(*s->stacks)))
		return false;
	s->nr_stacks = exp_length(array);
	for (size_t i = 0; i < s->nr_stacks; i++) {
		v = exp_element(p, array, i, json_type_object, "stacks");
		if (!v || !get_stack(p, v, &s->stacks[i]))
			return false;
	}
	return true;
}

static bool get_self(struct exp_parse *p, struct json_object *root, struct vqs_snap_self *self)
{
	struct json_object *o, *array, *v;

	if (!exp_get_part(p, root, "self", json_type_object, &o))
		return false;
	if (!o)
		return true;
	if (!exp_get_u64(p, o, "bpf_memory_bytes", &self->bpf_memory_bytes) ||
	    !exp_get_bool(p, o, "timed", &self->timed) ||
	    !exp_get_part(p, o, "programs", json_type_array, &array))
		return false;
	if (!exp_length(array))
		return true;
	if (!exp_take(p, &self->progs, exp_length(array), sizeof(*self->progs)))
		return false;
	self->nr_progs = exp_length(array);
	for (size_t i = 0; i < self->nr_progs; i++) {
		struct vqs_snap_prog *q = &self->progs[i];

		v = exp_element(p, array, i, json_type_object, "programs");
		if (!v || !exp_get_text(p, v, "name", q->name, sizeof(q->name)) ||
		    !exp_get_text(p, v, "rung", q->rung, sizeof(q->rung)) ||
		    !exp_get_u64(p, v, "runs", &q->runs) ||
		    !exp_get_u64(p, v, "run_ns", &q->run_ns) ||
		    !exp_get_u64(p, v, "recursion_misses", &q->recursion_misses))
			return false;
	}
	return true;
}

static bool get_head(struct exp_parse *p, struct json_object *root, struct vqs_snapshot *s)
{
	char schema[32] = "";
	struct json_object *o;

	if (!exp_get_text(p, root, "schema", schema, sizeof(schema)))
		return false;
	if (strcmp(schema, EXP_SCHEMA))
		return exp_fail(p, "its schema is \"%s\", this reads \"%s\"", schema, EXP_SCHEMA);
	if (!exp_get_text(p, root, "kernel", s->kernel, sizeof(s->kernel)) ||
	    !exp_get_u64(p, root, "interval_ns", &s->interval_ns) ||
	    !exp_get_part(p, root, "time", json_type_object, &o))
		return false;
	if (o && (!exp_get_u64(p, o, "real_ns", &s->real_ns) ||
		  !exp_get_u64(p, o, "mono_ns", &s->mono_ns)))
		return false;
	if (!exp_get_part(p, root, "lock_watch", json_type_object, &o))
		return false;
	return !o || (exp_get_text(p, o, "rung", s->lock_rung, sizeof(s->lock_rung)) &&
		      exp_get_bool(p, o, "complete", &s->lock_complete));
}

static bool get_losses(struct exp_parse *p, struct json_object *root, struct vqs_snapshot *s)
{
	struct json_object *o;

	if (!exp_get_part(p, root, "losses", json_type_object, &o))
		return false;
	return !o || (exp_get_u64(p, o, "untracked_table_full", &s->untracked_table_full) &&
		      exp_get_u64(p, o, "ops_full", &s->ops_full) &&
		      exp_get_u64(p, o, "trace_lost", &s->trace_lost) &&
		      exp_get_u64(p, o, "index_full", &s->index_full) &&
		      exp_get_u64(p, o, "lock_nested", &s->lock_nested) &&
		      exp_get_u64(p, o, "stack_failed", &s->stack_failed) &&
		      exp_get_u64(p, o, "wake_missed", &s->wake_missed) &&
		      exp_get_u64(p, o, "recursion", &s->recursion));
}

/* NULL after a complaint. */
static struct json_object *parse_text(struct exp_parse *p, const char *line, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(EXP_DEPTH_MAX);
	struct json_object *root;

	if (!tok) {
		p->no_memory = true;
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tok, line, (int)len + 1);
	if (!root)
		exp_fail(p, "it is not JSON: %s at byte %zu",
			 json_tokener_error_desc(json_tokener_get_error(tok)),
			 json_tokener_get_parse_end(tok));
	else if (!json_object_is_type(root, json_type_object))
		exp_fail(p, "it is JSON, but not an object");
	json_tokener_free(tok);
	return root;
}

static int parse_line(struct exp_parse *p, const char *line, struct vqs_snapshot *s)
{
	size_t len = strlen(line);
	struct json_object *root;
	bool ok;

	if (len > EXP_LINE_MAX) {
		exp_fail(p, "it is longer than %u MiB", EXP_LINE_MAX >> 20);
		return -E2BIG;
	}
	root = parse_text(p, line, len);
	ok = root && !p->msg && get_head(p, root, s) && get_devices(p, root, s) &&
	     get_stacks(p, root, s) && get_self(p, root, &s->self) && get_losses(p, root, s);
	json_object_put(root);
	if (ok)
		return 0;
	return p->no_memory ? -ENOMEM : p->refused ? -E2BIG : -EINVAL;
}

int exp_snapshot_parse(const char *line, struct vqs_snapshot **out, char **err)
{
	struct vqs_snapshot *s = obs_snapshot_new();
	struct exp_parse p = {0};
	int ret = s ? parse_line(&p, line, s) : -ENOMEM;

	if (!ret) {
		*out = s;
	} else {
		obs_snapshot_free(s);
		if (err)
			*err = TAKE_PTR(p.msg);
	}
	free(p.msg);
	return ret;
}
