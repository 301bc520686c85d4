/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a snapshot's figures less than the whole truth, in words: the same for the tables of
 * stat and for top, which place them differently. Pure functions of a snapshot.
 */
#ifndef CLI_WARNINGS_H
#define CLI_WARNINGS_H

#include <stddef.h>
#include <stdint.h>

#include "observe/snapshot.h"

struct warn_loss {
	uint64_t n;
	const char *what; /* "stacks of lock waits" */
};

#define WARN_LOSSES 8

/* Fills @out with what was not seen or not kept, by cause; causes that lost nothing are left out.
 * Returns how many there are. */
size_t warn_losses(const struct vqs_snapshot *s, struct warn_loss out[WARN_LOSSES]);

/* Why the waits for locks are not all there, as a sentence without its end; "" when they are. */
void warn_locks(const struct vqs_snapshot *s, char *out, size_t size);

#endif
