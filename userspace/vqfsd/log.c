// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cleanup.h"

/* Whether one more line may be told, and how many were not since the last. */
static bool take_credit(struct fsd_log *log, uint64_t *left_out)
{
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC), earned;
	bool ok;

	fsd_lock_take(&log->lock);
	earned = (now - log->credit_ns) / FSD_LOG_EVERY_NS;
	if (earned) {
		log->credit = earned > FSD_LOG_BURST - log->credit ? FSD_LOG_BURST
								   : log->credit + (uint32_t)earned;
		log->credit_ns = now;
	}
	ok = log->credit;
	if (ok)
		log->credit--;
	else
		log->left_out++;
	*left_out = log->left_out;
	if (ok)
		log->left_out = 0;
	fsd_lock_give(&log->lock);
	return ok;
}

void fsd_say(struct fsd_log *log, enum fsd_log_level level, const char *format, ...)
{
	char line[512];
	uint64_t left_out;
	va_list args;
	int n;

	if (!log || (int)level > log->level || !take_credit(log, &left_out))
		return;
	n = snprintf(line, sizeof(line), "vqfsd: ");
	if (left_out)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "(%llu lines left out) ",
			      (unsigned long long)left_out);
	va_start(args, format);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	/* Nobody to tell that it cannot be told. */
	if (write(log->fd, line, (size_t)n) < 0)
		return;
}

int fsd_log_level_named(const char *name, int *level)
{
	static const char *const names[] = {"off", "error", "warn", "info", "debug"};

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]))
			continue;
		*level = i - 1;
		return 0;
	}
	return -EINVAL;
}
