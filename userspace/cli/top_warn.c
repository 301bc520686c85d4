// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What makes top's numbers less than the whole truth, as sentences: requests not followed, lock
 * waits not seen, queues that this kernel leaves idle.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"
#include "cli/top_model.h"
#include "cli/warnings.h"

/* Below that an interval says nothing about how queues are used. */
#define TOP_ENOUGH_REQUESTS 100

static int __attribute__((format(printf, 2, 3))) warn(struct top_model *m, const char *fmt, ...)
{
	va_list ap;

	if (m->nr_warnings == m->cap_warnings) {
		size_t cap = m->cap_warnings ? 2 * m->cap_warnings : 8;
		char(*more)[TOP_WARNING_LEN] = reallocarray(m->warnings, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->warnings = more;
		m->cap_warnings = cap;
	}
	va_start(ap, fmt);
	vsnprintf(m->warnings[m->nr_warnings++], TOP_WARNING_LEN, fmt, ap);
	va_end(ap);
	return 0;
}

static int warn_untracked(struct top_model *m)
{
	uint64_t submitted = 0, taken = 0, missed = 0, start = 0;
	int err = 0;

	for (size_t i = 0; i < m->nr_rows; i++) {
		const struct vqs_snap_queue *q = m->rows[i].queue;

		submitted += q->submitted;
		taken += q->untracked_slot_taken;
		missed += q->end_missed;
		start += q->start_missed;
	}
	if (taken || missed)
		err = warn(m,
			   "not followed: %" PRIu64 " of %" PRIu64 " requests (no slot %" PRIu64
			   ", end missed %" PRIu64 ")",
			   taken + missed, submitted, taken, missed);
	if (start && !err)
		err = warn(m, "timed from the ring only, begun before: %" PRIu64 " requests",
			   start);
	return err;
}

static int warn_lost(struct top_model *m)
{
	struct warn_loss loss[WARN_LOSSES];
	size_t nr = warn_losses(m->delta, loss);
	char num[REND_NUM];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = warn(m, "lost: %s %s", rend_count(num, loss[i].n), loss[i].what);
	return err;
}

static int warn_of_locks(struct top_model *m)
{
	char text[TOP_WARNING_LEN];

	if (m->locks_off)
		return 0;
	warn_locks(m->delta, text, sizeof(text));
	return text[0] ? warn(m, "%s", text) : 0;
}

/* Requests on one of several request queues only: by the kernel's doing, or by the load's. */
static int warn_single_queue(struct top_model *m, const struct vqs_snap_device *dev)
{
	const struct vqs_snap_queue *only = NULL;
	char tag[VQS_TAG_LEN];

	if (dev->request_queues < 2)
		return 0;
	for (size_t i = 0; i < dev->nr_queues; i++) {
		const struct vqs_snap_queue *q = &dev->queues[i];

		if (q->index == 0 || !q->completed)
			continue;
		if (only)
			return 0;
		only = q;
	}
	if (!only)
		return 0;
	rend_safe(tag, sizeof(tag), dev->tag);
	if (!dev->nr_map && only->index == 1)
		return warn(m, "%s: this kernel uses only the first of %u request queues", tag,
			    dev->request_queues);
	if (only->completed < TOP_ENOUGH_REQUESTS)
		return 0;
	return warn(m, "%s: all requests went to queue %u of %u", tag, only->index,
		    dev->request_queues);
}

int top_model_warn(struct top_model *m)
{
	const struct vqs_snap_device *last = NULL;
	int err;

	m->nr_warnings = 0;
	err = warn_untracked(m);
	if (!err)
		err = warn_of_locks(m);
	if (!err)
		err = warn_lost(m);
	for (size_t i = 0; i < m->nr_rows && !err; i++) {
		if (m->rows[i].dev != last)
			err = warn_single_queue(m, m->rows[i].dev);
		last = m->rows[i].dev;
	}
	return err;
}
