/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clock's time as one number. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define VQS_SECOND_NS 1000000000ULL

static inline uint64_t vqs_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * VQS_SECOND_NS + (uint64_t)t.tv_nsec;
}

#endif
