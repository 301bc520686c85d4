// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>
#include <linux/fuse.h>

#include "observe/snapshot.h"

static void locks_are_called_by_their_field(void **state)
{
	assert_string_equal(obs_lock_name(VQS_LOCK_VQ), "virtio_fs_vq.lock");
	assert_string_equal(obs_lock_name(VQS_LOCK_BG), "fuse_conn.bg_lock");
	for (int k = -2; k < VQS_LOCK_KINDS + 2; k++)
		assert_non_null(obs_lock_name((enum vqs_lock_kind)k));
}

static void hops_have_distinct_names(void **state)
{
	for (int a = 0; a < VQS_HOPS; a++)
		for (int b = 0; b < a; b++)
			assert_string_not_equal(obs_hop_name((enum vqs_hop)a),
						obs_hop_name((enum vqs_hop)b));
	assert_non_null(obs_hop_name(VQS_HOPS));
	assert_non_null(obs_hop_name((enum vqs_hop) - 1));
}

/* Against this system's own header, which may be older than the table. */
static void opcodes_are_those_of_the_kernel(void **state)
{
	assert_string_equal(obs_op_name(FUSE_LOOKUP), "LOOKUP");
	assert_string_equal(obs_op_name(FUSE_FSYNC), "FSYNC");
	assert_string_equal(obs_op_name(FUSE_INIT), "INIT");
	assert_string_equal(obs_op_name(FUSE_SETLKW), "SETLKW");
	assert_string_equal(obs_op_name(FUSE_BATCH_FORGET), "BATCH_FORGET");
	assert_string_equal(obs_op_name(FUSE_REMOVEMAPPING), "REMOVEMAPPING");
	assert_string_equal(obs_op_name(FUSE_SYNCFS), "SYNCFS");
	assert_string_equal(obs_op_name(52), "STATX");
	assert_string_equal(obs_op_name(53), "COPY_FILE_RANGE_64");
}

static void unknown_opcodes_are_other(void **state)
{
	static const uint32_t unknown[] = {0, 7, 19, 54, 62, 63, 64, CUSE_INIT, UINT32_MAX};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_string_equal(obs_op_name(unknown[i]), "OTHER");
}

static void every_name_parses_back(void **state)
{
	char text[64];

	for (uint32_t op = 0; op < VQS_OPS; op++) {
		const char *name = obs_op_name(op);
		int want = strcmp(name, "OTHER") ? (int)op : VQS_OP_OTHER;

		assert_int_equal(obs_op_parse(name), want);
		snprintf(text, sizeof(text), "fuse_%s", name);
		assert_int_equal(obs_op_parse(text), want);
		for (char *p = text; *p; p++)
			*p = *p >= 'A' && *p <= 'Z' ? *p + 32 : *p;
		assert_int_equal(obs_op_parse(text), want);
		snprintf(text, sizeof(text), "%u", op);
		assert_int_equal(obs_op_parse(text), op ? (int)op : -EINVAL);
	}
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"",          "FUSE_", "fuse", "READ ", " READ", "READX", "-1",
		"+3",        "0",     "64",   "0x10",  "3.0",   "3 ",    "99999999999999999999999",
		"CUSE_INIT", "OP7",   "\xff", "%s",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(obs_op_parse(bad[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_are_called_by_their_field),
		cmocka_unit_test(hops_have_distinct_names),
		cmocka_unit_test(opcodes_are_those_of_the_kernel),
		cmocka_unit_test(unknown_opcodes_are_other),
		cmocka_unit_test(every_name_parses_back),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
