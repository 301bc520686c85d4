// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/top_model.h"
#include "cli/top_term.h"
#include "cli/top_view.h"
#include "common/cleanup.h"
#include "common/clock.h"

/* The first numbers come after this, however long the interval: nobody likes an empty screen. */
#define TOP_FIRST_S 1.0

struct top {
	const struct cli_opts *opts;
	const struct top_source *source;
	struct top_model model;
	struct top_term term;
	struct vqs_snapshot *last;  /* what the next interval starts from */
	struct vqs_snapshot *delta; /* lent to the model */
	uint64_t last_ns, next_ns;  /* CLOCK_MONOTONIC */
	uint64_t refreshes;
};

static void top_release(struct top *t)
{
	top_term_close(&t->term);
	top_model_free(&t->model);
	obs_snapshot_free(t->delta);
	obs_snapshot_free(t->last);
}

static uint64_t after(uint64_t from_ns, double seconds)
{
	return from_ns + (uint64_t)(seconds * 1e9);
}

/* Starts an interval now. */
static int rebase(struct top *t)
{
	struct vqs_snapshot *s = NULL;
	int err = t->source->snapshot(t->source->arg, &s);

	if (err)
		return err;
	obs_snapshot_free(t->last);
	t->last = s;
	t->last_ns = vqs_now_ns(CLOCK_MONOTONIC);
	t->next_ns = after(t->last_ns, t->model.interval_s);
	return 0;
}

/* Ends the interval, shows it, starts the next. */
static int refresh(struct top *t)
{
	_cleanup_snapshot_ struct vqs_snapshot *from = TAKE_PTR(t->last);
	struct vqs_snapshot *delta;
	uint64_t due_ns = t->next_ns;
	int err;

	err = rebase(t);
	if (err)
		return err;
	/* From when it was due, lest intervals drift; unless that is long past. */
	if (after(due_ns, t->model.interval_s) > t->last_ns)
		t->next_ns = after(due_ns, t->model.interval_s);
	delta = obs_snapshot_diff(from, t->last);
	if (!delta)
		return -ENOMEM;
	err = top_model_update(&t->model, delta);
	obs_snapshot_free(t->delta);
	t->delta = delta;
	t->refreshes++;
	return err;
}

/* All keys that wait; the bits of what they ask for. */
static unsigned int read_keys(struct top *t)
{
	unsigned int todo = 0;
	int key;

	while ((key = top_term_key()) >= 0)
		if (key)
			todo |= top_model_key(&t->model, key);
	return todo;
}

static bool done(const struct top *t)
{
	return cli_stop || (t->opts->count && t->refreshes >= t->opts->count);
}

/* 0: asked to end, or the terminal went away; else what a snapshot failed with. */
static int loop(struct top *t)
{
	unsigned int todo = TOP_DO_DRAW;
	int err = rebase(t);

	if (t->next_ns > after(t->last_ns, TOP_FIRST_S))
		t->next_ns = after(t->last_ns, TOP_FIRST_S);
	while (!err && !done(t)) {
		int event;

		/* A slow line: what is to be drawn waits for the next interval or key. */
		if (todo & (TOP_DO_DRAW | TOP_DO_REPAINT) && top_term_writable()) {
			top_view_draw(&t->model, &t->term, todo & TOP_DO_REPAINT);
			todo = 0;
		}
		event = top_term_wait(&t->term, t->model.paused ? UINT64_MAX : t->next_ns);
		if (event < 0 || done(t))
			break;
		if (event > 0)
			todo |= read_keys(t);
		if (todo & TOP_DO_QUIT)
			break;
		if (todo & TOP_DO_REBASE)
			err = rebase(t);
		if (todo & TOP_DO_INTERVAL)
			t->next_ns = after(t->last_ns, t->model.interval_s);
		todo &= TOP_DO_DRAW | TOP_DO_REPAINT;
		if (!err && !t->model.paused && vqs_now_ns(CLOCK_MONOTONIC) >= t->next_ns) {
			err = refresh(t);
			todo |= TOP_DO_DRAW;
		}
	}
	return err;
}

int top_run(const struct cli_opts *o, const struct top_source *source)
{
	_cleanup_(top_release) struct top t = {.opts = o, .source = source};
	int err;

	top_model_init(&t.model, o->interval_s > 0 ? o->interval_s : 1);
	t.model.only_tag = o->tag;
	t.model.only_queue = o->queue;
	t.model.locks_off = o->no_locks;
	err = top_term_open(&t.term, o->no_color);
	if (err) {
		cli_error("cannot take over the terminal: %s; use vqsteer stat", strerror(-err));
		return CLI_FAILED;
	}
	err = loop(&t);
	/* Restored before anything is said, or the message would vanish with the screen. */
	top_term_close(&t.term);
	if (!err)
		return CLI_OK;
	cli_error("cannot take a snapshot: %s%s", strerror(-err),
		  err == -ENOMEM ? "; free some memory, or watch fewer queues" : "");
	return err == -ENOMEM ? CLI_MEMORY : CLI_FAILED;
}
