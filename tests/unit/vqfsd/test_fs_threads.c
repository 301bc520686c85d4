// SPDX-License-Identifier: GPL-2.0-or-later
/* Many queues at once: lookups against forgets, releases against reads, resets against everything.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "fs_rig.h"

#define THREADS 4
#define FILES   8

struct part {
	struct rig *rig;
	struct fsd_fs *fs;
	pthread_t thread;
	int number;
	uint64_t shared_fh;
	_Atomic bool *stop;
};

static void run(struct rig *rig, struct part *part, void *(*first)(void *), void *(*rest)(void *),
		uint64_t fh)
{
	_Atomic bool stop = false;

	for (int i = 0; i < THREADS; i++) {
		part[i] = (struct part){rig, rig->fs, 0, i, fh, &stop};
		assert_int_equal(pthread_create(&part[i].thread, NULL, i ? rest : first, &part[i]),
				 0);
	}
	for (int i = 1; i < THREADS; i++)
		pthread_join(part[i].thread, NULL);
	stop = true;
	pthread_join(part[0].thread, NULL);
}

/*
 * All look the same few names up and forget what they got: as long as one holds a lookup, the
 * number is good and means that file; when all are forgotten, nothing is left.
 */
static void *looker(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->fs, (uint64_t)p->number + 100);
	struct fuse_attr_out a;
	char name[16];

	for (int round = 0; round < 5000; round++) {
		unsigned int n = (unsigned int)fixture_below(&g->random, FILES);
		uint64_t id, again;

		snprintf(name, sizeof(name), "f%u", n);
		id = node(g, FUSE_ROOT_ID, name);
		must(id);
		must(!CALL(g, getattr, on(g, id), NULL));
		must(!load_read_attr(g->out, g->r.out_size, &a));
		must(a.attr.size == n + 1);
		again = node(g, FUSE_ROOT_ID, name);
		must(again == id);
		forget(g, id, 1 + round % 2);
		if (round % 2 == 0)
			forget(g, id, 1);
	}
	guest_free(g);
	return NULL;
}

static void lookups_race_forgets(void **state)
{
	struct rig *rig = *state;
	struct part part[THREADS];
	struct fsd_fs_stats s;

	for (int n = 0; n < FILES; n++) {
		char name[16], text[FILES + 1] = {0};

		snprintf(name, sizeof(name), "f%d", n);
		memset(text, 'x', (size_t)n + 1);
		put_file(rig, name, text);
	}
	run(rig, part, looker, looker, 0);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 1);
}

/* Opens a handle, that all read, and closes it under them. */
static void *closer(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->fs, 1);
	uint64_t id = node(g, FUSE_ROOT_ID, "f"), fh;

	while (!*p->stop) {
		must(!open_node(g, id, O_RDONLY, &fh));
		must(!CALL(g, release, on(g, id), fh, 0));
	}
	guest_free(g);
	return NULL;
}

/* Handles of now, of before and of nobody: data or EBADF, and never another file's. */
static void *guesser(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->fs, (uint64_t)p->number);

	for (uint64_t round = 0; round < 20000; round++) {
		uint64_t fh = fixture_below(&g->random, 4) | (round << 32);
		int n = read_at(g, fh, 0, 100);

		must(n == -EBADF || (n == 5 && !memcmp(g->got, "hello", 5)));
		must(read_at(g, p->shared_fh, 0, 100) == 5);
	}
	guest_free(g);
	return NULL;
}

static void releases_race_reads(void **state)
{
	struct rig *rig = *state;
	struct part part[THREADS];
	struct fsd_fs_stats s;
	uint64_t fh;

	put_file(rig, "f", "hello");
	assert_int_equal(open_node(rig->g, node(rig->g, FUSE_ROOT_ID, "f"), O_RDONLY, &fh), 0);
	run(rig, part, closer, guesser, fh);
	CALL(rig->g, release, on(rig->g, 2), fh, 0);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.handles, 0);
}

static void *resetter(void *arg)
{
	struct part *p = arg;

	while (!*p->stop)
		fsd_fs_reset(p->fs);
	return NULL;
}

/* Nothing is promised but replies, and that nothing is left. */
static void *user(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->fs, (uint64_t)p->number);
	uint64_t id, fh = 0;
	char name[16];

	snprintf(name, sizeof(name), "f%d", p->number);
	for (int round = 0; round < 3000; round++) {
		if (create(g, FUSE_ROOT_ID, name, O_RDWR, &id, &fh))
			continue;
		write_at(g, fh, 0, 100);
		read_at(g, fh, 0, 100);
		if (!opened(g, CALL(g, opendir, on(g, FUSE_ROOT_ID), 0), &fh))
			CALL(g, readdirplus, &g->head, fh, 0, 4096);
		CALL(g, unlink, on(g, FUSE_ROOT_ID), name);
		if (round % 3 == 0)
			forget(g, id, 1);
	}
	guest_free(g);
	return NULL;
}

static void resets_race_everything(void **state)
{
	struct rig *rig = *state;
	struct part part[THREADS];
	struct fsd_fs_stats s;

	run(rig, part, resetter, user, 0);
	fsd_fs_reset(rig->fs);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 1);
	assert_int_equal(s.handles, 0);
}

/* Each thread is somebody else, at the same time. */
static void *owner(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->fs, (uint64_t)p->number);
	struct fuse_entry_out e;
	char name[32];

	g->head.uid = (uint32_t)p->number * 1000;
	g->head.gid = (uint32_t)p->number * 1000 + 1;
	for (int round = 0; round < 1000; round++) {
		snprintf(name, sizeof(name), "o%d", p->number);
		must(!entry_of(g, CALL(g, mkdir, on(g, FUSE_ROOT_ID), name, 0700, 0), &e));
		must(e.attr.uid == g->head.uid && e.attr.gid == g->head.gid);
		must(!CALL(g, rmdir, on(g, FUSE_ROOT_ID), name));
		forget(g, e.nodeid, 1);
	}
	guest_free(g);
	return NULL;
}

static void owners_do_not_mix(void **state)
{
	struct rig *rig = *state;
	struct part part[THREADS];

	if (geteuid())
		skip();
	run(rig, part, owner, owner, 0);
	assert_int_equal(geteuid(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(lookups_race_forgets),
		T(releases_race_reads),
		T(resets_race_everything),
		T(owners_do_not_mix),
	};
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
