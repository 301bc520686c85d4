// SPDX-License-Identifier: GPL-2.0-or-later
/* A report as one JSON object of schema vqload/1 (docs/vqload.md). */
#include <errno.h>

#include "common/hist.h"
#include "export/build.h"
#include "vqload/report.h"

static void put_latency(struct exp_build *b, struct json_object *o, const struct vqs_hist *h)
{
	struct json_object *l;

	if (!vqs_hist_count(h))
		return;
	l = exp_put_object(b, o, "latency_ns");
	exp_put_u64(b, l, "mean", vqs_hist_mean(h));
	exp_put_u64(b, l, "p50", vqs_hist_percentile(h, 500));
	exp_put_u64(b, l, "p90", vqs_hist_percentile(h, 900));
	exp_put_u64(b, l, "p99", vqs_hist_percentile(h, 990));
	exp_put_u64(b, l, "p999", vqs_hist_percentile(h, 999));
	exp_put_u64(b, l, "max", h->max);
	exp_put_hist(b, o, "histogram", h, false);
}

static void put_counts(struct exp_build *b, struct json_object *o, const struct load_counts *c)
{
	exp_put_u64(b, o, "requests", c->requests);
	exp_put_u64(b, o, "errors", c->errors);
	exp_put_u64(b, o, "read_bytes", c->read_bytes);
	exp_put_u64(b, o, "written_bytes", c->written_bytes);
	put_latency(b, o, &c->latency);
}

static void put_device(struct exp_build *b, struct json_object *root, const struct load_report *r)
{
	struct json_object *o = exp_put_object(b, root, "device");

	exp_put_text(b, o, "socket", r->socket, SIZE_MAX);
	exp_put_text(b, o, "tag", r->tag, sizeof(r->tag));
	exp_put_u64(b, o, "request_queues", r->queues);
	exp_put_u64(b, o, "queue_size", r->queue_size);
	exp_put_u64(b, o, "fuse_minor", r->minor);
	exp_put_u64(b, o, "max_write", r->max_write);
}

static void put_daemon(struct exp_build *b, struct json_object *root, const struct load_report *r)
{
	uint64_t cpu = r->after.cpu_ns - r->before.cpu_ns;
	struct json_object *o;

	if (!r->before.known || !r->after.known || r->after.cpu_ns < r->before.cpu_ns)
		return;
	o = exp_put_object(b, root, "daemon");
	exp_put_i64(b, o, "pid", r->pid);
	exp_put_u64(b, o, "cpu_ns", cpu);
	if (cpu)
		exp_put_u64(b, o, "requests_per_cpu_second",
			    (uint64_t)((double)r->stats.done * 1e9 / (double)cpu));
	exp_put_u64(b, o, "peak_memory_kb", r->after.peak_kb);
	exp_put_u64(b, o, "memory_kb", r->after.rss_kb);
	exp_put_u64(b, o, "threads", r->after.threads);
	exp_put_u64(b, o, "fds_before", r->before.fds);
	exp_put_u64(b, o, "fds_after", r->after.fds);
}

static void put_own(struct exp_build *b, struct json_object *root, const struct load_report *r)
{
	struct json_object *o = exp_put_object(b, root, "vqload");

	exp_put_u64(b, o, "threads", r->threads);
	exp_put_bool(b, o, "poll", r->poll);
	exp_put_u64(b, o, "cpu_ns", r->own_cpu_ns);
	exp_put_u64(b, o, "sent", r->stats.sent);
	exp_put_u64(b, o, "done", r->stats.done);
	exp_put_u64(b, o, "kicks", r->stats.kicks);
	exp_put_u64(b, o, "sleeps", r->stats.waits);
	exp_put_u64(b, o, "batches", r->stats.batches);
}

static void put_tables(struct exp_build *b, struct json_object *root, const struct load_report *r)
{
	struct json_object *queues = exp_put_array(b, root, "queues"), *ops, *jobs, *o;

	for (uint32_t q = 0; q < r->stats.nr_queues; q++) {
		o = exp_add_object(b, queues);
		exp_put_u64(b, o, "index", q);
		put_counts(b, o, &r->stats.queue[q]);
	}
	ops = exp_put_array(b, root, "ops");
	for (uint32_t op = 0; op < LOAD_OPS; op++) {
		if (!r->stats.op[op].requests)
			continue;
		o = exp_add_object(b, ops);
		exp_put_text(b, o, "op", load_op_name(op), SIZE_MAX);
		put_counts(b, o, &r->stats.op[op]);
	}
	jobs = exp_put_array(b, root, "jobs");
	for (size_t i = 0; i < r->nr_jobs; i++) {
		const struct load_job_counts *j = &r->job[i];

		o = exp_add_object(b, jobs);
		exp_put_text(b, o, "name", j->name, sizeof(j->name));
		exp_put_text(b, o, "rw", j->rw, SIZE_MAX);
		exp_put_u64(b, o, "requests", j->requests);
		exp_put_u64(b, o, "errors", j->errors);
		exp_put_u64(b, o, "read_bytes", j->read_bytes);
		exp_put_u64(b, o, "written_bytes", j->written_bytes);
		exp_put_u64(b, o, "verified", j->verified);
		exp_put_u64(b, o, "behind_ns", j->behind_ns);
		put_latency(b, o, &j->latency);
	}
}

int load_report_json(const struct load_report *r, FILE *out)
{
	struct json_object *root = json_object_new_object(), *judge = NULL;
	struct exp_build b = {.err = root ? 0 : -ENOMEM};
	int err;

	exp_put_text(&b, root, "schema", "vqload/1", SIZE_MAX);
	exp_put_text(&b, root, "command", "run", SIZE_MAX);
	exp_put_text(&b, root, "error", r->error, sizeof(r->error));
	exp_put_bool(&b, root, "interrupted", r->interrupted);
	if (r->judge) {
		exp_put_u64(&b, root, "wall_ns", r->wall_ns);
		exp_put_u64(&b, root, "counted_ns", r->counted_ns);
		put_device(&b, root, r);
		put_daemon(&b, root, r);
		put_own(&b, root, r);
		put_tables(&b, root, r);
		err = load_judge_json(r->judge, &judge);
		if (err && !b.err)
			b.err = err;
		exp_put(&b, root, "judge", judge);
	}
	return exp_write_line(&b, root, out);
}
