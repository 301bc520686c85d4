// SPDX-License-Identifier: GPL-2.0-or-later
/* Guards: a pattern of words around a buffer, each a function of the key and of its position. */
#include <string.h>

#include "vqload/judge.h"
#include "vqload/rng.h"

static uint64_t word(uint64_t key, size_t i)
{
	return load_mix64(key + i * LOAD_RNG_STEP);
}

void load_guard_fill(void *at, size_t len, uint64_t key)
{
	for (size_t i = 0; i * 8 < len; i++) {
		uint64_t w = word(key, i);

		memcpy((char *)at + i * 8, &w, len - i * 8 < 8 ? len - i * 8 : 8);
	}
}

int64_t load_guard_check(const void *at, size_t len, uint64_t key)
{
	for (size_t i = 0; i * 8 < len; i++) {
		size_t n = len - i * 8 < 8 ? len - i * 8 : 8;
		uint64_t w = word(key, i), got = w;
		uint8_t want[8], have[8];

		memcpy(&got, (const char *)at + i * 8, n);
		if (got == w)
			continue;
		memcpy(want, &w, 8);
		memcpy(have, &got, 8);
		for (size_t b = 0; b < n; b++)
			if (want[b] != have[b])
				return (int64_t)(i * 8 + b);
	}
	return -1;
}
