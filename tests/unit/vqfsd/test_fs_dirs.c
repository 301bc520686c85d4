// SPDX-License-Identifier: GPL-2.0-or-later
/* Directories: every name once, whatever the guest's room, also while names come and go. */
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "fs_rig.h"

#define FILES 1500

/* How often each file was seen, by number. */
struct seen {
	uint8_t times[FILES];
	uint32_t dots, others, without_node;
	uint64_t last;
};

static void see(struct guest *g, struct seen *s, const struct load_dirent *d, bool plus)
{
	uint32_t n;

	s->last = d->off;
	if (!strcmp(d->name, ".") || !strcmp(d->name, "..")) {
		s->dots++;
		must(!d->has_entry);
		return;
	}
	if (sscanf(d->name, "file-%u", &n) != 1 || n >= FILES) {
		s->others++;
		return;
	}
	s->times[n]++;
	must(d->type == DT_REG);
	if (plus && !d->has_entry)
		s->without_node++;
	if (d->has_entry)
		must(d->entry.attr.ino == d->ino && S_ISREG(d->entry.attr.mode));
}

/* One reply's worth from @offset; how many bytes. */
static int read_some(struct guest *g, struct seen *s, uint64_t fh, uint64_t offset, uint32_t size,
		     bool plus)
{
	struct load_dirents it;
	struct load_dirent d;
	int err = plus ? CALL(g, readdirplus, &g->head, fh, offset, size)
		       : CALL(g, readdir, &g->head, fh, offset, size);

	if (err)
		return err;
	load_dirents_start(&it, g->got, g->verdict.data_len, plus);
	while (load_dirents_next(&it, &d) > 0)
		see(g, s, &d, plus);
	must(it.pos == it.len);
	return (int)g->verdict.data_len;
}

static void read_all(struct guest *g, struct seen *s, uint64_t fh, uint32_t size, bool plus)
{
	int n;

	*s = (struct seen){0};
	while ((n = read_some(g, s, fh, s->last, size, plus)) > 0)
		;
	must(!n);
}

static uint64_t open_dir(struct guest *g, uint64_t id)
{
	uint64_t fh = 0;

	must(!opened(g, CALL(g, opendir, on(g, id), 0), &fh));
	return fh;
}

static void make_files(struct rig *rig)
{
	char name[32];

	for (int n = 0; n < FILES; n++) {
		snprintf(name, sizeof(name), "file-%d", n);
		put_file(rig, name, "");
	}
}

static void every_name_once(void **state)
{
	static const uint32_t sizes[] = {200, 1000, 4096, 100000};
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fsd_fs_stats st;
	struct seen s;
	uint64_t fh;

	make_files(rig);
	fh = open_dir(g, FUSE_ROOT_ID);
	for (size_t i = 0; i < ARRAY_SIZE(sizes) * 2; i++) {
		read_all(g, &s, fh, sizes[i / 2], i % 2);
		for (int n = 0; n < FILES; n++)
			assert_int_equal(s.times[n], 1);
		assert_int_equal(s.dots, 2);
		assert_int_equal(s.others, 0);
		assert_int_equal(s.without_node, 0);
	}
	fsd_fs_get_stats(rig->fs, &st);
	assert_int_equal(st.inodes, FILES + 1);
	assert_int_equal(st.handles, 1);
	assert_int_equal(read_some(g, &s, fh, 0, 20, false), -EINVAL);
	assert_int_equal(read_some(g, &s, fh, UINT64_MAX, 4096, false), -EINVAL);
	assert_int_equal(CALL(g, fsyncdir, on(g, FUSE_ROOT_ID), fh, false), 0);
	/* Neither is the other. */
	assert_int_equal(read_at(g, fh, 0, 100), -EBADF);
	assert_int_equal(CALL(g, release, on(g, FUSE_ROOT_ID), fh, 0), -EBADF);
	assert_int_equal(CALL(g, releasedir, on(g, FUSE_ROOT_ID), fh, 0), 0);
	assert_int_equal(read_some(g, &s, fh, 0, 4096, false), -EBADF);
}

static void offsets_stay_valid(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	static struct seen all, s;
	uint64_t offsets[40], fh;
	uint8_t first[40][32];
	int n = 0;

	make_files(rig);
	fh = open_dir(g, FUSE_ROOT_ID);
	all = (struct seen){0};
	for (; n < 40; n++) {
		offsets[n] = all.last;
		assert_true(read_some(g, &all, fh, all.last, 512, false) > 0);
		memcpy(first[n], g->got, sizeof(first[n]));
	}
	for (int k = 0; k < 200; k++) {
		int at = (int)fixture_below(&g->random, 40);

		assert_true(read_some(g, &s, fh, offsets[at], 512, k % 2) > 0);
		if (k % 2 == 0)
			assert_memory_equal(g->got, first[at], sizeof(first[at]));
	}
	/* Who begins anew sees what is new. */
	put_file(rig, "new", "");
	read_all(g, &s, fh, 4096, true);
	assert_int_equal(s.others, 1);
}

/* Names that cannot be looked up are there. */
static void failed_lookups_hide_no_name(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct rlimit old, low;
	static struct seen s;
	uint64_t fh;

	make_files(rig);
	fh = open_dir(g, FUSE_ROOT_ID);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = (struct rlimit){.rlim_cur = 100, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	read_all(g, &s, fh, 4096, true);
	assert_int_equal(CALL(g, lookup, on(g, FUSE_ROOT_ID), "file-1499"), -EMFILE);
	assert_int_equal(CALL(g, opendir, on(g, FUSE_ROOT_ID), 0), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	for (int n = 0; n < FILES; n++)
		assert_int_equal(s.times[n], 1);
	assert_true(s.without_node > FILES - 100);
}

/* --- many at once ------------------------------------------------------------------------------*/

#define THREADS 4

struct part {
	struct rig *rig;
	pthread_t thread;
	int number;
	_Atomic bool *stop;
};

/* Reads the directory again and again: what nobody touches is there once each time. */
static void *reader(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->rig->fs, (uint64_t)p->number);
	struct seen *s = malloc(sizeof(*s));

	for (int round = 0; round < 12; round++) {
		uint64_t fh = open_dir(g, FUSE_ROOT_ID);

		read_all(g, s, fh, round % 2 ? 1000 : 32768, p->number % 2);
		for (int n = 0; n < FILES; n++)
			must(s->times[n] == 1);
		must(!CALL(g, releasedir, on(g, FUSE_ROOT_ID), fh, 0));
	}
	free(s);
	guest_free(g);
	return NULL;
}

/* Makes, moves and removes other names. */
static void *mover(void *arg)
{
	struct part *p = arg;
	struct guest *g = guest_new(p->rig->fs, (uint64_t)p->number);
	char a[32], b[32];

	snprintf(a, sizeof(a), "moved-%d", p->number);
	snprintf(b, sizeof(b), "other-%d", p->number);
	while (!*p->stop) {
		uint64_t id, fh;

		must(!create(g, FUSE_ROOT_ID, a, O_RDWR | O_EXCL, &id, &fh));
		must(!CALL(g, rename2, on(g, FUSE_ROOT_ID), a, FUSE_ROOT_ID, b, 0));
		must(node(g, FUSE_ROOT_ID, b) == id);
		must(!CALL(g, unlink, on(g, FUSE_ROOT_ID), b));
		must(!CALL(g, getattr, on(g, id), &fh));
		must(!CALL(g, release, on(g, id), fh, 0));
		/* A reader may have looked it up too: its count is its own. */
		forget(g, id, 2);
	}
	guest_free(g);
	return NULL;
}

static void reading_survives_moves(void **state)
{
	struct rig *rig = *state;
	struct part part[THREADS];
	_Atomic bool stop = false;

	make_files(rig);
	for (int i = 0; i < THREADS; i++) {
		part[i] = (struct part){.rig = rig, .number = i, .stop = &stop};
		pthread_create(&part[i].thread, NULL, i < 2 ? reader : mover, &part[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		if (i == 2)
			stop = true;
		pthread_join(part[i].thread, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(every_name_once),
		T(offsets_stay_valid),
		T(failed_lookups_hide_no_name),
		T(reading_survives_moves),
	};
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
