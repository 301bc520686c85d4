// SPDX-License-Identifier: GPL-2.0-or-later
/* Before a run: what the jobs want, engines over the queues, lanes over the threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vqload/rng.h"
#include "vqload/run_priv.h"

#define IN_BYTES 1024u

/* --- what is wanted ---------------------------------------------------------------------- */

static uint64_t share(uint64_t n, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)n * part / whole);
}

/* Where a job's one file is, without what slashes too many make of it. */
static void path_of(const struct load_job *job, char path[2 * LOAD_JOB_PATH])
{
	const char *part[] = {job->directory, job->filename};
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		for (const char *c = part[i]; *c; c++)
			if (*c != '/' || (n && path[n - 1] != '/'))
				path[n++] = *c;
		if (!i && n && path[n - 1] != '/')
			path[n++] = '/';
	}
	path[n] = '\0';
}

/* A job before @job with the same file, when one of them verifies; NULL: none. */
static const struct load_job *sharer(const struct load_jobs *jobs, const struct load_job *job)
{
	char mine[2 * LOAD_JOB_PATH], other[2 * LOAD_JOB_PATH];

	if (!*job->filename)
		return NULL;
	path_of(job, mine);
	for (const struct load_job *o = jobs->job; o < job; o++) {
		if (!*o->filename ||
		    (o->verify == LOAD_VERIFY_NONE && job->verify == LOAD_VERIFY_NONE))
			continue;
		path_of(o, other);
		if (!strcmp(mine, other))
			return o;
	}
	return NULL;
}

static enum load_exit check_jobs(struct run *r)
{
	char *err = NULL;

	for (size_t i = 0; i < r->jobs->nr_jobs; i++) {
		struct load_job *job = &r->jobs->job[i];
		const struct load_job *other;

		if (load_job_queues(job, r->device.transport.nr_queues - 1, &err)) {
			run_fail(r, -EINVAL, "%s", err ? err : "no memory");
			free(err);
			return LOAD_EXIT_LACKS;
		}
		if (job->verify != LOAD_VERIFY_NONE && *job->filename && job->numjobs > 1) {
			run_fail(r, -EINVAL,
				 "job %s: verify with copies that share a file cannot tell whose "
				 "block is there; leave out filename or numjobs",
				 job->name);
			return LOAD_EXIT_USAGE;
		}
		other = sharer(r->jobs, job);
		if (other) {
			run_fail(r, -EINVAL,
				 "jobs %s and %s: verify with jobs that share a file cannot tell "
				 "whose block is there; give each a filename of its own",
				 other->name, job->name);
			return LOAD_EXIT_USAGE;
		}
		if (job->bs > r->bs_max)
			r->bs_max = job->bs;
		r->nr_copies += job->numjobs;
	}
	if (r->bs_max < LOAD_PAGE)
		r->bs_max = LOAD_PAGE;
	return LOAD_EXIT_CLEAN;
}

static bool in_thread(const struct run *r, uint32_t queue, uint32_t thread)
{
	return queue && (queue - 1) % r->nr_threads == thread;
}

/* Requests that can be in flight on a queue at once, and one for set-up. */
static uint32_t slots_of(const struct run *r, uint32_t queue)
{
	uint64_t n = 1;

	for (size_t i = 0; i < r->nr_copies; i++)
		if (r->copy[i].job->weight[queue] || r->jobs->nr_phases)
			n += r->copy[i].job->iodepth;
	if (n > r->device.transport.opts.queue_size)
		n = r->device.transport.opts.queue_size;
	return (uint32_t)n;
}

static enum load_exit make_copies(struct run *r)
{
	size_t n = 0;

	r->copy = calloc(r->nr_copies, sizeof(*r->copy));
	if (!r->copy)
		return LOAD_EXIT_FAILED;
	for (size_t i = 0; i < r->jobs->nr_jobs; i++)
		for (uint32_t k = 0; k < r->jobs->job[i].numjobs; k++)
			r->copy[n++] = (struct run_copy){.job = &r->jobs->job[i], .number = k};
	return LOAD_EXIT_CLEAN;
}

/* --- engines ----------------------------------------------------------------------------- */

static uint32_t data_of(const struct run *r, uint32_t queue)
{
	/* Set-up fills files through queue 1, in large writes. */
	return queue == 1 && r->bs_max < RUN_FILL_BYTES ? RUN_FILL_BYTES : r->bs_max;
}

static enum load_exit start_device(struct run *r)
{
	struct load_transport *t = &r->device.transport;
	uint64_t bytes = load_engine_region_bytes(&t->opts, IN_BYTES, 2 * t->nr_queues,
						  LOAD_HIPRIO_SLOTS, 0);

	/* Of regions nothing is taken from the machine but what is touched. */
	for (uint32_t q = 1; q < t->nr_queues; q++)
		bytes += load_pool_bytes(slots_of(r, q), IN_BYTES, data_of(r, q));
	return load_device_start(&r->device, bytes);
}

static int make_engine(struct run *r, struct run_thread *t)
{
	struct load_engine_options o = LOAD_ENGINE_OPTIONS_DEFAULT;
	const struct load_device_options *d = &r->opts->device;
	int err = 0;

	o.in_bytes = IN_BYTES;
	o.poll = d->poll;
	o.guard_all = d->guard_all;
	o.silence_ns = d->timeout_ns;
	o.details = d->details;
	o.pid = (uint32_t)getpid();
	o.unique = LOAD_UNIQUE_STEP * (t->index + 1);
	o.unique_step = LOAD_UNIQUE_STEP * r->nr_threads;
	for (size_t i = 0; i < r->jobs->nr_jobs; i++)
		o.guard_all |= r->jobs->job[i].verify != LOAD_VERIFY_NONE;
	t->engine = load_engine_new(&r->device.transport, &o);
	if (!t->engine)
		return run_fail(r, -ENOMEM, "no memory for the engine");
	if (t->index == 0)
		err = load_engine_add_queue(t->engine, 0, load_hiprio_slots(d->queue_size), 0);
	for (uint32_t q = 1; !err && q < r->device.transport.nr_queues; q++)
		if (in_thread(r, q, t->index))
			err = load_engine_add_queue(t->engine, q, slots_of(r, q), data_of(r, q));
	return err ? run_fail(r, err, "%s", load_engine_error(t->engine)) : 0;
}

static enum load_exit make_threads(struct run *r)
{
	uint32_t request_queues = r->device.transport.nr_queues - 1;

	r->nr_threads = r->opts->threads < request_queues ? r->opts->threads : request_queues;
	if (!r->nr_threads)
		r->nr_threads = 1;
	r->thread = calloc(r->nr_threads, sizeof(*r->thread));
	if (!r->thread)
		return LOAD_EXIT_FAILED;
	for (uint32_t i = 0; i < r->nr_threads; i++) {
		r->thread[i].run = r;
		r->thread[i].index = i;
		if (make_engine(r, &r->thread[i]))
			return LOAD_EXIT_FAILED;
	}
	return LOAD_EXIT_CLEAN;
}

/* --- lanes ------------------------------------------------------------------------------- */

/* A thread's piece of what a copy's threads share: by the weights of its queues, and of those of
 * the threads before it. */
struct piece {
	uint64_t before, part, whole;
};

static uint64_t amount(const struct piece *p, uint64_t n)
{
	return share(n, p->before + p->part, p->whole) - share(n, p->before, p->whole);
}

static uint64_t weight_in(const struct run *r, const struct run_copy *c, uint32_t thread)
{
	uint64_t n = 0;

	for (uint32_t q = 0; q < LOAD_QUEUES; q++)
		if (in_thread(r, q, thread))
			n += c->job->weight[q];
	return n;
}

/* Of all that the copy has something is this piece's. */
static bool has_work(const struct run_copy *c, const struct piece *p)
{
	const struct load_job *job = c->job;
	const struct load_rw_spec *rw = &load_rws[job->rw];

	if (!amount(p, job->iodepth) || (job->rate_iops && !amount(p, job->rate_iops)))
		return false;
	/* Verified blocks are one lane's each; others may be read and written by several. */
	if ((rw->reads || rw->writes) && (job->verify != LOAD_VERIFY_NONE || !job->time_based))
		return amount(p, c->blocks * c->nr_files);
	return true;
}

/* Leaves out one thread that has nothing to do; false: there was none. */
static bool leave_one_out(const struct run *r, const struct run_copy *c, uint64_t *weight)
{
	struct piece p = {0};

	for (uint32_t i = 0; i < r->nr_threads; i++)
		p.whole += weight[i];
	for (uint32_t i = 0; i < r->nr_threads; i++) {
		p.part = weight[i];
		if (p.part && !has_work(c, &p)) {
			weight[i] = 0;
			return true;
		}
		p.before += p.part;
	}
	return false;
}

/* What is left out would be missing from the whole: it is dealt out among the others. */
static struct piece find_piece(const struct run *r, const struct run_copy *c, uint32_t thread)
{
	uint64_t weight[LOAD_QUEUES] = {0};
	struct piece p = {0};

	for (uint32_t i = 0; i < r->nr_threads; i++)
		weight[i] = weight_in(r, c, i);
	while (leave_one_out(r, c, weight))
		;
	for (uint32_t i = 0; i < r->nr_threads; i++) {
		p.whole += weight[i];
		if (i < thread)
			p.before += weight[i];
	}
	p.part = weight[thread];
	return p;
}

/* The copy's part in this thread: its queues, depth and rate. */
static void restrict_job(struct run_lane *l, const struct run *r, const struct piece *p)
{
	for (uint32_t q = 0; q < LOAD_QUEUES; q++)
		if (!in_thread(r, q, l->thread->index))
			l->job.weight[q] = 0;
	l->job.rate_iops = amount(p, l->job.rate_iops);
	l->depth = (uint32_t)amount(p, l->job.iodepth);
}

static void set_range(struct run_lane *l, const struct piece *p)
{
	uint64_t blocks = l->copy->blocks * l->copy->nr_files;

	l->from = share(blocks, p->before, p->whole);
	l->to = share(blocks, p->before + p->part, p->whole);
	if (l->from == l->to)
		l->to++;
	l->position = l->from;
	l->left = run_is_data(l) ? l->to - l->from : amount(p, l->copy->nr_files);
	l->left += !l->left;
	if (l->job.time_based)
		l->left = UINT64_MAX;
}

static int make_lane(struct run *r, struct run_thread *t, struct run_copy *c, uint32_t index)
{
	struct run_lane *l = &t->lane[t->nr_lanes];
	struct piece p = find_piece(r, c, t->index);

	if (!p.part)
		return 0;
	*l = (struct run_lane){
		.thread = t,
		.copy = c,
		.rw = &load_rws[c->job->rw],
		.job = *c->job,
		.index = index,
	};
	restrict_job(l, r, &p);
	set_range(l, &p);
	l->rng = load_mix64(c->job->randseed + 977) + c->number * 31 + t->index;
	l->rng = load_mix64(l->rng);
	t->nr_lanes++;
	return run_is_data(l) ? 0 : run_meta_init(l, r);
}

int run_make_lanes(struct run *r)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < r->nr_threads; i++) {
		struct run_thread *t = &r->thread[i];

		t->lane = calloc(r->nr_copies, sizeof(*t->lane));
		if (!t->lane)
			return run_fail(r, -ENOMEM, "no memory for jobs");
		for (size_t c = 0; !err && c < r->nr_copies; c++)
			err = make_lane(r, t, &r->copy[c], (uint32_t)(i * r->nr_copies + c));
	}
	return err;
}

int run_start_lane(struct run *r, struct run_lane *l)
{
	uint64_t at = r->start_ns + l->job.startdelay_ns;

	l->count_from_ns = at + l->job.ramp_time_ns;
	if (load_schedule_start(&l->schedule, &l->job, l->copy->number + 1024 * l->thread->index,
				r->jobs->phase, r->jobs->nr_phases, at))
		return run_fail(r, -EINVAL, "job %s: no queue has a weight", l->job.name);
	return 0;
}

/* --- all of it --------------------------------------------------------------------------- */

static enum load_exit check_limits(struct run *r)
{
	const struct load_session *s = &r->device.session;

	for (size_t i = 0; i < r->jobs->nr_jobs; i++) {
		const struct load_job *job = &r->jobs->job[i];
		const struct load_rw_spec *rw = &load_rws[job->rw];

		if ((!rw->reads || job->bs <= s->max_read) &&
		    (!rw->writes || job->bs <= s->max_write))
			continue;
		run_fail(r, -EINVAL,
			 "job %s: one request takes at most %u bytes to read and %u to write here "
			 "(queue size %u); lower bs%s",
			 job->name, s->max_read, s->max_write, r->opts->device.queue_size,
			 r->opts->device.queue_size < 512 ? ", or raise --queue-size" : "");
		return LOAD_EXIT_LACKS;
	}
	return LOAD_EXIT_CLEAN;
}

enum load_exit run_prepare(struct run *r)
{
	enum load_exit code = load_device_connect(&r->device, &r->opts->device);

	if (!code)
		code = check_jobs(r);
	if (!code)
		code = make_copies(r);
	if (!code)
		code = start_device(r);
	if (!code)
		code = make_threads(r);
	if (!code)
		code = load_device_mount(&r->device, r->thread[0].engine);
	if (code && !*r->report->error)
		snprintf(r->report->error, sizeof(r->report->error), "%s",
			 *r->device.error ? r->device.error : "out of memory");
	return code ? code : check_limits(r);
}
