// SPDX-License-Identifier: GPL-2.0-or-later
/* The judge's books: counts per finding and queue, the first few findings in full. */
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/judge_priv.h"

#define QUEUES_MAX  256
#define DETAILS_MAX 4096

/* What each kind of finding is, for load_finding_name() and for people. */
static const struct {
	const char *name;
	bool fault;
} findings[] = {
	[LOAD_HEADER_TRUNCATED] = {"header_truncated", true},
	[LOAD_LENGTH] = {"length", true},
	[LOAD_UNIQUE] = {"unique", true},
	[LOAD_ERROR_RANGE] = {"error_range", true},
	[LOAD_ERROR_LENGTH] = {"error_length", true},
	[LOAD_TOO_LONG] = {"too_long", true},
	[LOAD_TOO_SHORT] = {"too_short", true},
	[LOAD_UNWANTED] = {"unwanted", true},
	[LOAD_VALUE] = {"value", true},
	[LOAD_DIRENT] = {"dirent", true},
	[LOAD_DATA] = {"data", true},
	[LOAD_DUPLICATE] = {"duplicate", true},
	[LOAD_UNKNOWN] = {"unknown", true},
	[LOAD_LOST] = {"lost", true},
	[LOAD_LATE] = {"late", true},
	[LOAD_GUARD] = {"guard", true},
	[LOAD_DIRENT_TAIL] = {"dirent_tail", false},
	[LOAD_UNUSUAL_ERROR] = {"unusual_error", false},
	[LOAD_OUT_OF_ORDER] = {"out_of_order", false},
};
_Static_assert(ARRAY_SIZE(findings) == LOAD_FINDINGS, "every finding has a name");

const char *load_finding_name(enum load_finding f)
{
	return f >= 0 && f < LOAD_FINDINGS ? findings[f].name : "none";
}

bool load_finding_is_fault(enum load_finding f)
{
	return f >= 0 && f < LOAD_FINDINGS && findings[f].fault;
}

void load_judge_free(struct load_judge *j)
{
	if (!j)
		return;
	free(j->faults.detail);
	free(j->others.detail);
	free(j);
}

struct load_judge *load_judge_new(uint32_t queues, uint32_t details)
{
	_cleanup_(load_judge_freep) struct load_judge *j = NULL;

	if (!queues || queues > QUEUES_MAX || details > DETAILS_MAX)
		return NULL;
	j = calloc(1, sizeof(*j) + queues * sizeof(j->queue[0]));
	if (!j)
		return NULL;
	j->nr_queues = queues;
	j->room = details;
	j->faults.detail = calloc(details + 1, sizeof(struct load_detail));
	j->others.detail = calloc(details + 1, sizeof(struct load_detail));
	if (!j->faults.detail || !j->others.detail)
		return NULL;
	return TAKE_PTR(j);
}

static void keep(struct load_judge *j, const struct load_detail *d)
{
	struct load_kept *k = load_finding_is_fault(d->finding) ? &j->faults : &j->others;

	if (k->nr < j->room)
		k->detail[k->nr++] = *d;
}

void load_judge_note(struct load_judge *j, const struct load_detail *d)
{
	uint32_t queue = d->queue < j->nr_queues ? d->queue : 0;

	if (d->finding < 0 || d->finding >= LOAD_FINDINGS)
		return;
	j->queue[queue].count[d->finding]++;
	keep(j, d);
}

void load_judge_merge(struct load_judge *into, const struct load_judge *from)
{
	into->replies += from->replies;
	into->errors += from->errors;
	for (uint32_t q = 0; q < from->nr_queues; q++) {
		struct load_judge_queue *to = &into->queue[q < into->nr_queues ? q : 0];

		for (int f = 0; f < LOAD_FINDINGS; f++)
			to->count[f] += from->queue[q].count[f];
	}
	for (uint32_t i = 0; i < from->faults.nr; i++)
		keep(into, &from->faults.detail[i]);
	for (uint32_t i = 0; i < from->others.nr; i++)
		keep(into, &from->others.detail[i]);
}

uint64_t load_judge_queue_count(const struct load_judge *j, uint32_t queue, enum load_finding f)
{
	return queue < j->nr_queues && f >= 0 && f < LOAD_FINDINGS ? j->queue[queue].count[f] : 0;
}

uint64_t load_judge_count(const struct load_judge *j, enum load_finding f)
{
	uint64_t n = 0;

	for (uint32_t q = 0; q < j->nr_queues; q++)
		n += load_judge_queue_count(j, q, f);
	return n;
}

uint64_t load_judge_replies(const struct load_judge *j)
{
	return j->replies;
}

uint64_t load_judge_errors(const struct load_judge *j)
{
	return j->errors;
}

bool load_judge_clean(const struct load_judge *j)
{
	for (int f = 0; f < LOAD_FINDINGS; f++)
		if (findings[f].fault && load_judge_count(j, (enum load_finding)f))
			return false;
	return true;
}

const struct load_detail *load_judge_detail(const struct load_judge *j, size_t i)
{
	if (i < j->faults.nr)
		return &j->faults.detail[i];
	i -= j->faults.nr;
	return i < j->others.nr ? &j->others.detail[i] : NULL;
}
