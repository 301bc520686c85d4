// SPDX-License-Identifier: GPL-2.0-or-later
/* Guest memory: regions in and out, ranges across them, addresses at the end of everything. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "virtqueue/memory.h"

static uint64_t seed;

/* Addresses that are never followed. */
static void *at(uint64_t v)
{
	return (void *)(uintptr_t)v;
}

static void regions_are_sorted_and_apart(void **state)
{
	struct vq_mem m = {0};

	assert_int_equal(vq_mem_add(&m, 0x3000, 0x1000, at(0x30)), 0);
	assert_int_equal(vq_mem_add(&m, 0x1000, 0x1000, at(0x10)), 0);
	assert_int_equal(vq_mem_add(&m, 0x2000, 0x1000, at(0x20)), 0);
	assert_int_equal(m.region[0].gpa, 0x1000);
	assert_int_equal(m.region[2].gpa, 0x3000);
	assert_int_equal(vq_mem_add(&m, 0x3fff, 1, at(1)), -EEXIST);
	assert_int_equal(vq_mem_add(&m, 0x0, 0x1001, at(1)), -EEXIST);
	assert_int_equal(vq_mem_add(&m, 0x0, 0x10000, at(1)), -EEXIST);
	assert_int_equal(vq_mem_add(&m, 0x8000, 0, at(1)), -EINVAL);
	assert_int_equal(vq_mem_add(&m, UINT64_MAX, 2, at(1)), -EINVAL);
	assert_int_equal(vq_mem_remove(&m, 0x2000, 0xfff), -ENOENT);
	assert_int_equal(vq_mem_remove(&m, 0x2000, 0x1000), 0);
	assert_int_equal(m.nr, 2);
	assert_null(vq_mem_find(&m, 0x2000));
	assert_int_equal(vq_mem_find(&m, 0x3abc)->gpa, 0x3000);
}

static void there_are_so_many_slots(void **state)
{
	struct vq_mem m = {0};

	for (uint64_t i = 0; i < VQ_MEM_REGIONS; i++)
		assert_int_equal(vq_mem_add(&m, i * 0x2000, 0x1000, at(1)), 0);
	assert_int_equal(vq_mem_add(&m, 0x1000000, 1, at(1)), -ENOSPC);
}

static void the_last_byte_is_memory(void **state)
{
	struct vq_mem m = {0};
	struct iovec iov[2];

	assert_int_equal(vq_mem_add(&m, UINT64_MAX - 0xfff, 0x1000, at(0x10000)), 0);
	assert_int_equal(vq_mem_translate(&m, NULL, UINT64_MAX, 1, iov, 2), 1);
	assert_ptr_equal(iov[0].iov_base, at(0x10fff));
	assert_int_equal(vq_mem_translate(&m, NULL, UINT64_MAX, 2, iov, 2), -EFAULT);
	assert_int_equal(vq_mem_translate(&m, NULL, UINT64_MAX - 0xfff, 0x1000, iov, 2), 1);
	assert_int_equal(vq_mem_translate(&m, NULL, 0, UINT64_MAX, iov, 2), -EFAULT);
}

static void no_byte_is_nowhere(void **state)
{
	struct vq_mem m = {0};
	struct iovec iov[1];

	assert_int_equal(vq_mem_translate(&m, NULL, 0x1234, 0, iov, 0), 0);
	assert_int_equal(vq_mem_translate(&m, NULL, UINT64_MAX, 0, iov, 1), 0);
	assert_int_equal(vq_mem_translate(&m, NULL, 0x1234, 1, iov, 1), -EFAULT);
}

static void pieces_are_bounded(void **state)
{
	struct vq_mem m = {0};
	struct iovec iov[3];

	vq_mem_add(&m, 0x1000, 0x1000, at(0x100000));
	vq_mem_add(&m, 0x2000, 0x1000, at(0x500000));
	vq_mem_add(&m, 0x3000, 0x1000, at(0x300000));
	assert_int_equal(vq_mem_translate(&m, NULL, 0x1800, 0x2000, iov, 2), -ENOSPC);
	assert_int_equal(vq_mem_translate(&m, NULL, 0x1800, 0x2000, iov, 3), 3);
	assert_ptr_equal(iov[0].iov_base, at(0x100800));
	assert_ptr_equal(iov[1].iov_base, at(0x500000));
	assert_int_equal(iov[1].iov_len, 0x1000);
	assert_ptr_equal(iov[2].iov_base, at(0x300000));
	assert_int_equal(iov[2].iov_len, 0x800);
	assert_int_equal(vq_mem_translate(&m, NULL, 0x3800, 0x1000, iov, 3), -EFAULT);
	assert_null(vq_mem_at(&m, NULL, 0x1800, 0x1000));
	assert_ptr_equal(vq_mem_at(&m, NULL, 0x2000, 0x1000), at(0x500000));
}

/* The rule itself, byte by byte. */
static int64_t where(const struct vq_mem *m, uint64_t gpa)
{
	for (uint32_t i = 0; i < m->nr; i++)
		if (gpa >= m->region[i].gpa && gpa - m->region[i].gpa < m->region[i].size)
			return (int64_t)((uintptr_t)m->region[i].addr + (gpa - m->region[i].gpa));
	return -1;
}

static void check_range(const struct vq_mem *m, uint32_t *hint, uint64_t gpa, uint64_t len)
{
	struct iovec iov[VQ_MEM_REGIONS];
	int n = vq_mem_translate(m, hint, gpa, len, iov, VQ_MEM_REGIONS);
	uint64_t done = 0;

	for (int i = 0; i < n; i++)
		for (uint64_t k = 0; k < iov[i].iov_len; k++, done++)
			assert_int_equal((uintptr_t)iov[i].iov_base + k, where(m, gpa + done));
	if (n >= 0) {
		assert_int_equal(done, len);
		return;
	}
	while (done < len && where(m, gpa + done) >= 0)
		done++;
	assert_true(done < len);
}

static void translation_agrees_with_its_rule(void **state)
{
	uint64_t rng = seed;
	uint32_t hint = 77;

	for (int round = 0; round < 300; round++) {
		struct vq_mem m = {0};

		for (uint64_t n = fixture_below(&rng, 20); n; n--)
			vq_mem_add(&m, fixture_below(&rng, 600), 1 + fixture_below(&rng, 60),
				   at(4096 * (1 + fixture_below(&rng, 1000))));
		for (int i = 0; i < 200; i++)
			check_range(&m, &hint, fixture_below(&rng, 700), fixture_below(&rng, 90));
	}
}

int main(void)
{
	const char *given = getenv("VQS_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_sorted_and_apart),
		cmocka_unit_test(there_are_so_many_slots),
		cmocka_unit_test(the_last_byte_is_memory),
		cmocka_unit_test(no_byte_is_nowhere),
		cmocka_unit_test(pieces_are_bounded),
		cmocka_unit_test(translation_agrees_with_its_rule),
	};

	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("VQS_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
