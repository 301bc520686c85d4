// SPDX-License-Identifier: GPL-2.0-or-later
/* A run: threads, merging, taking down. */
#include "vqload/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/hist.h"
#include "vqload/rng.h"
#include "vqload/run_priv.h"

/* --- the load ---------------------------------------------------------------------------- */

static uint64_t own_cpu(void)
{
	return vqs_now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int start_threads(struct run *r)
{
	int err = 0;

	r->running = (int)r->nr_threads - 1;
	r->loading = (int)r->nr_threads;
	for (uint32_t i = 1; i < r->nr_threads; i++) {
		struct run_thread *t = &r->thread[i];

		err = pthread_create(&t->id, NULL, run_thread_main, t);
		t->started = !err;
		if (err) {
			__atomic_fetch_sub(&r->running, (int)(r->nr_threads - i), __ATOMIC_RELAXED);
			r->stop = 1;
			return run_fail(r, -err, "cannot start a thread: %s", strerror(err));
		}
	}
	return 0;
}

static int load(struct run *r)
{
	struct load_report *report = r->report;
	uint64_t cpu, count_from = UINT64_MAX;
	int err = 0;

	load_process_read(report->pid, &report->before);
	for (uint32_t i = 0; i < r->nr_threads; i++)
		load_engine_clear_stats(r->thread[i].engine);
	cpu = own_cpu();
	r->start_ns = vqs_now_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; !err && i < r->nr_threads; i++)
		for (uint32_t k = 0; !err && k < r->thread[i].nr_lanes; k++) {
			err = run_start_lane(r, &r->thread[i].lane[k]);
			if (r->thread[i].lane[k].count_from_ns < count_from)
				count_from = r->thread[i].lane[k].count_from_ns;
		}
	if (!err)
		err = start_threads(r);
	run_thread_main(&r->thread[0]);
	for (uint32_t i = 1; i < r->nr_threads; i++)
		if (r->thread[i].started)
			pthread_join(r->thread[i].id, NULL);
	for (uint32_t i = 0; i < r->nr_threads; i++)
		if (r->thread[i].end_ns > r->start_ns + report->wall_ns)
			report->wall_ns = r->thread[i].end_ns - r->start_ns;
	report->counted_ns = report->wall_ns;
	if (count_from > r->start_ns && count_from != UINT64_MAX)
		report->counted_ns = report->wall_ns > count_from - r->start_ns
					     ? report->wall_ns - (count_from - r->start_ns)
					     : 0;
	report->own_cpu_ns = own_cpu() - cpu;
	load_process_read(report->pid, &report->after);
	return err;
}

/* --- the end ----------------------------------------------------------------------------- */

static void merge_lane(struct load_job_counts *to, const struct run_lane *l)
{
	const struct load_job_counts *c = &l->counts;

	to->requests += c->requests;
	to->errors += c->errors;
	to->read_bytes += c->read_bytes;
	to->written_bytes += c->written_bytes;
	to->verified += c->verified;
	if (c->behind_ns > to->behind_ns)
		to->behind_ns = c->behind_ns;
	vqs_hist_merge(&to->latency, &c->latency);
}

static void merge(struct run *r)
{
	struct load_report *report = r->report;

	for (uint32_t i = 0; i < r->nr_threads; i++) {
		struct run_thread *t = &r->thread[i];

		if (!t->engine)
			continue;
		load_stats_merge(&report->stats, load_engine_stats(t->engine));
		load_judge_merge(report->judge, load_engine_judge(t->engine));
		for (uint32_t k = 0; k < t->nr_lanes; k++)
			merge_lane(&report->job[t->lane[k].copy->job - r->jobs->job], &t->lane[k]);
	}
}

/* The first thread's error counts most: others stop because of it, or the other way round. */
static enum load_exit verdict(struct run *r)
{
	for (uint32_t i = 0; i < r->nr_threads; i++) {
		struct run_thread *t = &r->thread[i];
		enum load_exit code;

		if (!t->err)
			continue;
		code = load_device_exit(&r->device, t->err, load_engine_error(t->engine));
		snprintf(r->report->error, sizeof(r->report->error), "%s", r->device.error);
		return code;
	}
	if (r->share_error) {
		snprintf(r->report->error, sizeof(r->report->error),
			 "the share does not take what is written: %s; free some space there",
			 strerror(-r->share_error));
		return LOAD_EXIT_SHARE;
	}
	return load_judge_clean(r->report->judge) ? LOAD_EXIT_CLEAN : LOAD_EXIT_FAULTS;
}

static int fill_report(struct run *r)
{
	struct load_report *report = r->report;
	const struct load_transport *t = &r->device.transport;
	int err = load_report_init(report, t->nr_queues, r->opts->device.details);

	if (!err) {
		report->job = calloc(r->jobs->nr_jobs, sizeof(*report->job));
		err = report->job ? 0 : -ENOMEM;
	}
	if (err)
		return run_fail(r, err, "no memory for the report");
	report->nr_jobs = r->jobs->nr_jobs;
	for (size_t i = 0; i < report->nr_jobs; i++) {
		snprintf(report->job[i].name, sizeof(report->job[i].name), "%s",
			 r->jobs->job[i].name);
		report->job[i].rw = load_rws[r->jobs->job[i].rw].name;
	}
	report->socket = r->opts->device.socket;
	report->pid = t->pid;
	memcpy(report->tag, t->tag, sizeof(report->tag));
	report->queues = t->nr_queues - 1;
	report->queue_size = t->opts.queue_size;
	report->threads = r->nr_threads;
	report->poll = r->opts->device.poll;
	report->minor = r->device.session.minor;
	report->max_write = r->device.session.max_write;
	return 0;
}

/* Of an error while files are laid out. */
static enum load_exit share_exit(struct run *r, int err)
{
	int engine = load_engine_status(r->device.engine);

	if (engine) {
		enum load_exit code = load_device_exit(&r->device, engine, r->report->error);

		snprintf(r->report->error, sizeof(r->report->error), "%s", r->device.error);
		return code;
	}
	r->report->interrupted = err == -EINTR;
	return err == -ENOMEM ? LOAD_EXIT_FAILED : LOAD_EXIT_SHARE;
}

static enum load_exit run(struct run *r)
{
	enum load_exit code = run_prepare(r);
	int err;

	if (code)
		return code;
	if (fill_report(r))
		return LOAD_EXIT_FAILED;
	err = run_files_make(r);
	if (!err)
		err = run_make_lanes(r);
	if (err)
		return share_exit(r, err);
	if (load(r))
		return LOAD_EXIT_FAILED;
	merge(r);
	return verdict(r);
}

/* After the daemon's end nothing can be removed. */
static void tell_leftovers(struct run *r)
{
	struct load_report *report = r->report;
	size_t n = 0, len = strlen(report->error);

	for (size_t i = 0; r->copy && i < r->nr_copies; i++)
		for (uint32_t k = 0; r->copy[i].file && k < r->copy[i].nr_files; k++)
			n += r->copy[i].file[k].made;
	if (n && len < sizeof(report->error))
		snprintf(report->error + len, sizeof(report->error) - len,
			 "; %zu file%s that vqload made stay%s on the share", n, n == 1 ? "" : "s",
			 n == 1 ? "s" : "");
}

static void take_down(struct run *r)
{
	if (r->device.engine && load_engine_status(r->device.engine))
		tell_leftovers(r);
	for (uint32_t i = 0; i < r->nr_threads; i++)
		for (uint32_t k = 0; r->thread && k < r->thread[i].nr_lanes; k++)
			run_meta_free(&r->thread[i].lane[k], r);
	if (r->device.session.started)
		run_files_remove(r);
	for (uint32_t i = 1; r->thread && i < r->nr_threads; i++)
		load_engine_free(r->thread[i].engine);
	/* The first thread's engine is the device's, once it was mounted. */
	if (r->thread && !r->device.engine)
		load_engine_free(r->thread[0].engine);
	load_device_close(&r->device);
	for (uint32_t i = 0; r->thread && i < r->nr_threads; i++)
		free(r->thread[i].lane);
	free(r->thread);
	for (size_t i = 0; r->copy && i < r->nr_copies; i++)
		free(r->copy[i].file);
	free(r->copy);
	free(r->dir);
	free(r->forget);
}

enum load_exit load_run(const struct load_run_options *o, struct load_jobs *jobs,
			struct load_report *report)
{
	struct run r = {
		.opts = o,
		.jobs = jobs,
		.report = report,
		.seed = load_mix64(vqs_now_ns(CLOCK_REALTIME)),
		.forget_lock = PTHREAD_MUTEX_INITIALIZER,
	};
	enum load_exit code;

	*report = (struct load_report){0};
	code = run(&r);
	take_down(&r);
	return code;
}
