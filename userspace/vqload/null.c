// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqload/null.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "export/build.h"
#include "vqload/hooks.h"
#include "vqload/responder.h"

#define READ_BYTES    4096u
/* Reads go over this much of the file, as a cache would hold it or not. */
#define READ_SPAN     (64u << 20)
/* Caches, page tables and the branch predictor have seen all of it by then. */
#define WARM_NS       50000000ULL
#define DEFAULT_NS    VQS_SECOND_NS
/* Between looks at the clock. */
#define ROUNDS_A_LOOK 64

struct bench {
	const struct load_null_options *o;
	struct load_null_report *report;
	char dir[32], path[64];
	int cpu[2]; /* ours, the responder's; -1: none */
	cpu_set_t before;
	struct load_responder *r;
	struct load_device d;
	uint64_t fh, file, offset;
	enum load_null_op op;
	bool go;
	uint64_t done;
};

static int fail(struct bench *b, int err, const char *text)
{
	snprintf(b->report->error, sizeof(b->report->error), "%s", text);
	return err;
}

/* --- the load -------------------------------------------------------------------------------- */

static bool again(struct load_engine *e, struct load_slot *s, const struct load_verdict *v);

static void send_one(struct bench *b, struct load_slot *s)
{
	struct load_engine *e = b->d.engine;
	struct load_head h;

	if (b->op == LOAD_NULL_GETATTR) {
		h = load_engine_head(e, FUSE_ROOT_ID);
		load_build_getattr(&s->req, &h, NULL);
	} else {
		h = load_engine_head(e, b->file);
		load_build_read(&s->req, &h, b->fh, b->offset, READ_BYTES);
		b->offset = (b->offset + READ_BYTES) % READ_SPAN;
	}
	if (load_engine_submit(e, s, 0))
		load_slot_put(e, s);
}

static bool again(struct load_engine *e, struct load_slot *s, const struct load_verdict *v)
{
	struct bench *b = s->owner;

	b->done++;
	if (!b->go)
		return false;
	send_one(b, s);
	return true;
}

static void fill(struct bench *b)
{
	b->go = true;
	for (uint32_t i = 0; i < b->o->depth; i++) {
		struct load_slot *s = load_slot_get(b->d.engine, 1);

		if (!s)
			return;
		s->done = again;
		s->owner = b;
		send_one(b, s);
	}
	load_engine_flush(b->d.engine);
}

static bool stopped(const struct bench *b)
{
	return b->o->stop && *b->o->stop;
}

/* --- the two ways ---------------------------------------------------------------------------- */

static int drain_by_hand(struct bench *b)
{
	int n = 0;

	b->go = false;
	while (load_engine_in_flight(b->d.engine) && n >= 0) {
		load_engine_flush(b->d.engine);
		load_responder_serve(b->r);
		n = load_engine_reap(b->d.engine);
	}
	return n < 0 ? n : 0;
}

/* CPU time of both, for a thread may be interrupted anywhere. */
static int alternate(struct bench *b, uint64_t ns, struct load_null_result *out)
{
	uint64_t wall = vqs_now_ns(CLOCK_MONOTONIC), cpu = vqs_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t device = 0, before;
	int n = 0;

	b->done = 0;
	fill(b);
	while (load_engine_now(b->d.engine) < wall + ns && !stopped(b) && n >= 0) {
		load_engine_flush(b->d.engine);
		before = vqs_now_ns(CLOCK_THREAD_CPUTIME_ID);
		load_responder_serve(b->r);
		device += vqs_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		n = load_engine_reap(b->d.engine);
		if (!n)
			n = load_engine_tick(b->d.engine);
	}
	out->requests = b->done;
	out->wall_ns = vqs_now_ns(CLOCK_MONOTONIC) - wall;
	cpu = vqs_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	out->device_ns = device;
	out->own_ns = cpu > device ? cpu - device : 0;
	return n < 0 ? n : drain_by_hand(b);
}

static int apart(struct bench *b, uint64_t ns, struct load_null_result *out)
{
	uint64_t wall = vqs_now_ns(CLOCK_MONOTONIC), cpu = vqs_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t device = load_responder_cpu_ns(b->r);
	int n = 0;

	b->done = 0;
	fill(b);
	while (load_engine_now(b->d.engine) < wall + ns && !stopped(b) && n >= 0) {
		for (int i = 0; i < ROUNDS_A_LOOK && n >= 0; i++)
			n = load_engine_reap(b->d.engine);
		if (n >= 0)
			n = load_engine_tick(b->d.engine);
	}
	out->requests = b->done;
	out->wall_ns = vqs_now_ns(CLOCK_MONOTONIC) - wall;
	out->own_ns = vqs_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	out->device_ns = load_responder_cpu_ns(b->r) - device;
	b->go = false;
	return n < 0 ? n : load_engine_drain(b->d.engine);
}

/* --- set-up ---------------------------------------------------------------------------------- */

static void choose_cpus(struct bench *b)
{
	int n = 0;

	b->cpu[0] = b->cpu[1] = -1;
	if (sched_getaffinity(0, sizeof(b->before), &b->before))
		return;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &b->before))
			b->cpu[n++] = i;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static int open_device(struct bench *b)
{
	struct load_device_options dev = {
		.socket = b->path,
		.request_queues = 1,
		.queue_size = b->o->queue_size,
		.regions = 2,
		.poll = true,
		.timeout_ns = 5 * VQS_SECOND_NS,
		.details = 4,
	};
	struct load_responder_options ro = LOAD_RESPONDER_OPTIONS_DEFAULT;
	struct fuse_entry_out entry;
	int err;

	ro.socket = b->path;
	ro.poll = true;
	ro.cpu = b->cpu[1];
	err = load_responder_new(&ro, &b->r);
	if (!err)
		err = load_responder_start(b->r);
	if (err)
		return fail(b, err, "cannot start the responder");
	if (load_device_open(&b->d, &dev, 1024, b->o->depth, READ_BYTES))
		return fail(b, b->d.err, b->d.error);
	err = load_do_lookup(&b->d.session, FUSE_ROOT_ID, "pattern", &entry);
	b->file = entry.nodeid;
	if (!err)
		err = load_do_open(&b->d.session, b->file, O_RDONLY, &b->fh);
	return err ? fail(b, err, b->d.session.error) : 0;
}

typedef int way_fn(struct bench *b, uint64_t ns, struct load_null_result *out);

static int measure(struct bench *b, way_fn *way, struct load_null_result *results)
{
	int err = 0;

	for (int op = 0; !err && op < LOAD_NULL_OPS; op++) {
		b->op = (enum load_null_op)op;
		err = way(b, WARM_NS, &results[op]);
		if (!err)
			err = way(b, b->o->run_ns, &results[op]);
	}
	return err ? fail(b, err, load_engine_error(b->d.engine)) : 0;
}

static int run(struct bench *b)
{
	int err = open_device(b);

	if (err)
		return err;
	load_responder_halt(b->r);
	err = measure(b, alternate, b->report->alternating);
	if (load_responder_start(b->r))
		return fail(b, -EAGAIN, "cannot start the responder's thread again");
	b->report->threads = b->cpu[1] >= 0;
	if (!err && b->report->threads)
		err = measure(b, apart, b->report->apart);
	for (int f = 0; f < LOAD_FINDINGS; f++)
		if (load_finding_is_fault((enum load_finding)f))
			b->report->faults += load_judge_count(load_engine_judge(b->d.engine),
							      (enum load_finding)f);
	if (!err)
		load_do_release(&b->d.session, b->file, b->fh, O_RDONLY);
	return err;
}

int load_null_run(const struct load_null_options *o, struct load_null_report *r)
{
	struct bench b = {.o = o, .report = r, .dir = "/tmp/vqload-null.XXXXXX"};
	int err;

	*r = (struct load_null_report){.depth = o->depth};
	if (!mkdtemp(b.dir))
		return fail(&b, -errno, "cannot make a directory in /tmp");
	snprintf(b.path, sizeof(b.path), "%s/sock", b.dir);
	choose_cpus(&b);
	if (b.cpu[1] >= 0)
		pin(b.cpu[0]);
	err = run(&b);
	if (b.d.opts.socket)
		load_device_close(&b.d);
	load_responder_free(b.r);
	rmdir(b.dir);
	if (b.cpu[1] >= 0)
		pthread_setaffinity_np(pthread_self(), sizeof(b.before), &b.before);
	return err;
}

/* --- output ---------------------------------------------------------------------------------- */

static const char *const op_names[] = {"getattr", "read 4k"};
static const char *const op_keys[] = {"getattr", "read_4k"};
_Static_assert(ARRAY_SIZE(op_names) == LOAD_NULL_OPS && ARRAY_SIZE(op_keys) == LOAD_NULL_OPS,
	       "every operation has a name");

static double per_request(const struct load_null_result *r, uint64_t ns)
{
	return r->requests ? (double)ns / (double)r->requests : 0;
}

static void print_row(FILE *out, const char *way, const char *op, const struct load_null_result *r)
{
	fprintf(out, "%-12s %-8s %14.0f %12.0f %12.0f\n", way, op,
		r->wall_ns ? (double)r->requests * 1e9 / (double)r->wall_ns : 0,
		per_request(r, r->own_ns), per_request(r, r->device_ns));
}

int load_null_text(const struct load_null_report *r, FILE *out)
{
	fprintf(out, "one queue, depth %u\n%-12s %-8s %14s %12s %12s\n", r->depth, "", "",
		"requests/s", "vqload ns", "device ns");
	for (int op = 0; op < LOAD_NULL_OPS; op++)
		print_row(out, "alternating", op_names[op], &r->alternating[op]);
	for (int op = 0; r->threads && op < LOAD_NULL_OPS; op++)
		print_row(out, "two threads", op_names[op], &r->apart[op]);
	if (!r->threads)
		fputs("two threads: not measured, for there is one CPU\n", out);
	if (r->faults)
		fprintf(out, "%llu faulty replies\n", (unsigned long long)r->faults);
	return ferror(out) ? -EIO : 0;
}

static void put_results(struct exp_build *b, struct json_object *o, const char *key,
			const struct load_null_result *r)
{
	struct json_object *way = exp_put_object(b, o, key);

	for (int op = 0; op < LOAD_NULL_OPS; op++) {
		struct json_object *v = exp_put_object(b, way, op_keys[op]);

		exp_put_u64(b, v, "requests", r[op].requests);
		exp_put_u64(b, v, "wall_ns", r[op].wall_ns);
		exp_put_u64(b, v, "own_cpu_ns", r[op].own_ns);
		exp_put_u64(b, v, "device_cpu_ns", r[op].device_ns);
	}
}

int load_null_json(const struct load_null_report *r, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct exp_build b = {.err = o ? 0 : -ENOMEM};

	exp_put_text(&b, o, "schema", "vqload/1", SIZE_MAX);
	exp_put_text(&b, o, "command", "null", SIZE_MAX);
	exp_put_u64(&b, o, "depth", r->depth);
	exp_put_u64(&b, o, "faults", r->faults);
	put_results(&b, o, "alternating", r->alternating);
	if (r->threads)
		put_results(&b, o, "two_threads", r->apart);
	return exp_write_line(&b, o, out);
}

static void complain(void *context, const char *text)
{
	fprintf(stderr, "vqload null: the front-end sent %s\n", text);
}

/* Serves others until it is to stop: `vqload null --socket S [MISDEED [EVERY]]`. */
static enum load_exit serve(const struct load_hook_args *a)
{
	struct load_responder_options o = LOAD_RESPONDER_OPTIONS_DEFAULT;
	_cleanup_(load_responder_freep) struct load_responder *r = NULL;
	int err;

	o.socket = a->device.socket;
	o.queues = a->device.request_queues ? a->device.request_queues : 1;
	o.complain = complain;
	if (a->words && a->words[0]) {
		o.misdeed = load_misdeed_named(a->words[0]);
		o.every = a->words[1] ? (uint32_t)strtoul(a->words[1], NULL, 0) : 100;
	}
	if (o.misdeed == LOAD_MISDEEDS) {
		fprintf(stderr, "vqload null: '%s' is no misdeed; there are:", a->words[0]);
		for (int m = 0; m < LOAD_MISDEEDS; m++)
			fprintf(stderr, " %s", load_misdeed_name((enum load_misdeed)m));
		fputc('\n', stderr);
		return LOAD_EXIT_USAGE;
	}
	err = load_responder_new(&o, &r);
	if (!err)
		err = load_responder_start(r);
	if (err) {
		fprintf(stderr, "vqload null: cannot serve %s: %s\n", o.socket, strerror(-err));
		return LOAD_EXIT_CONNECT;
	}
	while (!a->stop || !*a->stop)
		usleep(50000);
	return LOAD_EXIT_CLEAN;
}

enum load_exit load_null_main(const struct load_hook_args *a)
{
	struct load_null_options o = {
		.run_ns = a->time_ns ? (a->time_ns + 3) / 4 : DEFAULT_NS,
		.depth = 32,
		.queue_size = a->device.queue_size ? a->device.queue_size : 128,
		.stop = a->stop,
	};
	struct load_null_report r;
	int err;

	if (a->device.socket)
		return serve(a);
	if (o.queue_size < o.depth)
		o.depth = o.queue_size;
	err = load_null_run(&o, &r);
	if (err) {
		fprintf(stderr, "vqload: %s\n", r.error);
		return LOAD_EXIT_FAILED;
	}
	err = a->json ? load_null_json(&r, stdout) : load_null_text(&r, stdout);
	if (err || fflush(stdout))
		return LOAD_EXIT_OUTPUT;
	return r.faults ? LOAD_EXIT_FAULTS : LOAD_EXIT_CLEAN;
}
