/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest of the served tree without a ring: vqload's builders write the requests, pieces of random
 * length stand for guest memory, and vqload's judge looks at every reply as Linux 7.1 does. What
 * the tree did is compared with the directory itself.
 */
#ifndef TESTS_UNIT_VQFSD_FS_RIG_H
#define TESTS_UNIT_VQFSD_FS_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "vqfsd/fs.h"
#include "vqload/fuse_reply.h"
#include "vqload/judge.h"

#define DATA_MAX   (1u << 20)
#define PIECES_MAX 64

/* For threads, where cmocka's asserts cannot be. */
#define must(x)                                                                                   \
	do {                                                                                      \
		if (!(x)) {                                                                       \
			fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #x, \
				errno);                                                           \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/* One thread of the guest. */
struct guest {
	struct fsd_fs *fs;
	struct fsd_thread *thread;
	struct load_judge *judge;
	uint64_t random, seq;
	struct load_head head;
	struct load_req r;
	struct fsd_outcome outcome;
	struct load_verdict verdict;
	uint8_t in[FUSE_MIN_READ_BUFFER * 10];
	uint8_t out[512 + LOAD_GUARD_SIZE];
	uint8_t sent[DATA_MAX];
	uint8_t got[DATA_MAX + LOAD_GUARD_SIZE];
};

static inline struct guest *guest_new(struct fsd_fs *fs, uint64_t seed)
{
	struct guest *g = calloc(1, sizeof(*g));

	must(g);
	g->fs = fs;
	g->random = seed;
	g->head = (struct load_head){.unique = 2, .nodeid = FUSE_ROOT_ID, .pid = 1};
	must(!fsd_thread_new(&g->thread, fs));
	g->judge = load_judge_new(1, 8);
	must(g->judge);
	load_req_init(&g->r, g->in, sizeof(g->in));
	return g;
}

static inline void guest_free(struct guest *g)
{
	must(load_judge_clean(g->judge));
	load_judge_free(g->judge);
	fsd_thread_free(g->thread);
	free(g);
}

/* [at, at + len) in pieces; returns how many. */
static inline unsigned int cut(struct guest *g, uint8_t *at, size_t len, struct iovec *iov)
{
	unsigned int n = 0;

	while (len) {
		size_t piece = n < PIECES_MAX / 2 - 1 ? 1 + fixture_below(&g->random, len) : len;

		/* Mostly headers whole, as Linux has them. */
		if (fixture_below(&g->random, 4))
			piece = len;
		iov[n++] = (struct iovec){.iov_base = at, .iov_len = piece};
		at += piece;
		len -= piece;
	}
	return n;
}

/* Executes g->r; the reply's error. */
static inline int call(struct guest *g)
{
	struct load_req *r = &g->r;
	struct iovec in[PIECES_MAX], out[PIECES_MAX];
	struct fsd_request request = {.in = in, .out = out};
	struct load_done done = {.seq = g->seq++, .out = g->out, .data = g->got};

	must(r->in_data_size <= sizeof(g->sent) && r->out_data_size <= DATA_MAX);
	request.nr_in = cut(g, g->in, r->in_size, in);
	request.nr_in += cut(g, g->sent, r->in_data_size, in + request.nr_in);
	request.in_bytes = (size_t)r->in_size + r->in_data_size;
	request.nr_out = cut(g, g->out, r->out_size, out);
	request.nr_out += cut(g, g->got, r->out_data_size, out + request.nr_out);
	request.out_bytes = (size_t)r->out_size + r->out_data_size;
	load_guard_fill(g->out + r->out_size, LOAD_GUARD_SIZE, 1);
	load_guard_fill(g->got + r->out_data_size, LOAD_GUARD_SIZE, 2);
	done.used = fsd_fs_handle(g->fs, g->thread, &request, &g->outcome);
	g->verdict = load_judge_reply(g->judge, r, &done);
	must(load_guard_check(g->out + r->out_size, LOAD_GUARD_SIZE, 1) < 0);
	must(load_guard_check(g->got + r->out_data_size, LOAD_GUARD_SIZE, 2) < 0);
	if (!g->verdict.usable)
		load_judge_text(g->judge, stderr);
	must(g->verdict.usable);
	must(g->outcome.opcode == r->opcode && g->outcome.unique == r->unique);
	must(r->reply_max == 0 || g->outcome.error == g->verdict.error);
	g->head.unique += LOAD_UNIQUE_STEP;
	return g->verdict.error;
}

static inline const struct load_head *on(struct guest *g, uint64_t nodeid)
{
	g->head.nodeid = nodeid;
	return &g->head;
}

#define CALL(g, build, ...) (load_build_##build(&(g)->r, __VA_ARGS__) ? -EXFULL : call(g))

/* Entries: of what is looked up or made. */
static inline int entry_of(struct guest *g, int err, struct fuse_entry_out *e)
{
	return err ? err : load_read_entry(g->out, g->r.out_size, e);
}
static inline uint64_t node(struct guest *g, uint64_t parent, const char *name)
{
	struct fuse_entry_out e = {0};

	if (entry_of(g, CALL(g, lookup, on(g, parent), name), &e))
		return 0;
	return e.nodeid;
}
static inline void forget(struct guest *g, uint64_t id, uint64_t n)
{
	must(!CALL(g, forget, on(g, id), n));
}

static inline int opened(struct guest *g, int err, uint64_t *fh)
{
	struct fuse_open_out o;

	if (!err)
		err = load_read_open(g->out, g->r.out_size, &o);
	if (!err)
		*fh = o.fh;
	return err;
}
static inline int open_node(struct guest *g, uint64_t id, uint32_t flags, uint64_t *fh)
{
	return opened(g, CALL(g, open, on(g, id), flags), fh);
}
static inline int create(struct guest *g, uint64_t parent, const char *name, uint32_t flags,
			 uint64_t *id, uint64_t *fh)
{
	struct fuse_entry_out e;
	struct fuse_open_out o;
	int err = CALL(g, create, on(g, parent), name, flags, 0644, 022);

	if (!err)
		err = load_read_create(g->out, g->r.out_size, &e, &o);
	if (err)
		return err;
	*id = e.nodeid;
	*fh = o.fh;
	return 0;
}

/* The bytes written (of g->sent), read (into g->got); -errno. */
static inline int write_at(struct guest *g, uint64_t fh, uint64_t offset, uint32_t size)
{
	uint32_t n = 0;
	int err = CALL(g, write, &g->head, fh, offset, size);

	if (!err)
		err = load_read_count(g->out, g->r.out_size, &n);
	return err ? err : (int)n;
}
static inline int read_at(struct guest *g, uint64_t fh, uint64_t offset, uint32_t size)
{
	int err = CALL(g, read, &g->head, fh, offset, size);

	return err ? err : (int)g->verdict.data_len;
}

/* A temporary directory, its tree and one guest. */
struct rig {
	char dir[64];
	int fd;
	struct fsd_fs *fs;
	struct guest *g;
};

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline void rig_serve(struct rig *rig, struct fsd_fs_options o)
{
	char *error = NULL;

	if (rig->g)
		guest_free(rig->g);
	fsd_fs_free(rig->fs);
	o.shared_dir = rig->dir;
	must(!fsd_fs_new(&rig->fs, &o, &error) && !error);
	rig->g = guest_new(rig->fs, 7);
}

static inline int rig_setup(void **state)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;
	struct rig *rig = calloc(1, sizeof(*rig));

	must(rig);
	snprintf(rig->dir, sizeof(rig->dir), "/tmp/vqfsd-test-XXXXXX");
	must(mkdtemp(rig->dir));
	rig->fd = open(rig->dir, O_RDONLY | O_DIRECTORY);
	must(rig->fd >= 0);
	rig_serve(rig, o);
	*state = rig;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *rig = *state;

	guest_free(rig->g);
	fsd_fs_free(rig->fs);
	close(rig->fd);
	nftw(rig->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(rig);
	return 0;
}

/* A file of the directory, made behind the guest's back. */
static inline void put_file(struct rig *rig, const char *name, const char *text)
{
	int fd = openat(rig->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

#endif
