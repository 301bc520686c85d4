// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests as they go onto the wire: sizes, bytes, and what reply they announce. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "observe/snapshot.h"
#include "seed.h"
#include "vqload/fuse_ops.h"

#define IN  sizeof(struct fuse_in_header)
#define OUT sizeof(struct fuse_out_header)

static uint64_t seed;
static const struct load_head head = {
	.unique = 0x1122334455667788,
	.nodeid = 42,
	.uid = 1000,
	.gid = 100,
	.pid = 4711,
};
static const struct fuse_file_lock lock = {.start = 1, .end = 9, .type = F_WRLCK, .pid = 5};
static const struct fuse_setattr_in setattr = {.valid = FATTR_MODE, .mode = 0600};
static const struct fuse_copy_file_range_in copy = {.fh_in = 1, .nodeid_out = 43, .len = 77};
static const struct fuse_forget_one ones[3] = {{2, 1}, {3, 1}, {4, 2}};

/* Every builder once, with what its request and its reply must measure: header apart. */
struct shape {
	uint32_t opcode;
	uint32_t in, in_data, out_min, out_max;
};

static struct shape built(struct load_req *r, int which)
{
	struct load_init init;
	uint64_t fh = 7;

#define CASE(n, call, ...)                 \
	case n:                            \
		assert_int_equal(call, 0); \
		return (struct shape){__VA_ARGS__}
	load_init_linux(&init);
	switch (which) {
		CASE(0, load_build_init(r, &head, &init), 26, 64, 0, 0, 64);
		CASE(1, load_build_destroy(r, &head), 38, 0, 0, 0, 0);
		CASE(2, load_build_lookup(r, &head, "abc"), 1, 4, 0, 128, 128);
		CASE(3, load_build_forget(r, &head, 3), 2, 8, 0, 0, 0);
		CASE(4, load_build_batch_forget(r, &head, ones, 3), 42, 8 + 48, 0, 0, 0);
		CASE(5, load_build_interrupt(r, &head, 10), 36, 8, 0, 0, 0);
		CASE(6, load_build_getattr(r, &head, &fh), 3, 16, 0, 104, 104);
		CASE(7, load_build_statx(r, &head, NULL, STATX_BASIC_STATS), 52, 24, 0, 288, 288);
		CASE(8, load_build_setattr(r, &head, &setattr), 4, 88, 0, 104, 104);
		CASE(9, load_build_access(r, &head, R_OK), 34, 8, 0, 0, 0);
		CASE(10, load_build_statfs(r, &head), 17, 0, 0, 80, 80);
		CASE(11, load_build_syncfs(r, &head), 50, 8, 0, 0, 0);
		CASE(12, load_build_open(r, &head, O_RDWR | O_CREAT), 14, 8, 0, 16, 16);
		CASE(13, load_build_opendir(r, &head, O_DIRECTORY), 27, 8, 0, 16, 16);
		CASE(14, load_build_create(r, &head, "new", O_RDWR, 0644, 022), 35, 20, 0, 144,
		     144);
		CASE(15, load_build_release(r, &head, 7, O_RDWR), 18, 24, 0, 0, 0);
		CASE(16, load_build_releasedir(r, &head, 7, 0), 29, 24, 0, 0, 0);
		CASE(17, load_build_flush(r, &head, 7, 1), 25, 24, 0, 0, 0);
		CASE(18, load_build_fsync(r, &head, 7, true), 20, 16, 0, 0, 0);
		CASE(19, load_build_fsyncdir(r, &head, 7, false), 30, 16, 0, 0, 0);
		CASE(20, load_build_read(r, &head, 7, 8192, 4096), 15, 40, 0, 0, 4096);
		CASE(21, load_build_write(r, &head, 7, 8192, 4096), 16, 40, 4096, 8, 8);
		CASE(22, load_build_readdir(r, &head, 7, 0, 1000), 28, 40, 0, 0, 1000);
		CASE(23, load_build_readdirplus(r, &head, 7, 0, 1000), 44, 40, 0, 0, 1000);
		CASE(24, load_build_mkdir(r, &head, "dir", 0755, 022), 9, 12, 0, 128, 128);
		CASE(25, load_build_mknod(r, &head, "f", S_IFIFO | 0600, 0, 0), 8, 18, 0, 128, 128);
		CASE(26, load_build_unlink(r, &head, "gone"), 10, 5, 0, 0, 0);
		CASE(27, load_build_rmdir(r, &head, "gone"), 11, 5, 0, 0, 0);
		CASE(28, load_build_rename2(r, &head, "a", 5, "bc", 0), 12, 8 + 5, 0, 0, 0);
		CASE(29, load_build_rename2(r, &head, "a", 5, "bc", 2), 45, 16 + 5, 0, 0, 0);
		CASE(30, load_build_link(r, &head, 9, "ln"), 13, 11, 0, 128, 128);
		CASE(31, load_build_symlink(r, &head, "s", "to"), 6, 5, 0, 128, 128);
		CASE(32, load_build_readlink(r, &head, 4095), 5, 0, 0, 0, 4095);
		CASE(33, load_build_fallocate(r, &head, 7, 0, 10, 0), 43, 32, 0, 0, 0);
		CASE(34, load_build_lseek(r, &head, 7, 0, SEEK_DATA), 46, 24, 0, 8, 8);
		CASE(35, load_build_copy_file_range(r, &head, &copy, false), 47, 56, 0, 8, 8);
		CASE(36, load_build_copy_file_range(r, &head, &copy, true), 53, 56, 0, 8, 8);
		CASE(37, load_build_setxattr(r, &head, "user.x", "val", 3, 0, false), 21, 18, 0, 0,
		     0);
		CASE(38, load_build_setxattr(r, &head, "user.x", "val", 3, 0, true), 21, 26, 0, 0,
		     0);
		CASE(39, load_build_getxattr(r, &head, "user.x", 0), 22, 15, 0, 8, 8);
		CASE(40, load_build_getxattr(r, &head, "user.x", 64), 22, 15, 0, 0, 64);
		CASE(41, load_build_listxattr(r, &head, 0), 23, 8, 0, 8, 8);
		CASE(42, load_build_listxattr(r, &head, 256), 23, 8, 0, 0, 256);
		CASE(43, load_build_removexattr(r, &head, "user.x"), 24, 7, 0, 0, 0);
		CASE(44, load_build_getlk(r, &head, 7, 1, &lock), 31, 48, 0, 24, 24);
		CASE(45, load_build_setlk(r, &head, 7, 1, &lock, true), 32, 48, 0, 0, 0);
		CASE(46, load_build_setlkw(r, &head, 7, 1, &lock, false), 33, 48, 0, 0, 0);
	}
	return (struct shape){0};
}

static void every_request_has_its_size(void **state)
{
	uint8_t buf[1024];
	uint64_t seen = 0;
	struct load_req r;
	struct shape s;

	for (int i = 0;; i++) {
		struct fuse_in_header h;
		bool none;

		memset(buf, 0xaa, sizeof(buf));
		load_req_init(&r, buf, sizeof(buf));
		s = built(&r, i);
		if (!s.opcode)
			break;
		memcpy(&h, buf, IN);
		none = load_op(s.opcode)->rule == LOAD_REPLY_NONE;
		seen |= 1ULL << s.opcode;
		assert_int_equal(r.opcode, s.opcode);
		assert_int_equal(h.opcode, s.opcode);
		assert_int_equal(r.in_size, IN + s.in);
		assert_int_equal(r.in_data_size, s.in_data);
		assert_int_equal(h.len, r.in_size + r.in_data_size);
		assert_int_equal(r.reply_min, none ? 0 : OUT + s.out_min);
		assert_int_equal(r.reply_max, none ? 0 : OUT + s.out_max);
		assert_int_equal(r.out_size + r.out_data_size, r.reply_max);
		assert_int_equal(r.hiprio, none);
		assert_int_equal(h.nodeid, 42);
		assert_int_equal(h.uid, 1000);
		assert_int_equal(h.gid, 100);
		assert_int_equal(h.pid, 4711);
		assert_int_equal(h.padding, 0);
		assert_int_equal(h.total_extlen, 0);
		assert_int_equal(h.unique, s.opcode == FUSE_INTERRUPT ? 11 : head.unique);
		assert_int_equal(r.unique, h.unique);
		/* Nothing behind it was touched. */
		for (size_t b = r.in_size; b < sizeof(buf); b++)
			assert_int_equal(buf[b], 0xaa);
	}
	/* Each row of the table was there. */
	for (uint32_t op = 0; op < LOAD_OPS; op++)
		assert_int_equal(load_op(op) != NULL, seen >> op & 1);
}

/* A buffer of every smaller size is refused, and not overrun: ASan watches. */
static void small_buffers_are_refused(void **state)
{
	for (int i = 0;; i++) {
		struct load_init init;
		uint8_t full[1024];
		struct load_req r;

		load_req_init(&r, full, sizeof(full));
		if (!built(&r, i).opcode)
			break;
		if (i != 0 && i != 2 && i != 28 && i != 38)
			continue;
		load_init_linux(&init);
		for (uint32_t cap = 0, whole = r.in_size; cap <= whole; cap++) {
			_cleanup_free_ uint8_t *buf = malloc(cap ? cap : 1);
			int want = cap < whole ? -ENOSPC : 0, got;

			load_req_init(&r, buf, cap);
			got = i == 0   ? load_build_init(&r, &head, &init)
			      : i == 2 ? load_build_lookup(&r, &head, "abc")
			      : i == 28
				      ? load_build_rename2(&r, &head, "a", 5, "bc", 0)
				      : load_build_setxattr(&r, &head, "user.x", "val", 3, 0, true);
			assert_int_equal(got, want);
		}
	}
}

static void names_follow_the_arguments(void **state)
{
	uint8_t buf[256];
	struct fuse_rename2_in in;
	struct load_req r;

	load_req_init(&r, buf, sizeof(buf));
	assert_int_equal(load_build_rename2(&r, &head, "old", 5, "newer", 1), 0);
	memcpy(&in, buf + IN, sizeof(in));
	assert_int_equal(in.newdir, 5);
	assert_int_equal(in.flags, 1);
	assert_memory_equal(buf + IN + sizeof(in), "old\0newer", 10);
	assert_int_equal(load_build_setxattr(&r, &head, "user.a", "VALUE", 5, 0, false), 0);
	assert_memory_equal(buf + IN + 8, "user.a\0VALUE", 12);
	assert_int_equal(load_build_symlink(&r, &head, "link", "../target"), 0);
	assert_memory_equal(buf + IN, "link\0../target", 15);
	assert_int_equal(r.type, S_IFLNK);
}

static void bad_arguments_are_refused(void **state)
{
	static char longest[LOAD_NAME_MAX + 2];
	static uint8_t buf[LOAD_NAME_MAX + 200];
	struct fuse_copy_file_range_in far = {.len = 1ULL << 33};
	struct load_req r;

	memset(longest, 'x', LOAD_NAME_MAX + 1);
	load_req_init(&r, buf, sizeof(buf));
	assert_int_equal(load_build_lookup(&r, &head, ""), -EINVAL);
	assert_int_equal(load_build_lookup(&r, &head, longest), -EINVAL);
	longest[LOAD_NAME_MAX] = '\0';
	assert_int_equal(load_build_lookup(&r, &head, longest), 0);
	assert_int_equal(load_build_write(&r, &head, 1, 0, UINT32_MAX), -EINVAL);
	assert_int_equal(load_build_read(&r, &head, 1, 0, UINT32_MAX), -EINVAL);
	assert_int_equal(load_build_copy_file_range(&r, &head, &far, false), -EINVAL);
	assert_int_equal(load_build_copy_file_range(&r, &head, &far, true), 0);
	assert_int_equal(r.limit, 1ULL << 33);
}

/* A request may be built over another one: nothing of that stays. */
static void requests_are_built_again(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 2000; round++) {
		uint8_t a[1024] = {0}, b[1024] = {0};
		struct load_req ra, rb;
		int i = (int)fixture_below(&rng, 47);

		load_req_init(&ra, a, sizeof(a));
		load_req_init(&rb, b, sizeof(b));
		built(&ra, (int)fixture_below(&rng, 47));
		built(&ra, i);
		built(&rb, i);
		assert_memory_equal(a, b, rb.in_size);
		ra.in = rb.in;
		assert_memory_equal(&ra, &rb, sizeof(ra));
	}
}

static void open_does_not_create(void **state)
{
	uint8_t buf[256];
	struct fuse_open_in in;
	struct fuse_create_in create;
	struct load_req r;

	load_req_init(&r, buf, sizeof(buf));
	load_build_open(&r, &head, O_RDWR | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC);
	memcpy(&in, buf + IN, sizeof(in));
	assert_int_equal(in.flags, O_RDWR | O_TRUNC);
	load_build_create(&r, &head, "x", O_RDWR | O_CREAT, 0640, 0);
	memcpy(&create, buf + IN, sizeof(create));
	assert_int_equal(create.mode, S_IFREG | 0640);
	assert_int_equal(r.type, S_IFREG);
}

static void init_splits_its_flags(void **state)
{
	uint8_t buf[256];
	struct fuse_init_in in;
	struct load_init init;
	struct load_req r;

	load_init_linux(&init);
	load_req_init(&r, buf, sizeof(buf));
	load_build_init(&r, &(struct load_head){0}, &init);
	memcpy(&in, buf + IN, sizeof(in));
	assert_int_equal(in.major, 7);
	assert_int_equal(in.minor, 46);
	assert_int_equal(in.flags | (uint64_t)in.flags2 << 32, init.flags);
	assert_true(in.flags & FUSE_INIT_EXT && in.flags & FUSE_MAX_PAGES);
}

static void names_are_those_of_vqsteer(void **state)
{
	for (uint32_t op = 0; op < LOAD_OPS; op++) {
		if (!load_op(op))
			continue;
		assert_string_equal(load_op_name(op), obs_op_name(op));
		assert_ptr_equal(load_op_named(load_op_name(op)), load_op(op));
	}
	assert_ptr_equal(load_op_named("getattr"), load_op(FUSE_GETATTR));
	assert_null(load_op_named("nonsense"));
	assert_null(load_op(LOAD_OPS));
	assert_null(load_op(UINT32_MAX));
	assert_string_equal(load_op_name(19), "UNKNOWN");
}

static void errors_that_are_normal(void **state)
{
	assert_true(load_op_error_is_normal(load_op(FUSE_LOOKUP), -ENOENT));
	assert_false(load_op_error_is_normal(load_op(FUSE_LOOKUP), -EIO));
	assert_true(load_op_error_is_normal(load_op(FUSE_GETXATTR), -ENODATA));
	assert_false(load_op_error_is_normal(load_op(FUSE_READ), -EIO));
	assert_false(load_op_error_is_normal(load_op(FUSE_READ), 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_has_its_size),
		cmocka_unit_test(small_buffers_are_refused),
		cmocka_unit_test(names_follow_the_arguments),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(requests_are_built_again),
		cmocka_unit_test(open_does_not_create),
		cmocka_unit_test(init_splits_its_flags),
		cmocka_unit_test(names_are_those_of_vqsteer),
		cmocka_unit_test(errors_that_are_normal),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests_name("fuse_ops", tests, NULL, NULL);
}
