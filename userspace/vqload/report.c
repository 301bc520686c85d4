// SPDX-License-Identifier: GPL-2.0-or-later
/* A report for people: 80 columns. */
#include "vqload/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"

#define MIB (1024.0 * 1024.0)

int load_report_init(struct load_report *r, uint32_t queues, uint32_t details)
{
	int err = load_stats_init(&r->stats, queues);

	r->judge = load_judge_new(queues, details);
	return err ? err : r->judge ? 0 : -ENOMEM;
}

void load_report_free(struct load_report *r)
{
	load_stats_free(&r->stats);
	load_judge_free(r->judge);
	free(r->job);
	r->judge = NULL;
	r->job = NULL;
}

/* "850ns", "12.3us", "1.23ms", "45.6s": 6 columns at most. */
static const char *time_text(uint64_t ns, char text[16])
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	double v;
	int i = 0;

	while (i < 3 && (double)ns < units[i].scale)
		i++;
	v = (double)ns / units[i].scale;
	snprintf(text, 16, "%.*f%s",
		 i == 3 || v >= 99.95 ? 0
		 : v >= 9.995         ? 1
				      : 2,
		 v, units[i].unit);
	return text;
}

static void put_latency(FILE *f, const struct vqs_hist *h)
{
	static const uint32_t permille[] = {500, 900, 990, 999};
	char text[16];

	fprintf(f, " %6s", time_text(vqs_hist_mean(h), text));
	for (int i = 0; i < 4; i++)
		fprintf(f, " %6s", time_text(vqs_hist_percentile(h, permille[i]), text));
	fprintf(f, " %6s\n", time_text(h->max, text));
}

static void put_head(FILE *f, const char *what)
{
	fprintf(f, "\n%-12s %9s %8s %6s %6s %6s %6s %6s %6s %6s\n", what, "requests", "per s",
		"errors", "mean", "p50", "p90", "p99", "p99.9", "max");
}

static double seconds(const struct load_report *r)
{
	return r->counted_ns ? (double)r->counted_ns / 1e9 : 1;
}

static void put_row(FILE *f, const struct load_report *r, const char *name, uint64_t requests,
		    uint64_t errors, const struct vqs_hist *h)
{
	fprintf(f, "%-12.12s %9" PRIu64 " %8.0f %6" PRIu64, name, requests,
		(double)requests / seconds(r), errors);
	if (vqs_hist_count(h))
		put_latency(f, h);
	else
		fputc('\n', f);
}

static void put_queues(FILE *f, const struct load_report *r)
{
	char name[24];

	put_head(f, "QUEUE");
	for (uint32_t q = 0; q < r->stats.nr_queues; q++) {
		const struct load_counts *c = &r->stats.queue[q];

		snprintf(name, sizeof(name), q ? "%u" : "0 hiprio", q);
		if (c->requests)
			put_row(f, r, name, c->requests, c->errors, &c->latency);
	}
}

static void put_ops(FILE *f, const struct load_report *r)
{
	put_head(f, "OPERATION");
	for (uint32_t op = 0; op < LOAD_OPS; op++) {
		const struct load_counts *c = &r->stats.op[op];

		if (c->requests)
			put_row(f, r, load_op_name(op), c->requests, c->errors, &c->latency);
	}
}

static void put_jobs(FILE *f, const struct load_report *r)
{
	char text[16];

	if (r->nr_jobs > 1) {
		put_head(f, "JOB");
		for (size_t i = 0; i < r->nr_jobs; i++)
			put_row(f, r, r->job[i].name, r->job[i].requests, r->job[i].errors,
				&r->job[i].latency);
	}
	for (size_t i = 0; i < r->nr_jobs; i++) {
		const struct load_job_counts *j = &r->job[i];

		if (j->verified)
			fprintf(f, "job %s: %" PRIu64 " blocks verified\n", j->name, j->verified);
		if (j->behind_ns > 1000000)
			fprintf(f, "job %s: fell behind by up to %s; iodepth, or this machine\n",
				j->name, time_text(j->behind_ns, text));
	}
}

static void put_totals(FILE *f, const struct load_report *r)
{
	uint64_t n = 0, in = 0, out = 0;

	/* What hiprio takes follows from other requests, and has no reply. */
	for (uint32_t q = 1; q < r->stats.nr_queues; q++) {
		n += r->stats.queue[q].requests;
		in += r->stats.queue[q].read_bytes;
		out += r->stats.queue[q].written_bytes;
	}
	fprintf(f, "%.2f s, %.0f requests/s", (double)r->wall_ns / 1e9, (double)n / seconds(r));
	if (in)
		fprintf(f, ", %.1f MiB/s read", (double)in / MIB / seconds(r));
	if (out)
		fprintf(f, ", %.1f MiB/s written", (double)out / MIB / seconds(r));
	fprintf(f, "%s\n", r->interrupted ? " (interrupted)" : "");
}

static void put_process(FILE *f, const struct load_report *r)
{
	uint64_t cpu = r->after.cpu_ns - r->before.cpu_ns;

	if (r->after.known && r->before.known && r->after.cpu_ns >= r->before.cpu_ns) {
		fprintf(f, "daemon: %.2f s of CPU", (double)cpu / 1e9);
		if (cpu)
			fprintf(f, ", %.0f requests per CPU second",
				(double)r->stats.done * 1e9 / (double)cpu);
		fprintf(f, ",\n        peak memory %.1f MiB, %u threads, %u open files\n",
			(double)r->after.peak_kb / 1024, r->after.threads, r->after.fds);
	} else {
		fprintf(f, "daemon: its process cannot be seen from here\n");
	}
	fprintf(f, "vqload: %.2f s of CPU", (double)r->own_cpu_ns / 1e9);
	if (r->stats.done)
		fprintf(f, ", %.0f ns per request", (double)r->own_cpu_ns / (double)r->stats.done);
	fprintf(f, "; %" PRIu64 " kicks, %" PRIu64 " sleeps\n", r->stats.kicks, r->stats.waits);
}

int load_report_text(const struct load_report *r, FILE *f)
{
	fprintf(f, "daemon at %s", r->socket);
	if (r->pid)
		fprintf(f, ", process %d", r->pid);
	if (*r->tag)
		fprintf(f, ", tag %s", r->tag);
	fprintf(f, "\n%u request queue%s of %u, %u thread%s%s, FUSE 7.%u\n", r->queues,
		r->queues == 1 ? "" : "s", r->queue_size, r->threads, r->threads == 1 ? "" : "s",
		r->poll ? " polling" : "", r->minor);
	put_totals(f, r);
	put_process(f, r);
	put_queues(f, r);
	put_ops(f, r);
	put_jobs(f, r);
	fputc('\n', f);
	load_judge_text(r->judge, f);
	return ferror(f) ? -EIO : 0;
}
