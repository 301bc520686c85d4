// SPDX-License-Identifier: GPL-2.0-or-later
/* vqsteer stat: a table per interval and a summary at the end, or a snapshot per line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/select.h"
#include "cli/table.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "export/json.h"

struct stat_run {
	const struct cli_opts *o;
	struct obs_guest *guest;
	struct rend out;
	struct vqs_snapshot *first; /* just after attach */
	struct vqs_snapshot *last;
};

static void run_release(struct stat_run *run)
{
	obs_snapshot_free(run->first);
	obs_snapshot_free(run->last);
	obs_guest_close(run->guest);
}

static int out_of_memory(void)
{
	cli_error("out of memory");
	return CLI_MEMORY;
}

static int take(struct stat_run *run, struct vqs_snapshot **out)
{
	int r = obs_guest_snapshot(run->guest, out);

	if (r == -ENOMEM)
		return out_of_memory();
	if (r) {
		cli_error("cannot read the counters: %s", strerror(-r));
		return CLI_FAILED;
	}
	cli_select(*out, run->o);
	return CLI_OK;
}

/* ---- tables -------------------------------------------------------------------------------- */

static void print_clock(struct rend *r, const struct vqs_snapshot *s, uint64_t elapsed_ns,
			const char *note)
{
	time_t now = (time_t)(s->real_ns / VQS_SECOND_NS);
	char clock[32] = "", num[REND_NUM];
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	rend_printf(r, REND_BOLD, "%s  %s", clock, rend_ns(num, elapsed_ns));
	rend_text(r, REND_DIM, note);
	rend_end(r);
}

static void print_banner(struct rend *r, const struct vqs_snapshot *s)
{
	char kernel[sizeof(s->kernel)], rung[sizeof(s->lock_rung)];

	rend_safe(kernel, sizeof(kernel), s->kernel);
	rend_safe(rung, sizeof(rung), s->lock_rung);
	rend_printf(r, REND_DIM, "Linux %s; ", kernel);
	if (!strcmp(rung, "none"))
		rend_text(r, REND_DIM, "locks are not watched");
	else
		rend_printf(r, REND_DIM, "lock waits seen by %s%s", rung,
			    s->lock_complete ? "" : ", not all of them");
	rend_end(r);
}

static struct table_view view_of(const struct stat_run *run, uint64_t elapsed_ns)
{
	return (struct table_view){
		.elapsed_ns = elapsed_ns,
		.queue = run->o->queue,
		.op = run->o->op,
		.locks = !run->o->no_locks,
	};
}

static void print_tables(struct stat_run *run, const struct vqs_snapshot *s, uint64_t elapsed_ns)
{
	struct table_view v = view_of(run, elapsed_ns);

	for (size_t i = 0; i < s->nr_devices; i++) {
		if (i)
			rend_end(&run->out);
		table_device(&run->out, s, &s->devices[i], &v);
	}
	if (!s->nr_devices) {
		rend_text(&run->out, REND_DIM, "no request yet");
		rend_end(&run->out);
	}
	table_losses(&run->out, s);
	if (run->o->stacks)
		table_stacks(&run->out, s);
	if (run->o->self)
		table_self(&run->out, s, &v);
}

static void print_accounts(struct rend *r, const struct vqs_snapshot *s)
{
	char tag[VQS_TAG_LEN];

	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct vqs_snap_device *d = &s->devices[i];

		if (!d->nr_queues)
			continue;
		rend_safe(tag, sizeof(tag), d->tag);
		rend_printf(r, REND_BOLD, "%s", tag);
		rend_text(r, REND_DIM,
			  "  every request accounted for, and the CPUs that sent them");
		rend_end(r);
		table_conservation(r, d);
		table_cpus(r, d);
	}
}

/* Rates are of the time since the first snapshot, accounts of all since attach. */
static int print_summary(struct stat_run *run)
{
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(run->first, run->last);

	if (!d)
		return out_of_memory();
	print_clock(&run->out, d, d->interval_ns, "  everything since start");
	print_tables(run, d, d->interval_ns);
	rend_end(&run->out);
	print_accounts(&run->out, run->last);
	return CLI_OK;
}

static int print_interval(struct stat_run *run, const struct vqs_snapshot *from, bool partial)
{
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(from, run->last);

	if (!d)
		return out_of_memory();
	print_clock(&run->out, d, d->interval_ns, partial ? "  partial, interrupted" : "");
	print_tables(run, d, d->interval_ns);
	rend_end(&run->out);
	return cli_flush();
}

static int run_tables(struct stat_run *run)
{
	uint64_t step = (uint64_t)(run->o->interval_s * (double)VQS_SECOND_NS);
	uint64_t deadline = run->first->mono_ns, done = 0;
	bool whole = true;
	int code = CLI_OK;

	print_banner(&run->out, run->first);
	code = cli_flush();
	while (!code && whole && (!run->o->count || done < run->o->count)) {
		_cleanup_snapshot_ struct vqs_snapshot *from = TAKE_PTR(run->last);

		whole = cli_sleep_until(deadline += step);
		if (!whole && !cli_stop)
			return cli_flush(); /* nobody reads any more */
		code = take(run, &run->last);
		/* The only interval there is would say what the summary says. */
		if (!code && run->o->count != 1 && (whole || done))
			code = print_interval(run, from ? from : run->first, !whole);
		done++;
	}
	if (!code)
		code = print_summary(run);
	return code ? code : cli_flush();
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Counts since attach, so that a recording loses nothing when a line of it is lost. */
static int run_json(struct stat_run *run)
{
	uint64_t step = (uint64_t)(run->o->interval_s * (double)VQS_SECOND_NS);
	uint64_t deadline = run->first->mono_ns, done = 0;
	bool whole = true;
	int code = CLI_OK;

	while (!code && whole && (!run->o->count || done++ < run->o->count)) {
		_cleanup_snapshot_ struct vqs_snapshot *s = NULL;

		whole = cli_sleep_until(deadline += step);
		if (!whole && !cli_stop)
			return cli_flush(); /* nobody reads any more */
		code = take(run, &s);
		if (code)
			return code;
		code = cli_json_written(exp_snapshot_json(s, stdout));
	}
	return code;
}

int cmd_stat(const struct cli_opts *o)
{
	_cleanup_(run_release) struct stat_run run = {.o = o, .out = {.out = stdout}};
	struct obs_guest_opts base;
	int code;

	obs_guest_default_opts(&base);
	base.locks = !o->no_locks;
	base.stacks = o->stacks;
	base.timed = o->self;
	base.detail_index = o->queue;
	cli_buffer_output();
	run.out.color = rend_want_color(stdout, o->no_color);
	code = cli_open_guest(o, &base, &run.guest);
	if (!code)
		code = take(&run, &run.first);
	if (code)
		return code;
	return o->json ? run_json(&run) : run_tables(&run);
}
