// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of jobs: made, filled and opened before the load, closed and removed after it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/rng.h"
#include "vqload/run_priv.h"
#include "vqload/verify.h"

int run_fail(struct run *r, int err, const char *format, ...)
{
	struct load_engine *e = r->device.engine;
	va_list args;

	/* The first one, and the engine's own before what follows from it. */
	if (*r->report->error)
		return err;
	if (e && load_engine_status(e)) {
		snprintf(r->report->error, sizeof(r->report->error), "%s", load_engine_error(e));
		return load_engine_status(e);
	}
	va_start(args, format);
	vsnprintf(r->report->error, sizeof(r->report->error), format, args);
	va_end(args);
	return err;
}

/* --- directories ------------------------------------------------------------------------- */

static int make_dir(struct run *r, uint64_t parent, const char *name, uint64_t *nodeid)
{
	struct load_session *s = &r->device.session;
	struct fuse_entry_out entry;
	struct run_dir *more;
	int err = load_do_lookup(s, parent, name, &entry);

	if (err != -ENOENT) {
		*nodeid = err ? 0 : entry.nodeid;
		return err;
	}
	err = load_do_mkdir(s, parent, name, 0755, &entry);
	if (err)
		return err;
	*nodeid = entry.nodeid;
	more = realloc(r->dir, (r->nr_dirs + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->dir = more;
	more += r->nr_dirs++;
	more->parent = parent;
	more->nodeid = entry.nodeid;
	snprintf(more->name, sizeof(more->name), "%s", name);
	return 0;
}

/* Every part of @path but what is behind the last slash, when @leaf; *nodeid is the last one. */
static int walk(struct run *r, uint64_t from, const char *path, bool leaf, uint64_t *nodeid)
{
	char part[LOAD_JOB_PATH];
	int err = 0;

	*nodeid = from;
	while (!err && *path) {
		size_t len = strcspn(path, "/");

		if (leaf && !path[len])
			break;
		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		err = make_dir(r, *nodeid, part, nodeid);
		path += len + (path[len] == '/');
	}
	return err;
}

/* --- files ------------------------------------------------------------------------------- */

static bool wants_data(const struct load_job *job)
{
	return load_rws[job->rw].reads || job->rw == LOAD_RW_COPY;
}

static bool wants_open(const struct load_job *job)
{
	const struct load_rw_spec *rw = &load_rws[job->rw];

	return rw->reads || rw->writes || job->rw == LOAD_RW_LSEEK || job->rw == LOAD_RW_LOCK ||
	       job->rw == LOAD_RW_FALLOCATE || job->rw == LOAD_RW_COPY || job->rw == LOAD_RW_FLUSH;
}

static void fill_blocks(struct run *r, const struct run_copy *c, struct run_file *f, char *data,
			uint64_t offset, uint32_t len)
{
	uint32_t bs = c->job->bs;

	if (c->job->verify == LOAD_VERIFY_NONE) {
		uint64_t rng = load_mix64(f->nodeid + offset);

		for (uint32_t i = 0; i + 8 <= len; i += 8) {
			uint64_t w = load_rng(&rng);

			memcpy(data + i, &w, 8);
		}
		return;
	}
	for (uint32_t i = 0; i + bs <= len; i += bs) {
		struct load_block b = {
			.seed = r->seed,
			.file = f->nodeid,
			.offset = offset + i,
			.generation = 1,
			.length = bs,
		};

		load_block_fill(data + i, &b);
		f->generation[(offset + i) / bs] = 1;
	}
}

static int fill(struct run *r, const struct run_copy *c, struct run_file *f)
{
	/* Whole blocks; a write takes as much of them as fits one request. */
	uint32_t bs = c->job->bs, most = r->bs_max < RUN_FILL_BYTES ? r->bs_max : RUN_FILL_BYTES;
	uint32_t chunk = bs < most ? most / bs * bs : bs;
	_cleanup_free_ char *data = calloc(1, chunk);
	int err = 0;

	if (!data)
		return -ENOMEM;
	for (uint64_t at = 0; !err && at < f->size;) {
		uint32_t len = f->size - at < chunk ? (uint32_t)(f->size - at) : chunk, done = 0;

		if (r->opts->stop && *r->opts->stop)
			return -EINTR;
		fill_blocks(r, c, f, data, at, len);
		for (uint32_t n = 0; !err && n < len; n += done) {
			err = load_do_write(&r->device.session, f->nodeid, f->fh, at + n, data + n,
					    len - n, &done);
			if (!err && !done)
				err = -EIO;
		}
		at += len;
	}
	return err;
}

static int make_file(struct run *r, const struct run_copy *c, uint64_t dir, const char *leaf,
		     struct run_file *f)
{
	struct load_session *s = &r->device.session;
	struct fuse_entry_out entry;
	int err = load_do_lookup(s, dir, leaf, &entry);
	bool keep = !err && entry.attr.size >= f->size && c->job->verify == LOAD_VERIFY_NONE;

	if (err == -ENOENT) {
		err = load_do_create(s, dir, leaf, O_EXCL, 0644, &entry, &f->fh);
		f->made = !err;
	} else if (!err) {
		err = load_do_open(s, entry.nodeid, O_RDWR, &f->fh);
	}
	if (err)
		return err;
	f->nodeid = entry.nodeid;
	f->open = true;
	if (wants_data(c->job) && !keep)
		err = fill(r, c, f);
	else if (c->job->rw == LOAD_RW_LSEEK && f->made)
		err = load_do_truncate(s, f->nodeid, f->size);
	if (err || wants_open(c->job))
		return err;
	f->open = false;
	return load_do_release(s, f->nodeid, f->fh, O_RDWR);
}

static int add_verify(const struct run_copy *c, struct run_file *f)
{
	if (c->job->verify == LOAD_VERIFY_NONE)
		return 0;
	f->generation = calloc(c->blocks, sizeof(*f->generation));
	f->busy = calloc(c->blocks, 1);
	return f->generation && f->busy ? 0 : -ENOMEM;
}

static int make_copy(struct run *r, struct run_copy *c)
{
	const struct load_job *job = c->job;
	uint64_t dir;
	int err = walk(r, FUSE_ROOT_ID, job->directory, false, &dir);

	c->dir = dir;
	if (err)
		return run_fail(r, err, "job %s: cannot make directory %s on the share: %s",
				job->name, job->directory, strerror(-err));
	for (uint32_t i = 0; i < c->nr_files; i++) {
		struct run_file *f = &c->file[i];
		const char *leaf;

		if (*job->filename)
			snprintf(f->name, sizeof(f->name), "%s", job->filename);
		else
			snprintf(f->name, sizeof(f->name), "%s.%u.%u", job->name, c->number, i);
		f->size = job->rw == LOAD_RW_COPY ? 2ULL * job->bs : c->blocks * job->bs;
		leaf = strrchr(f->name, '/');
		leaf = leaf ? leaf + 1 : f->name;
		err = walk(r, dir, f->name, true, &c->dir);
		if (!err)
			err = add_verify(c, f);
		if (!err)
			err = make_file(r, c, c->dir, leaf, f);
		memmove(f->name, leaf, strlen(leaf) + 1);
		if (err)
			return run_fail(r, err, "job %s: cannot lay out file %s on the share: %s%s",
					job->name, f->name, strerror(-err),
					err == -EROFS    ? "; it is read-only"
					: err == -ENOSPC ? "; lower size"
					: err == -EACCES ? "; the daemon may not write there"
							 : "");
	}
	return 0;
}

int run_files_make(struct run *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->nr_copies; i++) {
		struct run_copy *c = &r->copy[i];

		c->nr_files = c->job->nrfiles;
		c->blocks = c->job->size / c->job->nrfiles / c->job->bs;
		c->file = calloc(c->nr_files, sizeof(*c->file));
		err = c->file ? make_copy(r, c) : run_fail(r, -ENOMEM, "no memory for files");
	}
	return err;
}

int run_file_touch(struct run *r, uint64_t dir, const char *name)
{
	struct load_session *s = &r->device.session;
	struct fuse_entry_out entry;
	uint64_t fh;
	int err = load_do_create(s, dir, name, 0, 0644, &entry, &fh);

	return err ? err : load_do_release(s, entry.nodeid, fh, O_RDWR);
}

static void remove_copy(struct run *r, struct run_copy *c)
{
	struct load_session *s = &r->device.session;

	for (uint32_t i = 0; c->file && i < c->nr_files; i++) {
		struct run_file *f = &c->file[i];

		if (f->open)
			load_do_release(s, f->nodeid, f->fh, O_RDWR);
		if (f->made && !r->opts->keep)
			load_do_unlink(s, c->dir, f->name);
		load_session_know(s, f->nodeid, f->looked_up);
		free(f->generation);
		free(f->busy);
	}
	free(c->file);
	c->file = NULL;
}

/* Calls on a dead engine return at once. */
void run_files_remove(struct run *r)
{
	for (size_t i = 0; i < r->nr_copies; i++)
		remove_copy(r, &r->copy[i]);
	while (r->nr_dirs && !r->opts->keep) {
		struct run_dir *d = &r->dir[--r->nr_dirs];

		load_do_rmdir(&r->device.session, d->parent, d->name);
	}
	free(r->dir);
	r->dir = NULL;
}
