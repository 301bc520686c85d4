// SPDX-License-Identifier: GPL-2.0-or-later
/* Every finding of one reply by the smallest reply that causes it, and none by sound replies. */
#include <fcntl.h>
#include <sys/stat.h>

#include "judge_court.h"

/* --- virtio_fs_verify_response() ---------------------------------------------------------------*/

static void truncated_header(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, 0, NULL, 0, 15);
	refused(c, LOAD_HEADER_TRUNCATED, 16, 15);
}

static void nothing_at_all(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, 0, NULL, 0, 0);
	refused(c, LOAD_HEADER_TRUNCATED, 16, 0);
}

static void header_and_ring_differ(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, 0, NULL, 0, 16);
	c->out[0] = 17;
	refused(c, LOAD_LENGTH, 16, 17);
}

static void wrong_unique(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, 0, NULL, 0, 16);
	c->out[8] = 102;
	refused(c, LOAD_UNIQUE, 100, 102);
}

static void error_positive(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, 1, NULL, 0, 16);
	refused(c, LOAD_ERROR_RANGE, 0, 1);
}

static void error_of_the_kernels_own(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, -512, NULL, 0, 16);
	refused(c, LOAD_ERROR_RANGE, 0, -512);
}

static void error_at_the_edge(void **state)
{
	struct court *c = *state;

	load_build_unlink(&c->r, &head, "x");
	reply(c, -511, NULL, 0, 16);
	sound(c, -511, 0);
	/* No name for it: worth a note, no fault. */
	only(c, LOAD_UNUSUAL_ERROR, 0, -511);
}

static void error_with_a_tail(void **state)
{
	struct court *c = *state;

	load_build_getattr(&c->r, &head, NULL);
	reply(c, -ENOENT, NULL, 0, 16 + 104);
	refused(c, LOAD_ERROR_LENGTH, 16, 120);
}

static void plain_error(void **state)
{
	struct court *c = *state;

	load_build_lookup(&c->r, &head, "none");
	reply(c, -ENOENT, NULL, 0, 16);
	sound(c, -ENOENT, 0);
	only(c, LOAD_FINDINGS, 0, 0);
	assert_int_equal(load_judge_errors(c->j), 1);
}

static void fixed_reply_too_short(void **state)
{
	struct court *c = *state;

	load_build_getattr(&c->r, &head, NULL);
	reply(c, 0, NULL, 0, 16 + 103);
	refused(c, LOAD_TOO_SHORT, 120, 119);
}

static void read_longer_than_asked(void **state)
{
	struct court *c = *state;

	load_build_read(&c->r, &head, 1, 0, 4096);
	reply(c, 0, NULL, 0, 16 + 4097);
	refused(c, LOAD_TOO_LONG, 16 + 4096, 16 + 4097);
}

static void used_beyond_all_buffers(void **state)
{
	struct court *c = *state;

	load_build_read(&c->r, &head, 1, 0, 4096);
	reply(c, 0, NULL, 0, UINT32_MAX);
	refused(c, LOAD_TOO_LONG, 16 + 4096, UINT32_MAX);
}

static void short_read_is_fine(void **state)
{
	struct court *c = *state;

	load_build_read(&c->r, &head, 1, 0, 4096);
	reply(c, 0, NULL, 0, 16 + 7);
	sound(c, 0, 7);
	reply(c, 0, NULL, 0, 16);
	sound(c, 0, 0);
	reply(c, 0, NULL, 0, 16 + 4096);
	sound(c, 0, 4096);
	only(c, LOAD_FINDINGS, 0, 0);
}

static void forget_was_answered(void **state)
{
	struct court *c = *state;

	load_build_forget(&c->r, &head, 1);
	reply(c, 0, NULL, 0, 0);
	c->d.out = NULL;
	sound(c, 0, 0);
	reply(c, 0, NULL, 0, 16);
	c->d.out = NULL;
	refused(c, LOAD_UNWANTED, 0, 16);
}

/* --- values ------------------------------------------------------------------------------------*/

static void entry_without_a_node(void **state)
{
	struct court *c = *state;
	struct fuse_entry_out e = entry(S_IFDIR);

	e.nodeid = 0;
	load_build_lookup(&c->r, &head, "x");
	reply(c, 0, &e, sizeof(e), 16 + sizeof(e));
	sound(c, 0, 0); /* a name that is known not to be there */
	load_build_mkdir(&c->r, &head, "x", 0755, 0);
	reply(c, 0, &e, sizeof(e), 16 + sizeof(e));
	refused(c, LOAD_VALUE, 0, 0);
}

static void entry_of_the_wrong_type(void **state)
{
	struct court *c = *state;
	struct fuse_entry_out e = entry(S_IFDIR | 0755);

	load_build_mknod(&c->r, &head, "x", S_IFREG | 0644, 0, 0);
	reply(c, 0, &e, sizeof(e), 16 + sizeof(e));
	refused(c, LOAD_VALUE, S_IFREG, S_IFDIR | 0755);
}

static void attributes_without_a_type(void **state)
{
	struct court *c = *state;
	struct fuse_attr_out a = {.attr.mode = 0644};

	load_build_getattr(&c->r, &head, NULL);
	reply(c, 0, &a, sizeof(a), 16 + sizeof(a));
	refused(c, LOAD_VALUE, 0, 0644);
}

static void size_beyond_the_sky(void **state)
{
	struct court *c = *state;
	struct fuse_attr_out a = {.attr.mode = S_IFREG, .attr.size = 1ULL << 63};

	load_build_getattr(&c->r, &head, NULL);
	reply(c, 0, &a, sizeof(a), 16 + sizeof(a));
	refused(c, LOAD_VALUE, INT64_MAX, INT64_MIN);
}

static void wrote_more_than_asked(void **state)
{
	struct court *c = *state;
	struct fuse_write_out w = {.size = 4096};

	load_build_write(&c->r, &head, 1, 0, 4096);
	reply(c, 0, &w, sizeof(w), 16 + sizeof(w));
	sound(c, 0, 0);
	w.size = 4097;
	reply(c, 0, &w, sizeof(w), 16 + sizeof(w));
	refused(c, LOAD_VALUE, 4096, 4097);
}

static void lock_that_ends_before_it_starts(void **state)
{
	struct court *c = *state;
	struct fuse_file_lock lk = {.type = F_RDLCK, .start = 10, .end = 9};

	load_build_getlk(&c->r, &head, 1, 1, &lk);
	reply(c, 0, &lk, sizeof(lk), 16 + sizeof(lk));
	refused(c, LOAD_VALUE, 10, 9);
}

static void init_of_another_protocol(void **state)
{
	struct court *c = *state;
	struct fuse_init_out o = {.major = 8};
	struct load_init init;

	load_init_linux(&init);
	load_build_init(&c->r, &head, &init);
	reply(c, 0, &o, 8, 16 + 8);
	refused(c, LOAD_VALUE, 7, 8);
}

static void init_of_an_older_protocol(void **state)
{
	struct court *c = *state;
	struct fuse_init_out o = {.major = 7, .minor = 12}, got;
	struct load_init init;

	load_init_linux(&init);
	load_build_init(&c->r, &head, &init);
	reply(c, 0, &o, FUSE_COMPAT_22_INIT_OUT_SIZE, 16 + FUSE_COMPAT_22_INIT_OUT_SIZE);
	sound(c, 0, 0);
	assert_int_equal(load_read_init(c->out, c->d.used, &got), 0);
	assert_int_equal(got.minor, 12);
	assert_int_equal(got.max_pages, 0);
	only(c, LOAD_FINDINGS, 0, 0);
}

static void init_of_four_bytes(void **state)
{
	struct court *c = *state;
	struct fuse_init_out o = {.major = 7};
	struct load_init init;

	load_init_linux(&init);
	load_build_init(&c->r, &head, &init);
	reply(c, 0, &o, 4, 16 + 4);
	refused(c, LOAD_TOO_SHORT, 16 + 8, 20);
}

/* --- data --------------------------------------------------------------------------------------*/

static size_t put_dirent(uint8_t *at, const char *name, size_t len)
{
	struct fuse_dirent d = {.ino = 2, .off = 3, .namelen = (uint32_t)len, .type = 8};

	memcpy(at, &d, FUSE_NAME_OFFSET);
	memcpy(at + FUSE_NAME_OFFSET, name, len);
	return FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + len);
}

static void names_that_are_none(void **state)
{
	struct court *c = *state;
	size_t first, both;

	load_build_readdir(&c->r, &head, 1, 0, sizeof(c->data));
	first = put_dirent(c->data, "good", 4);
	both = first + put_dirent(c->data + first, "a/b", 3);
	reply(c, 0, NULL, 0, (uint32_t)(16 + both));
	refused(c, LOAD_DIRENT, (int64_t)both, (int64_t)first);
}

static void directory_cut_off(void **state)
{
	struct court *c = *state;
	size_t first, both;

	load_build_readdir(&c->r, &head, 1, 0, sizeof(c->data));
	first = put_dirent(c->data, "good", 4);
	both = first + put_dirent(c->data + first, "longer name", 11) - 8;
	reply(c, 0, NULL, 0, (uint32_t)(16 + both));
	assert_true(judge(c).usable);
	only(c, LOAD_DIRENT_TAIL, (int64_t)both, (int64_t)first);
}

static void plus_entry_that_cannot_be(void **state)
{
	struct court *c = *state;
	struct fuse_entry_out e = entry(0644);
	size_t len;

	load_build_readdirplus(&c->r, &head, 1, 0, sizeof(c->data));
	memcpy(c->data, &e, sizeof(e));
	len = sizeof(e) + put_dirent(c->data + sizeof(e), "..", 2);
	reply(c, 0, NULL, 0, (uint32_t)(16 + len));
	sound(c, 0, (uint32_t)len); /* Linux does not look at these two */
	put_dirent(c->data + sizeof(e), "xx", 2);
	reply(c, 0, NULL, 0, (uint32_t)(16 + len));
	refused(c, LOAD_VALUE, 0, 0644);
}

static void list_of_names_without_an_end(void **state)
{
	struct court *c = *state;

	load_build_listxattr(&c->r, &head, 64);
	memcpy(c->data, "user.a\0user.b", 14);
	reply(c, 0, NULL, 0, 16 + 14);
	sound(c, 0, 14);
	reply(c, 0, NULL, 0, 16 + 13);
	refused(c, LOAD_DIRENT, 13, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(truncated_header),
		TEST(nothing_at_all),
		TEST(header_and_ring_differ),
		TEST(wrong_unique),
		TEST(error_positive),
		TEST(error_of_the_kernels_own),
		TEST(error_at_the_edge),
		TEST(error_with_a_tail),
		TEST(plain_error),
		TEST(fixed_reply_too_short),
		TEST(read_longer_than_asked),
		TEST(used_beyond_all_buffers),
		TEST(short_read_is_fine),
		TEST(forget_was_answered),
		TEST(entry_without_a_node),
		TEST(entry_of_the_wrong_type),
		TEST(attributes_without_a_type),
		TEST(size_beyond_the_sky),
		TEST(wrote_more_than_asked),
		TEST(lock_that_ends_before_it_starts),
		TEST(init_of_another_protocol),
		TEST(init_of_an_older_protocol),
		TEST(init_of_four_bytes),
		TEST(names_that_are_none),
		TEST(directory_cut_off),
		TEST(plus_entry_that_cannot_be),
		TEST(list_of_names_without_an_end),
	};

	return cmocka_run_group_tests_name("judge_reply", tests, NULL, NULL);
}
