// SPDX-License-Identifier: GPL-2.0-or-later
/* A lane's data requests: which comes next, and what its reply means. */
#include <errno.h>
#include <string.h>

#include "vqload/fuse_reply.h"
#include "vqload/rng.h"
#include "vqload/run_priv.h"
#include "vqload/verify.h"

/* Blocks tried, when those that come first are in use, before the lane waits for a reply. */
#define TRIES 16

/* Meaning of cookies. */
enum { FILE_AT, BLOCK_AT, GENERATION };

static bool verifies(const struct run_lane *l)
{
	return l->job.verify != LOAD_VERIFY_NONE;
}

void run_count(struct run_lane *l, struct load_slot *s, const struct load_verdict *v)
{
	struct load_job_counts *c = &l->counts;

	if (s->uncounted)
		return;
	c->requests++;
	c->errors += v->error != 0;
	load_hist_add(&c->latency, s->done_ns > s->due_ns ? s->done_ns - s->due_ns : 0);
}

/* --- choice ------------------------------------------------------------------------------ */

static uint64_t next_place(struct run_lane *l)
{
	uint64_t at;

	if (l->rw->random)
		return l->from + load_rng_below(&l->rng, l->to - l->from);
	at = l->position++;
	if (l->position == l->to)
		l->position = l->from;
	return at;
}

static bool is_free(const struct run_file *f, uint64_t block, bool write)
{
	return write ? !f->busy[block] : f->busy[block] < BUSY_WRITE - 1;
}

/* A block that nobody works on, if that matters. */
static bool choose(struct run_lane *l, bool write, uint64_t *file, uint64_t *block)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t at = next_place(l);

		*file = l->copy->nr_files == 1 ? 0 : at / l->copy->blocks;
		*block = at - *file * l->copy->blocks;
		if (!verifies(l) || is_free(&l->copy->file[*file], *block, write))
			return true;
	}
	return false;
}

static bool wants_write(struct run_lane *l)
{
	if (l->rw->reads && l->rw->writes)
		return load_rng_below(&l->rng, 100) >= l->job.rwmixread;
	return l->rw->writes;
}

/* --- replies ----------------------------------------------------------------------------- */

static void wrong(struct run_lane *l, const struct load_slot *s, uint64_t offset, uint64_t first)
{
	struct load_detail d = {
		.finding = LOAD_DATA,
		.queue = s->queue,
		.opcode = s->req.opcode,
		.unique = s->req.unique,
		.age_ns = s->done_ns - s->sent_ns,
		.expected = (int64_t)offset,
		.got = (int64_t)first,
	};

	load_judge_note(load_engine_judge(l->thread->engine), &d);
	if (l->job.verify_fatal)
		__atomic_store_n(&l->thread->run->stop, 1, __ATOMIC_RELAXED);
}

static void check_block(struct run_lane *l, const struct load_slot *s, const struct run_file *f)
{
	struct load_block_check found;
	struct load_block want = {
		.seed = l->thread->run->seed,
		.file = f->nodeid,
		.offset = s->cookie[BLOCK_AT] * l->job.bs,
		.generation = s->cookie[GENERATION],
		.length = l->job.bs,
	};

	l->counts.verified++;
	if (!load_block_check(s->data, &want, want.generation, &found) &&
	    found.state != LOAD_BLOCK_GOOD)
		wrong(l, s, want.offset, found.first_bad);
}

static void read_done(struct run_lane *l, struct load_slot *s, const struct load_verdict *v)
{
	struct run_file *f = &l->copy->file[s->cookie[FILE_AT]];

	if (f->busy)
		f->busy[s->cookie[BLOCK_AT]]--;
	/* A block that nobody wrote may lie behind the end. */
	if (v->error || (f->generation && !s->cookie[GENERATION]))
		return;
	if (!s->uncounted)
		l->counts.read_bytes += v->data_len;
	/* The file has the block whole: Linux would take a short reply for its end. */
	if (v->data_len < l->job.bs)
		wrong(l, s, s->cookie[BLOCK_AT] * l->job.bs, v->data_len);
	else if (f->generation)
		check_block(l, s, f);
}

static void write_done(struct run_lane *l, struct load_slot *s, const struct load_verdict *v)
{
	struct run_file *f = &l->copy->file[s->cookie[FILE_AT]];
	uint32_t count = 0;
	bool whole = !v->error && !load_read_count(s->out, load_slot_out_len(s), &count) &&
		     count == l->job.bs;

	if (f->busy) {
		f->busy[s->cookie[BLOCK_AT]] = 0;
		f->generation[s->cookie[BLOCK_AT]] =
			(uint32_t)s->cookie[GENERATION] | (whole ? 0 : RUN_UNKNOWN);
	}
	if (!s->uncounted)
		l->counts.written_bytes += count;
	if (v->error == -ENOSPC || v->error == -EROFS || v->error == -EDQUOT) {
		__atomic_store_n(&l->thread->run->share_error, v->error, __ATOMIC_RELAXED);
		__atomic_store_n(&l->thread->run->stop, 1, __ATOMIC_RELAXED);
	}
}

static bool data_done(struct load_engine *e, struct load_slot *s, const struct load_verdict *v)
{
	struct run_lane *l = s->owner;

	l->in_flight--;
	l->blocked = false;
	run_count(l, s, v);
	if (s->req.opcode == FUSE_READ)
		read_done(l, s, v);
	else if (s->req.opcode == FUSE_WRITE)
		write_done(l, s, v);
	return false;
}

/* --- sending ----------------------------------------------------------------------------- */

static int build_write(struct run_lane *l, struct load_slot *s, struct run_file *f, uint64_t block)
{
	struct load_head h = load_engine_head(l->thread->engine, f->nodeid);
	struct load_block b = {
		.seed = l->thread->run->seed,
		.file = f->nodeid,
		.offset = block * l->job.bs,
		.length = l->job.bs,
	};

	if (f->generation) {
		/* Numbers go on past a write that failed: what it left is told apart. */
		b.generation = (f->generation[block] & ~RUN_UNKNOWN) + 1ULL;
		load_block_fill(s->data, &b);
		s->cookie[GENERATION] = b.generation;
	} else if (l->job.bs >= sizeof(h.unique)) {
		memcpy(s->data, &h.unique, sizeof(h.unique));
	}
	return load_build_write(&s->req, &h, f->fh, b.offset, l->job.bs);
}

static int build_read(struct run_lane *l, struct load_slot *s, struct run_file *f, uint64_t block)
{
	struct load_head h = load_engine_head(l->thread->engine, f->nodeid);

	/* 0: nobody knows what is there. */
	if (f->generation)
		s->cookie[GENERATION] =
			f->generation[block] & RUN_UNKNOWN ? 0 : f->generation[block];
	return load_build_read(&s->req, &h, f->fh, block * l->job.bs, l->job.bs);
}

static int build_fsync(struct run_lane *l, struct load_slot *s)
{
	struct run_file *f = &l->copy->file[load_rng_below(&l->rng, l->copy->nr_files)];
	struct load_head h = load_engine_head(l->thread->engine, f->nodeid);

	return load_build_fsync(&s->req, &h, f->fh, false);
}

static int submit(struct run_lane *l, struct load_slot *s)
{
	struct load_engine *e = l->thread->engine;
	int err;

	s->done = data_done;
	s->owner = l;
	s->age_ns = l->job.age_limit_ns;
	s->uncounted = l->due.at_ns < l->count_from_ns;
	err = load_engine_submit(e, s, l->due.at_ns);
	if (err) {
		load_slot_put(e, s);
		l->blocked = err == -ENOSPC;
		return err == -ENOSPC ? 0 : err;
	}
	l->in_flight++;
	return 1;
}

/* After it was sent. */
static void mark(struct run_lane *l, struct run_file *f, uint64_t block, bool write)
{
	l->left--;
	l->writes += write;
	if (f->busy && write)
		f->busy[block] = BUSY_WRITE;
	else if (f->busy)
		f->busy[block]++;
}

int run_data_send(struct run_lane *l)
{
	struct load_slot *s = load_slot_get(l->thread->engine, l->due.queue);
	uint64_t file, block;
	bool write;
	int r;

	l->blocked = !s;
	if (!s)
		return 0;
	if (l->job.fsync && l->writes >= l->job.fsync) {
		r = build_fsync(l, s);
		l->writes = 0;
		return r ? r : submit(l, s);
	}
	write = wants_write(l);
	if (!choose(l, write, &file, &block)) {
		l->blocked = true;
		load_slot_put(l->thread->engine, s);
		return 0;
	}
	s->cookie[FILE_AT] = file;
	s->cookie[BLOCK_AT] = block;
	r = write ? build_write(l, s, &l->copy->file[file], block)
		  : build_read(l, s, &l->copy->file[file], block);
	r = r ? r : submit(l, s);
	if (r > 0)
		mark(l, &l->copy->file[file], block, write);
	return r;
}
