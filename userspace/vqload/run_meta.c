// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metadata workloads: cycles of requests (load_rws[].steps). A lane has iodepth cycles; each
 * arrival sends the next step of one that is not in flight. FORGETs are no arrivals: they follow at
 * once, through hiprio.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vqload/fuse_reply.h"
#include "vqload/rng.h"
#include "vqload/run_priv.h"

#define READDIR_BYTES 4096u      /* as Linux, but for large directories */
#define READDIR_MAX   (1u << 20) /* replies; a daemon may go on for ever */
#define XATTR_BYTES   32u
#define LINK_BYTES    4095u
#define LOCK_BYTES    16u

/* Needs a file of its own: two cycles that rename one file would miss it. */
static bool has_own_file(const struct run_lane *l)
{
	return l->job.rw == LOAD_RW_RENAME;
}

int run_meta_init(struct run_lane *l, struct run *r)
{
	int err = 0;

	l->cycle = calloc(l->depth, sizeof(*l->cycle));
	l->ready = calloc(l->depth, sizeof(*l->ready));
	if (!l->cycle || !l->ready)
		return run_fail(r, -ENOMEM, "no memory for %u cycles", l->depth);
	for (uint32_t i = 0; !err && i < l->depth; i++) {
		struct run_cycle *c = &l->cycle[i];

		c->index = i;
		l->ready[l->nr_ready++] = l->depth - 1 - i;
		snprintf(c->name, sizeof(c->name), "%s.%u.c%u.%u", l->job.name, l->copy->number,
			 l->index, i);
		if (has_own_file(l))
			err = run_file_touch(r, l->copy->dir, c->name);
		if (err)
			run_fail(r, err, "job %s: cannot make file %s on the share: %s",
				 l->job.name, c->name, strerror(-err));
	}
	return err;
}

void run_meta_free(struct run_lane *l, struct run *r)
{
	for (uint32_t i = 0; l->cycle && has_own_file(l) && i < l->depth; i++)
		load_do_unlink(&r->device.session, l->copy->dir, l->cycle[i].name);
	free(l->cycle);
	free(l->ready);
	l->cycle = NULL;
	l->ready = NULL;
}

/* --- requests ---------------------------------------------------------------------------- */

struct step {
	struct run_lane *l;
	struct run_cycle *c;
	struct run_file *f; /* of the job, for this cycle */
	struct load_slot *s;
};

static struct load_head head(struct step *t, uint64_t nodeid)
{
	return load_engine_head(t->l->thread->engine, nodeid);
}

static int build_rename(struct step *t)
{
	struct load_head h = head(t, t->l->copy->dir);
	char other[sizeof(t->c->name) + 4];

	snprintf(other, sizeof(other), "%s.to", t->c->name);
	if (t->c->step == 0)
		return load_build_rename2(&t->s->req, &h, t->c->name, h.nodeid, other, 0);
	return load_build_rename2(&t->s->req, &h, other, h.nodeid, t->c->name, 0);
}

static int build_setattr(struct step *t)
{
	struct load_head h = head(t, t->f->nodeid);
	struct fuse_setattr_in in = {
		.valid = FATTR_MODE | FATTR_ATIME | FATTR_MTIME,
		.mode = S_IFREG | (t->c->n & 1 ? 0600 : 0644),
		.atime = 1700000000 + t->c->n % 1000,
		.mtime = 1700000000 + t->c->n % 1000,
	};

	return load_build_setattr(&t->s->req, &h, &in);
}

static int build_xattr(struct step *t, uint32_t opcode)
{
	static const char value[XATTR_BYTES] = "vqload";
	struct load_head h = head(t, t->f->nodeid);
	char name[64];

	snprintf(name, sizeof(name), "user.vqload.%u.%u", t->l->index, t->c->index);
	switch (opcode) {
	case FUSE_SETXATTR:
		return load_build_setxattr(
			&t->s->req, &h, name, value, XATTR_BYTES, 0,
			load_session_has(&t->l->thread->run->device.session, FUSE_SETXATTR_EXT));
	case FUSE_GETXATTR:
		return load_build_getxattr(&t->s->req, &h, name, XATTR_BYTES);
	case FUSE_LISTXATTR:
		return load_build_listxattr(&t->s->req, &h, LOAD_PAGE);
	default:
		return load_build_removexattr(&t->s->req, &h, name);
	}
}

/* A range of each cycle's own, so that nobody waits. */
static int build_lock(struct step *t, uint32_t opcode)
{
	uint64_t owner = (uint64_t)t->l->index << 32 | (t->c->index + 1);
	struct load_head h = head(t, t->f->nodeid);
	struct fuse_file_lock lk = {
		.start = owner * LOCK_BYTES,
		.end = owner * LOCK_BYTES + LOCK_BYTES - 1,
		.type = t->c->step == 2 ? F_UNLCK : F_WRLCK,
		.pid = h.pid,
	};

	return opcode == FUSE_GETLK ? load_build_getlk(&t->s->req, &h, t->f->fh, owner, &lk)
				    : load_build_setlk(&t->s->req, &h, t->f->fh, owner, &lk, false);
}

static int build_copy(struct step *t)
{
	struct load_head h = head(t, t->f->nodeid);
	struct fuse_copy_file_range_in in = {
		.fh_in = t->f->fh,
		.nodeid_out = t->f->nodeid,
		.fh_out = t->f->fh,
		.off_out = t->l->job.bs,
		.len = t->l->job.bs,
	};

	return load_build_copy_file_range(&t->s->req, &h, &in, false);
}

/* Requests of names in the job's directory. */
static int build_named(struct step *t, uint32_t opcode)
{
	struct load_head h = head(t, t->l->copy->dir);
	struct load_req *r = &t->s->req;

	switch (opcode) {
	case FUSE_LOOKUP:
		return load_build_lookup(r, &h, t->f->name);
	case FUSE_CREATE:
		return load_build_create(r, &h, t->c->name, O_RDWR | O_EXCL, 0644, 022);
	case FUSE_MKNOD:
		return load_build_mknod(r, &h, t->c->name, S_IFREG | 0644, 0, 022);
	case FUSE_MKDIR:
		return load_build_mkdir(r, &h, t->c->name, 0755, 022);
	case FUSE_LINK:
		return load_build_link(r, &h, t->f->nodeid, t->c->name);
	case FUSE_SYMLINK:
		return load_build_symlink(r, &h, t->c->name, "vqload");
	case FUSE_UNLINK:
		return load_build_unlink(r, &h, t->c->name);
	case FUSE_RMDIR:
		return load_build_rmdir(r, &h, t->c->name);
	case FUSE_RENAME:
		return build_rename(t);
	default:
		return -EOPNOTSUPP;
	}
}

/* Requests of what the cycle made or opened. */
static int build_own(struct step *t, uint32_t opcode)
{
	const struct run_cycle *c = t->c;
	struct load_req *r = &t->s->req;
	struct load_head h = head(t, t->l->copy->dir);

	switch (opcode) {
	case FUSE_OPENDIR:
		return load_build_opendir(r, &h, O_RDONLY | O_DIRECTORY);
	case FUSE_READDIR:
		return load_build_readdir(r, &h, c->fh, c->offset, READDIR_BYTES);
	case FUSE_READDIRPLUS:
		return load_build_readdirplus(r, &h, c->fh, c->offset, READDIR_BYTES);
	case FUSE_RELEASEDIR:
		return load_build_releasedir(r, &h, c->fh, O_RDONLY | O_DIRECTORY);
	}
	h.nodeid = c->node;
	switch (opcode) {
	case FUSE_WRITE:
		return load_build_write(r, &h, c->fh, 0, t->l->job.bs);
	case FUSE_RELEASE:
		return load_build_release(r, &h, c->fh, O_RDWR);
	case FUSE_READLINK:
		return load_build_readlink(r, &h, LINK_BYTES);
	default:
		return build_named(t, opcode);
	}
}

static int build(struct step *t, uint32_t opcode)
{
	struct load_head h = head(t, t->f->nodeid);
	struct load_req *r = &t->s->req;
	uint32_t bs = t->l->job.bs;

	switch (opcode) {
	case FUSE_GETATTR:
		return load_build_getattr(r, &h, NULL);
	case FUSE_STATX:
		return load_build_statx(r, &h, NULL, STATX_BASIC_STATS | STATX_BTIME);
	case FUSE_ACCESS:
		return load_build_access(r, &h, R_OK);
	case FUSE_OPEN:
		return load_build_open(r, &h, O_RDWR);
	case FUSE_FLUSH:
		if (t->c->step)
			h.nodeid = t->c->node;
		return load_build_flush(r, &h, t->c->step ? t->c->fh : t->f->fh, 0);
	case FUSE_SETATTR:
		return build_setattr(t);
	case FUSE_SETXATTR:
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
	case FUSE_REMOVEXATTR:
		return build_xattr(t, opcode);
	case FUSE_STATFS:
		return load_build_statfs(r, &h);
	case FUSE_LSEEK:
		return load_build_lseek(r, &h, t->f->fh, 0, SEEK_HOLE);
	case FUSE_FALLOCATE:
		return load_build_fallocate(r, &h, t->f->fh,
					    load_rng_below(&t->l->rng, t->l->copy->blocks) * bs, bs,
					    0);
	case FUSE_COPY_FILE_RANGE:
		return build_copy(t);
	case FUSE_GETLK:
	case FUSE_SETLK:
		return build_lock(t, opcode);
	default:
		return build_own(t, opcode);
	}
}

static int prepare(struct run_lane *l, struct run_cycle *c, struct load_slot *s)
{
	struct step t = {.l = l, .c = c, .f = &l->copy->file[c->file], .s = s};

	return build(&t, l->rw->steps[c->step]);
}

/* --- replies ----------------------------------------------------------------------------- */

/* Where to go on reading; true: there was something. */
static bool read_names(struct run_lane *l, struct run_cycle *c, const struct load_slot *s,
		       const struct load_verdict *v)
{
	bool plus = s->req.opcode == FUSE_READDIRPLUS, any = false;
	struct load_dirents it;
	struct load_dirent d;

	load_dirents_start(&it, s->data, v->data_len, plus);
	while (load_dirents_next(&it, &d) > 0) {
		any = true;
		c->offset = d.off;
		if (d.has_entry && strcmp(d.name, ".") && strcmp(d.name, ".."))
			run_later_forget(l->thread->run,
					 &(struct run_forget){d.entry.nodeid, 1, s->uncounted});
	}
	return any;
}

static void keep(struct run_lane *l, struct run_cycle *c, const struct load_slot *s)
{
	struct fuse_entry_out entry = {0};
	struct fuse_open_out open = {0};
	uint32_t len = load_slot_out_len(s);

	switch (s->req.opcode) {
	case FUSE_CREATE:
		load_read_create(s->out, len, &entry, &open);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		load_read_open(s->out, len, &open);
		c->node = s->req.nodeid;
		c->offset = c->reads = 0;
		break;
	case FUSE_LOOKUP:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_LINK:
	case FUSE_SYMLINK:
		load_read_entry(s->out, len, &entry);
		break;
	default:
		return;
	}
	c->fh = open.fh;
	if (entry.nodeid)
		c->node = entry.nodeid;
	/* The workload that only looks up forgets at the end. */
	if (l->job.rw == LOAD_RW_LOOKUP && entry.nodeid)
		__atomic_fetch_add(&l->copy->file[c->file].looked_up, 1, __ATOMIC_RELAXED);
}

/* To the next step, or the next round; @again: or the same, for a directory has more. */
static void advance(struct run_lane *l, struct run_cycle *c, const struct load_slot *s,
		    const struct load_verdict *v, bool again)
{
	bool names = s->req.opcode == FUSE_READDIR || s->req.opcode == FUSE_READDIRPLUS;

	if (!v->error)
		keep(l, c, s);
	if (!v->error && names && read_names(l, c, s, v) && again && ++c->reads < READDIR_MAX)
		return;
	c->step++;
	/* What was not made need not be removed. */
	if (v->error && c->step == 1)
		c->step = LOAD_STEPS_MAX;
	if (c->step < LOAD_STEPS_MAX && l->rw->steps[c->step] == FUSE_FORGET) {
		run_later_forget(l->thread->run, &(struct run_forget){c->node, 1, s->uncounted});
		c->step++;
	}
	if (c->step >= LOAD_STEPS_MAX || !l->rw->steps[c->step])
		c->step = 0;
}

static bool meta_done(struct load_engine *e, struct load_slot *s, const struct load_verdict *v)
{
	struct run_lane *l = s->owner;
	struct run_cycle *c = &l->cycle[s->cookie[0]];

	l->in_flight--;
	l->blocked = false;
	run_count(l, s, v);
	advance(l, c, s, v, true);
	l->ready[l->nr_ready++] = c->index;
	return false;
}

/* --- sending ----------------------------------------------------------------------------- */

static void begin(struct run_lane *l, struct run_cycle *c)
{
	if (c->step)
		return;
	c->file = l->copy->nr_files == 1 ? 0 : (uint32_t)(l->position++ % l->copy->nr_files);
	c->n++;
	l->left--;
}

int run_meta_send(struct run_lane *l)
{
	struct load_slot *s = load_slot_get(l->thread->engine, l->due.queue);
	struct run_cycle *c = &l->cycle[l->ready[l->nr_ready - 1]];
	int err;

	l->blocked = !s;
	if (!s)
		return 0;
	begin(l, c);
	s->done = meta_done;
	s->owner = l;
	s->cookie[0] = c->index;
	s->age_ns = l->job.age_limit_ns;
	s->uncounted = l->due.at_ns < l->count_from_ns;
	err = prepare(l, c, s);
	if (!err)
		err = load_engine_submit(l->thread->engine, s, l->due.at_ns);
	if (err) {
		load_slot_put(l->thread->engine, s);
		l->left += !c->step;
		l->blocked = err == -ENOSPC;
		return err == -ENOSPC ? 0 : err;
	}
	l->nr_ready--;
	l->in_flight++;
	return 1;
}

void run_meta_finish(struct run_lane *l)
{
	struct load_engine *e = l->thread->engine;

	for (uint32_t i = 0; i < l->depth; i++) {
		struct run_cycle *c = &l->cycle[i];

		while (c->step && !load_engine_status(e)) {
			struct load_slot *s = load_slot_get(e, l->due.queue);
			struct load_verdict v;
			bool sent = s && !prepare(l, c, s);

			if (s)
				s->uncounted = true;
			sent = sent && !load_call(e, s, &v);
			if (sent)
				advance(l, c, s, &v, false);
			if (s)
				load_slot_put(e, s);
			if (!sent)
				break;
		}
	}
}
