// SPDX-License-Identifier: GPL-2.0-or-later
/* One thread of the load: sends what is due, takes replies, until its lanes are done. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "vqload/run_priv.h"

#define PROGRESS_NS VQS_SECOND_NS
/* Thread 0 looks for the nodes that other threads want forgotten. */
#define FORGET_NS   2000000ULL
/* A request that was due before the end of an open loop may be sent so long after it. */
#define GRACE_NS    VQS_SECOND_NS

int run_later_forget(struct run *r, const struct run_forget *f)
{
	int err = 0;

	if (!f->nodeid || f->nodeid == FUSE_ROOT_ID)
		return 0;
	pthread_mutex_lock(&r->forget_lock);
	if (r->nr_forget == r->room_forget) {
		size_t room = r->room_forget ? 2 * r->room_forget : 256;
		struct run_forget *more = realloc(r->forget, room * sizeof(*more));

		if (more) {
			r->forget = more;
			r->room_forget = room;
		}
		err = more ? 0 : -ENOMEM;
	}
	if (!err) {
		r->forget[r->nr_forget] = *f;
		__atomic_store_n(&r->nr_forget, r->nr_forget + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&r->forget_lock);
	return err;
}

static bool take_forget(struct run *r, struct run_forget *f)
{
	bool any;

	/* Mostly there is none: no lock for that. */
	if (!__atomic_load_n(&r->nr_forget, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&r->forget_lock);
	any = r->nr_forget;
	if (any) {
		*f = r->forget[r->nr_forget - 1];
		__atomic_store_n(&r->nr_forget, r->nr_forget - 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&r->forget_lock);
	return any;
}

/* As many as hiprio takes now. */
static void send_forgets(struct run_thread *t)
{
	struct run_forget f;

	while (load_engine_queue_free(t->engine, 0) && take_forget(t->run, &f)) {
		struct load_slot *s = load_slot_get(t->engine, 0);
		struct load_head h = load_engine_head(t->engine, f.nodeid);

		if (s)
			s->uncounted =
				f.uncounted || !__atomic_load_n(&t->run->loading, __ATOMIC_RELAXED);
		if (!s || load_build_forget(&s->req, &h, f.n) ||
		    load_engine_submit(t->engine, s, 0)) {
			if (s)
				load_slot_put(t->engine, s);
			run_later_forget(t->run, &f);
			return;
		}
	}
}

/* --- lanes ------------------------------------------------------------------------------- */

static bool is_over(const struct run_lane *l, uint64_t now)
{
	return !l->left || load_schedule_peek(&l->schedule) == UINT64_MAX ||
	       (l->schedule.end_ns && now >= l->schedule.end_ns &&
		l->schedule.arrival == LOAD_ARRIVAL_CLOSED);
}

/* The due that is held: nothing may come that lets it be sent. */
static bool is_too_late(const struct run_lane *l, uint64_t now)
{
	uint64_t grace = l->schedule.arrival == LOAD_ARRIVAL_CLOSED ? 0 : GRACE_NS;

	return l->schedule.end_ns && now >= l->schedule.end_ns && now - l->schedule.end_ns >= grace;
}

static int fill_lane(struct run_lane *l)
{
	uint64_t now = load_engine_now(l->thread->engine);
	int sent;

	while (!l->ended && l->in_flight < l->depth) {
		if (l->held && is_too_late(l, now)) {
			l->held = false;
			l->ended = true;
			return 0;
		}
		if (!l->held) {
			l->ended = is_over(l, now);
			if (l->ended || !load_schedule_take(&l->schedule, now, &l->due))
				return 0;
			l->held = true;
		}
		sent = run_is_data(l) ? run_data_send(l) : run_meta_send(l);
		if (sent <= 0)
			return sent;
		l->held = false;
		if (l->schedule.arrival != LOAD_ARRIVAL_CLOSED && now > l->due.at_ns &&
		    now - l->due.at_ns > l->counts.behind_ns)
			l->counts.behind_ns = now - l->due.at_ns;
	}
	return 0;
}

/* When the next one of the lane is due; never, while it waits for replies. */
static uint64_t next_due(const struct run_lane *l)
{
	if (l->ended || l->in_flight >= l->depth || l->blocked)
		return UINT64_MAX;
	return load_schedule_peek(&l->schedule);
}

static bool must_stop(struct run *r)
{
	if (r->opts->stop && *r->opts->stop) {
		r->report->interrupted = true;
		__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&r->stop, __ATOMIC_RELAXED);
}

/* --- progress ---------------------------------------------------------------------------- */

static uint64_t done_so_far(const struct run *r, uint32_t *in_flight)
{
	uint64_t done = 0;

	*in_flight = 0;
	for (uint32_t i = 0; i < r->nr_threads; i++) {
		const struct load_engine *e = r->thread[i].engine;

		done += __atomic_load_n(&load_engine_stats(e)->done, __ATOMIC_RELAXED);
		*in_flight += load_engine_in_flight(e);
	}
	return done;
}

struct progress {
	uint64_t next_ns, last_ns, last_done;
	bool shown;
};

static void show_progress(struct run *r, struct progress *p, uint64_t now)
{
	uint32_t in_flight;
	uint64_t done, rate;

	if (!r->opts->progress || now < p->next_ns)
		return;
	done = done_so_far(r, &in_flight);
	rate = now > p->last_ns ? (done - p->last_done) * VQS_SECOND_NS / (now - p->last_ns) : 0;
	if (p->last_ns) {
		fprintf(stderr, "\r%6.1f s  %" PRIu64 " requests/s  %u in flight\033[K",
			(double)(now - r->start_ns) / 1e9, rate, in_flight);
		fflush(stderr);
		p->shown = true;
	}
	p->next_ns = now + PROGRESS_NS;
	p->last_ns = now;
	p->last_done = done;
}

/* --- the loop ---------------------------------------------------------------------------- */

/* Sends what is due; false: all lanes are done. */
static bool step(struct run_thread *t, uint64_t *deadline)
{
	bool stop = must_stop(t->run), more = false;

	*deadline = UINT64_MAX;
	for (uint32_t i = 0; i < t->nr_lanes; i++) {
		struct run_lane *l = &t->lane[i];
		uint64_t due;

		l->ended |= stop;
		if (fill_lane(l) < 0)
			__atomic_store_n(&t->run->stop, 1, __ATOMIC_RELAXED);
		due = next_due(l);
		if (due < *deadline)
			*deadline = due;
		more |= !l->ended || l->in_flight;
	}
	return more;
}

/* The first time only: verifying comes after it. */
static void end_load(struct run_thread *t)
{
	if (t->end_ns)
		return;
	t->end_ns = load_engine_now(t->engine);
	__atomic_fetch_sub(&t->run->loading, 1, __ATOMIC_RELAXED);
}

static bool others_run(struct run_thread *t)
{
	return t->index == 0 && __atomic_load_n(&t->run->running, __ATOMIC_ACQUIRE) > 0;
}

static int load_loop(struct run_thread *t)
{
	struct progress p = {0};
	uint64_t deadline;
	bool more = true;
	int n = 0;

	while (n >= 0) {
		if (load_engine_tick(t->engine))
			break;
		if (t->index == 0) {
			send_forgets(t);
			show_progress(t->run, &p, load_engine_now(t->engine));
		}
		more = step(t, &deadline);
		/* The first thread stays for the FORGETs of others, which may verify by now. */
		if (!more)
			end_load(t);
		if (!more && !others_run(t))
			break;
		if (t->index == 0 && t->run->nr_threads > 1 &&
		    deadline > load_engine_now(t->engine) + FORGET_NS)
			deadline = load_engine_now(t->engine) + FORGET_NS;
		n = load_engine_wait(t->engine, deadline);
	}
	if (p.shown)
		fputs("\r\033[K", stderr);
	return load_engine_status(t->engine);
}

/*
 * Jobs that only write are verified at their end, as in fio: each becomes one that reads its blocks
 * in order, as fast as it can, and counts nothing but what it verified.
 */
static bool turn_to_verify(struct run_thread *t)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nr_lanes; i++) {
		struct run_lane *l = &t->lane[i];

		if (l->job.verify == LOAD_VERIFY_NONE || !l->rw->writes || l->rw->reads)
			continue;
		l->rw = &load_rws[LOAD_RW_READ];
		l->job.arrival = LOAD_ARRIVAL_CLOSED;
		l->job.runtime_ns = l->job.rate_iops = 0;
		l->job.fsync = 0;
		l->position = l->from;
		l->left = l->to - l->from;
		l->ended = l->held = l->blocked = false;
		l->count_from_ns = UINT64_MAX;
		any |= !load_schedule_start(&l->schedule, &l->job, 0, NULL, 0,
					    load_engine_now(t->engine));
	}
	return any;
}

void *run_thread_main(void *thread)
{
	struct run_thread *t = thread;

	t->err = load_loop(t);
	end_load(t);
	if (!t->err && !must_stop(t->run) && turn_to_verify(t))
		t->err = load_loop(t);
	for (uint32_t i = 0; !t->err && i < t->nr_lanes; i++)
		if (!run_is_data(&t->lane[i]))
			run_meta_finish(&t->lane[i]);
	if (t->index == 0) {
		/* The last ones: all others are done, or wait for nothing. */
		while (!load_engine_status(t->engine) && t->run->nr_forget) {
			send_forgets(t);
			load_engine_wait(t->engine, load_engine_now(t->engine) + FORGET_NS);
		}
	}
	if (!t->err)
		t->err = load_engine_drain(t->engine);
	if (t->err) {
		load_engine_lose(t->engine, true);
		__atomic_store_n(&t->run->stop, 1, __ATOMIC_RELAXED);
	}
	if (t->index)
		__atomic_fetch_sub(&t->run->running, 1, __ATOMIC_RELEASE);
	return NULL;
}
