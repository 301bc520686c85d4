// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue out of JSON: counters, and lists of bounded length, range and order. */
#include "export/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool exp_get_kind(struct exp_parse *p, struct json_object *o, enum vqs_lock_kind *kind)
{
	char name[64] = "";

	if (!exp_get_text(p, o, "lock", name, sizeof(name)))
		return false;
	for (int k = 0; k < VQS_LOCK_KINDS; k++) {
		*kind = (enum vqs_lock_kind)k;
		if (!strcmp(name, obs_lock_name(*kind)))
			return true;
	}
	return exp_fail(p, "there is no lock \"%s\"", name);
}

bool exp_get_locks(struct exp_parse *p, struct json_object *o, struct vqs_snap_lock *locks,
		   int first, int n)
{
	struct json_object *array;

	for (int i = 0; i < n; i++)
		locks[i].kind = (enum vqs_lock_kind)(first + i);
	if (!exp_get_part(p, o, "locks", json_type_array, &array))
		return false;
	for (size_t i = 0; i < exp_length(array); i++) {
		struct json_object *v = exp_element(p, array, i, json_type_object, "locks");
		struct vqs_snap_lock *l;
		enum vqs_lock_kind kind;

		if (!v || !exp_get_kind(p, v, &kind))
			return false;
		if ((int)kind < first || (int)kind >= first + n)
			return exp_fail(p, "%s is in the wrong list of locks", obs_lock_name(kind));
		l = &locks[(int)kind - first];
		if (!exp_get_bool(p, v, "learnt", &l->learnt) ||
		    !exp_get_u64(p, v, "contended", &l->contended) ||
		    !exp_get_u64(p, v, "acquisitions", &l->acquisitions) ||
		    !exp_get_u64(p, v, "submit_wait_ns", &l->submit_wait_ns) ||
		    !exp_get_hist(p, v, "wait", &l->wait))
			return false;
	}
	return true;
}

static bool get_op(struct exp_parse *p, struct json_object *v, struct vqs_snap_op *op)
{
	struct json_object *part;

	if (!exp_get_u32(p, v, "opcode", &op->opcode) ||
	    !exp_get_part(p, v, "total", json_type_object, &part))
		return false;
	if (part && (!exp_take(p, &op->total, 1, sizeof(*op->total)) ||
		     !exp_get_hist(p, v, "total", op->total)))
		return false;
	if (!exp_get_part(p, v, "hops", json_type_object, &part))
		return false;
	return !part || (exp_take(p, &op->hops, VQS_HOPS, sizeof(*op->hops)) &&
			 exp_get_hops(p, part, op->hops));
}

static bool get_ops(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	struct json_object *array;
	size_t n;

	if (!exp_get_part(p, o, "ops", json_type_array, &array))
		return false;
	n = exp_length(array);
	if (n > VQS_OPS)
		return exp_fail(p, "a queue has more than %d opcodes", VQS_OPS);
	if (!n)
		return true;
	if (!exp_take(p, &q->ops, n, sizeof(*q->ops)))
		return false;
	for (; q->nr_ops < n; q->nr_ops++) {
		struct vqs_snap_op *op = &q->ops[q->nr_ops];
		struct json_object *v = exp_element(p, array, q->nr_ops, json_type_object, "ops");

		if (!v || !get_op(p, v, op)) {
			q->nr_ops++; /* its histograms are freed with the rest */
			return false;
		}
		if (op->opcode >= VQS_OPS || (q->nr_ops && op->opcode <= op[-1].opcode)) {
			q->nr_ops++;
			return exp_fail(p, "opcode %u is out of range or out of order", op->opcode);
		}
	}
	return true;
}

static int by_errno(const void *a, const void *b)
{
	const struct vqs_snap_errno *x = a, *y = b;

	return (x->err > y->err) - (x->err < y->err);
}

static uint32_t errno_of(const char *name)
{
	char *end;
	unsigned long n;

	if (!strcmp(name, "OTHER"))
		return VQS_ERRNOS - 1;
	if (!strncmp(name, "ERRNO_", 6) && name[6] >= '0' && name[6] <= '9') {
		n = strtoul(name + 6, &end, 10);
		return *end || n >= VQS_ERRNOS ? 0 : (uint32_t)n;
	}
	for (int e = 1; e < VQS_ERRNOS; e++) {
		const char *known = strerrorname_np(e);

		if (known && !strcmp(known, name))
			return (uint32_t)e;
	}
	return 0;
}

static bool get_errors(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	struct json_object *errors;
	int n;

	if (!exp_get_part(p, o, "errors", json_type_object, &errors))
		return false;
	n = errors ? json_object_object_length(errors) : 0;
	if (n > VQS_ERRNOS)
		return exp_fail(p, "a queue has more than %d kinds of errors", VQS_ERRNOS);
	if (!n)
		return true;
	if (!exp_take(p, &q->errors, (size_t)n, sizeof(*q->errors)))
		return false;
	json_object_object_foreach (errors, name, v) {
		struct vqs_snap_errno *e = &q->errors[q->nr_errors];

		e->err = errno_of(name);
		if (!e->err)
			return exp_fail(p, "there is no error \"%.40s\"", name);
		if (!exp_to_u64(p, v, name, UINT64_MAX, &e->count))
			return false;
		q->nr_errors++;
	}
	qsort(q->errors, q->nr_errors, sizeof(*q->errors), by_errno);
	for (size_t i = 1; i < q->nr_errors; i++)
		if (q->errors[i].err == q->errors[i - 1].err)
			return exp_fail(p, "error %u has two names", q->errors[i].err);
	return true;
}

static bool get_cpus(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	struct json_object *array;
	size_t n;

	if (!exp_get_part(p, o, "cpus", json_type_array, &array))
		return false;
	n = exp_length(array);
	if (!n)
		return true;
	if (!exp_take(p, &q->cpus, n, sizeof(*q->cpus)))
		return false;
	for (; q->nr_cpus < n; q->nr_cpus++) {
		struct vqs_snap_cpu *c = &q->cpus[q->nr_cpus];
		uint64_t cpu;

		if (!exp_get_pair(p, array, q->nr_cpus, "cpus", &cpu, &c->requests))
			return false;
		if (cpu > UINT32_MAX || (q->nr_cpus && cpu <= c[-1].cpu))
			return exp_fail(p, "CPU %llu is out of range or out of order",
					(unsigned long long)cpu);
		c->cpu = (uint32_t)cpu;
	}
	return true;
}

/* -1, unknown, when absent. */
static bool get_in_flight_kernel(struct exp_parse *p, struct json_object *o, int64_t *out)
{
	struct json_object *v;
	uint64_t n;

	*out = -1;
	if (!json_object_object_get_ex(o, "in_flight_kernel", &v))
		return true;
	if (!exp_to_u64(p, v, "in_flight_kernel", INT64_MAX, &n))
		return false;
	*out = (int64_t)n;
	return true;
}

static bool get_conservation(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	struct json_object *c;

	if (!exp_get_part(p, o, "conservation", json_type_object, &c))
		return false;
	return !c || (exp_get_u64(p, c, "submitted", &q->submitted) &&
		      exp_get_u64(p, c, "complete_only", &q->complete_only) &&
		      exp_get_u64(p, c, "completed", &q->completed) &&
		      exp_get_u64(p, c, "in_flight", &q->in_flight) &&
		      exp_get_u64(p, c, "aborted", &q->aborted) &&
		      exp_get_u64(p, c, "untracked_slot_taken", &q->untracked_slot_taken) &&
		      exp_get_u64(p, c, "end_missed", &q->end_missed));
}

static bool get_counters(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	return exp_get_u64(p, o, "completing", &q->completing) &&
	       exp_get_u64(p, o, "waiting_ring", &q->waiting_ring) &&
	       exp_get_u64(p, o, "start_missed", &q->start_missed) &&
	       exp_get_u64(p, o, "failed_before_ring", &q->failed_before_ring) &&
	       exp_get_u64(p, o, "background", &q->background) &&
	       exp_get_u64(p, o, "bytes_in", &q->bytes_in) &&
	       exp_get_u64(p, o, "bytes_out", &q->bytes_out) &&
	       exp_get_u64(p, o, "ring_full", &q->ring_full) &&
	       exp_get_u64(p, o, "kicks", &q->kicks) &&
	       exp_get_u64(p, o, "interrupts", &q->interrupts) &&
	       exp_get_u64(p, o, "done_works", &q->done_works);
}

bool exp_get_queue(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q)
{
	struct json_object *hops;

	return exp_get_u32(p, o, "index", &q->index) &&
	       exp_get_text(p, o, "name", q->name, sizeof(q->name)) &&
	       exp_get_u32(p, o, "slot", &q->slot) &&
	       exp_get_u32(p, o, "ring_size", &q->ring_size) &&
	       exp_get_bool(p, o, "removed", &q->removed) && get_conservation(p, o, q) &&
	       get_in_flight_kernel(p, o, &q->in_flight_kernel) && get_counters(p, o, q) &&
	       exp_get_part(p, o, "hops", json_type_object, &hops) &&
	       (!hops || exp_get_hops(p, hops, q->hop)) && get_ops(p, o, q) &&
	       get_errors(p, o, q) && get_cpus(p, o, q) &&
	       exp_get_locks(p, o, q->lock, VQS_LOCK_VQ, VQS_QUEUE_LOCKS);
}
