// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands: one table of names, keys and functions.
 *
 *	{"command":"move-queue","queue":1,"worker":2}  ->  {"ok":true,...,"pause_ns":8200}
 *
 * Every command may have an "id", which comes back, and those that change something the
 * "generation" of the lease, which then must be the present one. A refusal is {"ok":false,
 * "error":"..."}; a move that lost against the guest has "cancelled":true besides.
 */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/cpus.h"
#include "common/words.h"
#include "vqfsd/control_priv.h"

static void put_u64(const struct fsd_call *k, const char *key, uint64_t v)
{
	json_object_object_add(k->c->reply, key, json_object_new_uint64(v));
}

/* --- arguments ------------------------------------------------------------------------------- */

static int get_number(const struct fsd_call *k, const char *key, uint64_t min, uint64_t max,
		      uint32_t *v)
{
	struct json_object *o;
	int64_t n;

	if (!json_object_object_get_ex(k->args, key, &o))
		return fsd_command_fail(k, "\"%s\" is missing; give a number from %llu to %llu",
					key, (unsigned long long)min, (unsigned long long)max);
	n = json_object_is_type(o, json_type_int) ? json_object_get_int64(o) : -1;
	if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return fsd_command_fail(k, "\"%s\" is not a number from %llu to %llu", key,
					(unsigned long long)min, (unsigned long long)max);
	*v = (uint32_t)n;
	return FSD_DONE;
}

static int get_queue(const struct fsd_call *k, uint32_t *queue)
{
	return get_number(k, "queue", 1, k->x->dev->nr_queues - 1, queue);
}

static int get_worker(const struct fsd_call *k, uint32_t first, uint32_t *worker)
{
	return get_number(k, "worker", first, k->x->dev->nr_workers, worker);
}

static int fail_errno(const struct fsd_call *k, const char *what, int err)
{
	return fsd_command_fail(k, "cannot %s: %s", what, strerrordesc_np(-err));
}

/* --- commands -------------------------------------------------------------------------------- */

static int do_status(const struct fsd_call *k)
{
	fsd_control_status(k->x, k->c->reply);
	return FSD_DONE;
}

static int do_stats(const struct fsd_call *k)
{
	put_u64(k, "bytes", k->x->dev->stats.bytes);
	put_u64(k, "version", VQS_FSD_VERSION);
	k->c->send_stats = true;
	return FSD_DONE;
}

static int do_lease(const struct fsd_call *k)
{
	if (k->x->holder && k->x->holder != k->c)
		return fsd_command_fail(
			k, "another connection has the lease; wait until it releases it");
	if (!k->x->holder) {
		fsd_control_save(k->x);
		k->x->holder = k->c;
		k->x->generation++;
	}
	put_u64(k, "generation", k->x->generation);
	return FSD_DONE;
}

static int do_release(const struct fsd_call *k)
{
	k->x->holder = NULL;
	fsd_control_undrain(k->x);
	return FSD_DONE;
}

static int do_move(const struct fsd_call *k)
{
	struct fsd_device *dev = k->x->dev;
	uint32_t queue, worker;
	int err;

	if (get_queue(k, &queue) || get_worker(k, 1, &worker))
		return FSD_FAILED;
	err = fsd_move_start(dev, queue, worker, fsd_move_generation(dev, queue), &k->c->move);
	if (err == -ECANCELED) {
		fsd_command_fail(
			k, "the guest stopped queue %u or changed its memory meanwhile; try again",
			queue);
		json_object_object_add(k->c->reply, "cancelled", json_object_new_boolean(1));
		return FSD_FAILED;
	}
	if (err)
		return fail_errno(k, "move the queue", err);
	put_u64(k, "queue", queue);
	put_u64(k, "worker", worker);
	k->c->waits = FSD_MOVING;
	return FSD_DONE;
}

static int do_engine(const struct fsd_call *k)
{
	const char *name = fsd_command_text(k, "engine");
	uint64_t ns;
	uint32_t queue;
	int engine = name ? fsd_engine_named(name) : -EINVAL;

	if (get_queue(k, &queue))
		return FSD_FAILED;
	if (engine == -EOPNOTSUPP)
		return fsd_command_fail(
			k, "engine %s is not in this version; give inline, pool or threshold",
			vqs_quote(name).text);
	if (engine < 0)
		return fsd_command_fail(k,
					"\"engine\" is no engine; give inline, pool or threshold");
	if (engine != VQS_FSD_INLINE && !fsd_pool_size(&k->x->dev->pool))
		return fsd_command_fail(k, "the pool has no thread; give it some by set-pool-size");
	fsd_device_set_engine(k->x->dev, queue, (uint32_t)engine, &ns);
	put_u64(k, "queue", queue);
	put_u64(k, "pause_ns", ns);
	return FSD_DONE;
}

static int do_threshold(const struct fsd_call *k)
{
	uint32_t queue, n;
	uint64_t ns;

	if (get_queue(k, &queue) || get_number(k, "threshold", 0, UINT16_MAX, &n))
		return FSD_FAILED;
	fsd_device_set_threshold(k->x->dev, queue, n, &ns);
	put_u64(k, "queue", queue);
	put_u64(k, "pause_ns", ns);
	return FSD_DONE;
}

static int do_pool_size(const struct fsd_call *k)
{
	uint32_t n;
	int err;

	if (get_number(k, "size", 0, FSD_POOL_MAX, &n))
		return FSD_FAILED;
	err = fsd_pool_resize(&k->x->dev->pool, n);
	put_u64(k, "size", n);
	return err ? fail_errno(k, "start the pool's threads", err) : FSD_DONE;
}

static int do_workers(const struct fsd_call *k)
{
	uint32_t n;
	int err;

	if (get_number(k, "workers", 1, FSD_WORKERS_MAX - 1, &n))
		return FSD_FAILED;
	err = fsd_device_set_workers(k->x->dev, n);
	put_u64(k, "workers", n);
	return err ? fail_errno(k, "start the workers", err) : FSD_DONE;
}

static int do_pin(const struct fsd_call *k)
{
	const char *text = fsd_command_text(k, "cpus");
	uint32_t worker;
	cpu_set_t cpus;
	int err;

	if (get_worker(k, 0, &worker))
		return FSD_FAILED;
	if (!text || vqs_cpus_parse(text, &cpus))
		return fsd_command_fail(k,
					"\"cpus\" is no list of CPUs; give one such as \"0-3,8\"");
	err = fsd_device_pin(k->x->dev, worker, &cpus);
	put_u64(k, "worker", worker);
	return err ? fail_errno(k, "pin the worker", err) : FSD_DONE;
}

/* One queue, or all of them. */
static int get_queues(const struct fsd_call *k, uint32_t *first, uint32_t *last)
{
	struct json_object *o;

	*first = 0;
	*last = k->x->dev->nr_queues - 1;
	if (!json_object_object_get_ex(k->args, "queue", &o))
		return FSD_DONE;
	if (get_queue(k, first))
		return FSD_FAILED;
	*last = *first;
	return FSD_DONE;
}

static int do_drain(const struct fsd_call *k)
{
	struct fsd_client *c = k->c;

	if (get_queues(k, &c->first, &c->last))
		return FSD_FAILED;
	for (uint32_t i = c->first; i <= c->last; i++)
		fsd_queue_pause(&k->x->dev->queue[i], VQS_FSD_DRAINED);
	c->since_ns = vqs_now_ns(CLOCK_MONOTONIC);
	c->waits = FSD_DRAINING;
	return FSD_DONE;
}

static int do_resume(const struct fsd_call *k)
{
	uint32_t first, last;

	if (get_queues(k, &first, &last))
		return FSD_FAILED;
	for (uint32_t i = first; i <= last; i++)
		fsd_queue_resume(&k->x->dev->queue[i], VQS_FSD_DRAINED);
	return FSD_DONE;
}

static int do_quit(const struct fsd_call *k)
{
	k->x->quit = true;
	return FSD_DONE;
}

const struct fsd_command fsd_commands[] = {
	{"status", do_status, false, {NULL}},
	{"stats", do_stats, false, {NULL}},
	{"lease", do_lease, false, {NULL}},
	{"release", do_release, true, {NULL}},
	{"move-queue", do_move, true, {"queue", "worker"}},
	{"set-engine", do_engine, true, {"queue", "engine"}},
	{"set-threshold", do_threshold, true, {"queue", "threshold"}},
	{"set-pool-size", do_pool_size, true, {"size"}},
	{"set-workers", do_workers, true, {"workers"}},
	{"pin", do_pin, true, {"worker", "cpus"}},
	{"drain", do_drain, true, {"queue"}},
	{"resume", do_resume, true, {"queue"}},
	{"quit", do_quit, true, {NULL}},
};

const size_t fsd_nr_commands = ARRAY_SIZE(fsd_commands);

void fsd_control_look(struct fsd_control *x, struct fsd_client *c)
{
	uint64_t ns;

	if (c->waits == FSD_MOVING) {
		if (!fsd_move_done(x->dev, &c->move, &ns))
			return;
	} else {
		for (uint32_t i = c->first; i <= c->last; i++)
			if (!fsd_queue_quiet(&x->dev->queue[i]))
				return;
		ns = vqs_now_ns(CLOCK_MONOTONIC) - c->since_ns;
	}
	json_object_object_add(c->reply, c->waits == FSD_MOVING ? "pause_ns" : "took_ns",
			       json_object_new_uint64(ns));
	c->waits = FSD_NOTHING;
}
