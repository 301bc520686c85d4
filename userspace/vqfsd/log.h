/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon says on standard error, one line each: "vqfsd: queue 3: ...". What a guest or a
 * client can cause is rate-limited: FSD_LOG_BURST lines at once, then one every FSD_LOG_EVERY_NS;
 * what was left out is counted and told with the next line. Any thread.
 */
#ifndef VQFSD_LOG_H
#define VQFSD_LOG_H

#include <stdint.h>

#include "vqfsd/lock.h"

#define FSD_LOG_BURST    20u
#define FSD_LOG_EVERY_NS 1000000000ULL

enum fsd_log_level {
	FSD_LOG_ERROR,
	FSD_LOG_WARN,
	FSD_LOG_INFO,
	FSD_LOG_DEBUG,
	FSD_LOG_OFF = -1,
};

struct fsd_log {
	int level; /* enum fsd_log_level: this and above is told */
	int fd;    /* not owned */
	struct fsd_lock lock;
	uint32_t credit;
	uint64_t credit_ns; /* when credit was counted last */
	uint64_t left_out;
};

#define FSD_LOG_DEFAULT                                                 \
	{                                                               \
		.level = FSD_LOG_INFO, .fd = 2, .credit = FSD_LOG_BURST \
	}

/* NULL is silent. */
void fsd_say(struct fsd_log *log, enum fsd_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "off", "error", "warn", "info", "debug"; or -EINVAL. */
int fsd_log_level_named(const char *name, int *level);

#endif
