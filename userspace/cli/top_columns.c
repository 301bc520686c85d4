// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_columns.h"

#include <string.h>

#include "common/cleanup.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#define NUMBER_COMPARE(fn, field)                                       \
	static int fn(const struct top_row *a, const struct top_row *b) \
	{                                                               \
		return COMPARE(a->field, b->field);                     \
	}

NUMBER_COMPARE(by_index, queue->index)
NUMBER_COMPARE(by_rate, requests)
NUMBER_COMPARE(by_bytes, bytes)
NUMBER_COMPARE(by_in_flight, in_flight)
NUMBER_COMPARE(by_p50, p50_ns)
NUMBER_COMPARE(by_p90, p90_ns)
NUMBER_COMPARE(by_p99, p99_ns)
NUMBER_COMPARE(by_p999, p999_ns)
NUMBER_COMPARE(by_max, max_ns)
NUMBER_COMPARE(by_locks, contended)
NUMBER_COMPARE(by_lock_wait, lock_wait_ns)
NUMBER_COMPARE(by_errors, errors)

static int by_tag(const struct top_row *a, const struct top_row *b)
{
	return strncmp(a->dev->tag, b->dev->tag, sizeof(a->dev->tag));
}

/* Same hops together, and among them the purest first when sorted downwards. */
static int by_hop(const struct top_row *a, const struct top_row *b)
{
	if (a->hop != b->hop) {
		/* Rows without a hop are the least of all, whichever way enum vqs_hop counts. */
		if (a->hop == VQS_HOPS || b->hop == VQS_HOPS)
			return a->hop == VQS_HOPS ? -1 : 1;
		return strcmp(obs_hop_name(a->hop), obs_hop_name(b->hop));
	}
	return COMPARE(a->hop_permille, b->hop_permille);
}

/* Ranks 0 to 4 fill 80 columns with their gaps and the mark of the selection, 0 and 1 fill 60. */
const struct top_column_info top_columns[TOP_COLS] = {
	[TOP_COL_TAG] = {"TAG", "tag", 10, 't', true, 0, by_tag},
	[TOP_COL_QUEUE] = {"Q", "queue", 3, 'u', false, 0, by_index},
	[TOP_COL_RATE] = {"REQ/S", "req/s", 6, 's', false, 0, by_rate},
	[TOP_COL_BYTES] = {"MB/S", "MB/s", 5, 'b', false, 3, by_bytes},
	[TOP_COL_IN_FLIGHT] = {"INFL", "in flight", 5, 'i', false, 4, by_in_flight},
	[TOP_COL_P50] = {"P50", "p50", 6, '5', false, 1, by_p50},
	[TOP_COL_P90] = {"P90", "p90", 6, '0', false, 7, by_p90},
	[TOP_COL_P99] = {"P99", "p99", 6, '9', false, 0, by_p99},
	[TOP_COL_P999] = {"P99.9", "p99.9", 6, '.', false, 6, by_p999},
	[TOP_COL_MAX] = {"MAX", "max", 6, 'm', false, 2, by_max},
	[TOP_COL_HOP] = {"MOST TIME IN", "most time in", 15, 'd', true, 0, by_hop},
	[TOP_COL_LOCKS] = {"LOCKS", "lock waits/s", 6, 'l', false, 1, by_locks},
	[TOP_COL_LOCK_WAIT] = {"LWAIT", "lock wait", 6, 'w', false, 8, by_lock_wait},
	[TOP_COL_ERRORS] = {"ERR/S", "errors/s", 6, 'e', false, 5, by_errors},
};

#define TOP_MAX_RANK 8

static int width_of_rank(uint8_t rank)
{
	int width = 0;

	for (size_t c = 0; c < TOP_COLS; c++)
		if (top_columns[c].rank <= rank)
			width += top_columns[c].width + 1;
	return width - 1;
}

size_t top_columns_fit(int width, int tag_width, enum top_column cols[TOP_COLS],
		       int widths[TOP_COLS])
{
	uint8_t rank = TOP_MAX_RANK;
	size_t nr = 0;
	int spare;

	while (rank > 0 && width_of_rank(rank) > width)
		rank--;
	for (size_t c = 0; c < TOP_COLS; c++) {
		if (top_columns[c].rank > rank)
			continue;
		cols[nr] = (enum top_column)c;
		widths[nr++] = top_columns[c].width;
	}
	spare = width - width_of_rank(rank);
	if (spare > tag_width - widths[0])
		spare = tag_width - widths[0];
	if (spare > 0)
		widths[0] += spare;
	return nr;
}

enum top_column top_column_by_key(int key)
{
	for (size_t c = 0; c < TOP_COLS; c++)
		if (top_columns[c].key == key)
			return (enum top_column)c;
	return TOP_COLS;
}
