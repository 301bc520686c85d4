/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of vqload share: the seed. VQS_SEED=N repeats a run. */
#ifndef TESTS_UNIT_VQLOAD_SEED_H
#define TESTS_UNIT_VQLOAD_SEED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t seed_of_run(void)
{
	const char *given = getenv("VQS_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	printf("VQS_SEED=%" PRIu64 "\n", seed);
	return seed;
}

#endif
