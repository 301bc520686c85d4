// SPDX-License-Identifier: GPL-2.0-or-later
/* Readers: what they read of sound replies, and that hostile ones do no harm (ASan watches). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "seed.h"
#include "vqload/fuse_reply.h"

#define OUT sizeof(struct fuse_out_header)

static uint64_t seed;

/* Every reader once, over the same bytes; which of them succeed depends on the length alone. */
static int read_by(int which, const void *out, size_t len, void *into)
{
	switch (which) {
	case 0:
		return load_read_entry(out, len, into);
	case 1:
		return load_read_create(out, len, into, (void *)((char *)into + 128));
	case 2:
		return load_read_attr(out, len, into);
	case 3:
		return load_read_statx(out, len, into);
	case 4:
		return load_read_open(out, len, into);
	case 5:
		return load_read_count(out, len, into);
	case 6:
		return load_read_count64(out, len, into);
	case 7:
		return load_read_statfs(out, len, into);
	case 8:
		return load_read_lseek(out, len, into);
	case 9:
		return load_read_xattr_size(out, len, into);
	case 10:
		return load_read_lock(out, len, into);
	default:
		return load_read_init(out, len, into);
	}
}

static const size_t needs[] = {128, 144, 104, 288, 16, 8, 8, 80, 8, 8, 24, 8};

static void too_short_replies_are_refused(void **state)
{
	_Alignas(8) uint8_t into[512];

	for (size_t which = 0; which < ARRAY_SIZE(needs); which++) {
		for (size_t len = 0; len <= OUT + needs[which]; len++) {
			/* Exactly as long: one byte more is read at one's peril. */
			_cleanup_free_ uint8_t *out = calloc(1, len ? len : 1);
			int want = len < OUT + needs[which] ? -EBADMSG : 0;

			assert_int_equal(read_by((int)which, out, len, into), want);
		}
	}
}

static void errors_are_returned(void **state)
{
	struct fuse_out_header h = {.len = 16, .error = -ENOTEMPTY};
	_Alignas(8) uint8_t into[512];

	for (size_t which = 0; which < ARRAY_SIZE(needs); which++)
		assert_int_equal(read_by((int)which, &h, OUT, into), -ENOTEMPTY);
	assert_int_equal(load_read_status(&h, OUT), -ENOTEMPTY);
	h.error = 5;
	assert_int_equal(load_read_status(&h, OUT), -EBADMSG);
	h.error = INT32_MIN;
	assert_int_equal(load_read_status(&h, OUT), -EBADMSG);
}

static void values_are_what_was_sent(void **state)
{
	struct {
		struct fuse_out_header h;
		struct fuse_entry_out e;
		struct fuse_open_out o;
	} r = {.e = {.nodeid = 5, .attr.size = 77}, .o = {.fh = 99}};
	struct fuse_entry_out e;
	struct fuse_open_out o;

	assert_int_equal(load_read_create(&r, sizeof(r), &e, &o), 0);
	assert_int_equal(e.nodeid, 5);
	assert_int_equal(e.attr.size, 77);
	assert_int_equal(o.fh, 99);
}

static void data_is_as_long_as_the_ring_says(void **state)
{
	const struct load_req r = {.out_size = 16, .out_data_size = 4096};

	assert_int_equal(load_reply_data_len(&r, 0), 0);
	assert_int_equal(load_reply_data_len(&r, 16), 0);
	assert_int_equal(load_reply_data_len(&r, 17), 1);
	assert_int_equal(load_reply_data_len(&r, 16 + 4096), 4096);
	assert_int_equal(load_reply_data_len(&r, UINT32_MAX), 4096);
}

/* --- directories -------------------------------------------------------------------------------*/

static size_t put(uint8_t *at, bool plus, const char *name, uint32_t namelen, uint64_t off)
{
	struct fuse_entry_out e = {.nodeid = off, .attr.mode = S_IFREG};
	struct fuse_dirent d = {.ino = off + 1000, .off = off, .namelen = namelen, .type = 8};
	size_t head = plus ? sizeof(e) : 0, len = head + FUSE_NAME_OFFSET + strlen(name);

	memcpy(at, &e, head);
	memcpy(at + head, &d, FUSE_NAME_OFFSET);
	memcpy(at + head + FUSE_NAME_OFFSET, name, strlen(name));
	return FUSE_DIRENT_ALIGN(len);
}

static void directories_are_read_whole(void **state)
{
	static const char *const names[] = {".", "..", "a", "exactly-8", "name with blanks", "ü"};

	for (int plus = 0; plus < 2; plus++) {
		uint8_t data[4096] = {0};
		struct load_dirents it;
		struct load_dirent d;
		size_t len = 0;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			len += put(data + len, plus, names[i], (uint32_t)strlen(names[i]), i);
		load_dirents_start(&it, data, len, plus);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			assert_int_equal(load_dirents_next(&it, &d), 1);
			assert_string_equal(d.name, names[i]);
			assert_int_equal(d.off, i);
			assert_int_equal(d.ino, i + 1000);
			assert_int_equal(d.type, 8);
			assert_int_equal(d.has_entry, plus && i);
		}
		assert_int_equal(load_dirents_next(&it, &d), 0);
		assert_int_equal(load_dirents_next(&it, &d), 0);
	}
}

static int first_of(const uint8_t *data, size_t len)
{
	struct load_dirents it;
	struct load_dirent d;

	load_dirents_start(&it, data, len, false);
	return load_dirents_next(&it, &d);
}

static void hostile_names(void **state)
{
	uint8_t data[8192] = {0};
	size_t len = put(data, false, "name", 4, 1);

	assert_int_equal(first_of(data, len), 1);
	assert_int_equal(first_of(data, len - 1), -EOVERFLOW);
	assert_int_equal(first_of(data, 1), -EOVERFLOW);
	assert_int_equal(first_of(NULL, 100), 0);
	put(data, false, "name", 0, 1);
	assert_int_equal(first_of(data, len), -EBADMSG);
	put(data, false, "name", UINT32_MAX, 1);
	assert_int_equal(first_of(data, len), -EBADMSG);
	put(data, false, "name", UINT32_MAX - 23, 1);
	assert_int_equal(first_of(data, len), -EBADMSG);
	put(data, false, "name", LOAD_NAME_MAX + 1, 1);
	assert_int_equal(first_of(data, sizeof(data)), -EBADMSG);
	put(data, false, "na/e", 4, 1);
	assert_int_equal(first_of(data, len), -EBADMSG);
	put(data, false, "name", 5, 1); /* with the NUL behind it */
	assert_int_equal(first_of(data, len), -EBADMSG);
}

/* Random bytes, and sound directories with some bytes changed: an end is always reached. */
static void random_directories(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 20000; round++) {
		size_t len = fixture_below(&rng, 600), at = 0;
		_cleanup_free_ uint8_t *data = calloc(1, len + 1);
		_cleanup_free_ uint8_t *exact = malloc(len ? len : 1);
		bool plus = fixture_below(&rng, 2);
		struct load_dirents it;
		struct load_dirent d;
		int r;

		while (at + 160 < len)
			at += put(data + at, plus, "file", 4, at);
		for (size_t n = fixture_below(&rng, 6); n-- && len;)
			data[fixture_below(&rng, len)] = (uint8_t)fixture_rand(&rng);
		memcpy(exact, data, len);
		load_dirents_start(&it, exact, len, plus);
		for (size_t steps = 0; (r = load_dirents_next(&it, &d)) > 0; steps++) {
			assert_true(steps < len / 24);
			assert_true(it.pos <= len);
			assert_int_equal(strlen(d.name), d.namelen);
		}
		assert_true(r == 0 || r == -EBADMSG || r == -EOVERFLOW);
		assert_true(r || it.pos == len);
	}
}

static void sanity(void **state)
{
	struct fuse_attr a = {.mode = S_IFREG, .size = INT64_MAX};
	struct fuse_entry_out e = {.nodeid = 2, .attr = a};
	struct fuse_statx s = {.size = UINT64_MAX, .mode = 0};

	assert_true(load_attr_sane(&a));
	a.size++;
	assert_false(load_attr_sane(&a));
	a.size = 0;
	a.mode = 0;
	assert_false(load_attr_sane(&a));
	assert_true(load_entry_sane(&e));
	e.nodeid = FUSE_ROOT_ID;
	assert_false(load_entry_sane(&e));
	assert_true(load_statx_sane(&s)); /* says nothing of either */
	s.mask = STATX_SIZE;
	assert_false(load_statx_sane(&s));
	s.mask = STATX_TYPE;
	assert_false(load_statx_sane(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_short_replies_are_refused),
		cmocka_unit_test(errors_are_returned),
		cmocka_unit_test(values_are_what_was_sent),
		cmocka_unit_test(data_is_as_long_as_the_ring_says),
		cmocka_unit_test(directories_are_read_whole),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(random_directories),
		cmocka_unit_test(sanity),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests_name("fuse_reply", tests, NULL, NULL);
}
