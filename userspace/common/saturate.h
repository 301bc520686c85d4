/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums that end at the largest number instead of beginning anew: a figure from afar may be
 * anything. */
#ifndef COMMON_SATURATE_H
#define COMMON_SATURATE_H

#include <stdint.h>

static inline uint64_t vqs_add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif
