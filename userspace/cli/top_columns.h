/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of top's list: one table of title, width, sort key and order. Pure: knows rows and
 * widths, no terminal.
 */
#ifndef CLI_TOP_COLUMNS_H
#define CLI_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/snapshot.h"

enum top_column {
	TOP_COL_TAG,
	TOP_COL_QUEUE,
	TOP_COL_RATE,
	TOP_COL_BYTES,
	TOP_COL_IN_FLIGHT,
	TOP_COL_P50,
	TOP_COL_P90,
	TOP_COL_P99,
	TOP_COL_P999,
	TOP_COL_MAX,
	TOP_COL_HOP,
	TOP_COL_LOCKS,
	TOP_COL_LOCK_WAIT,
	TOP_COL_ERRORS,
	TOP_COLS,
};

/* One queue during one interval. */
struct top_row {
	const struct vqs_snap_device *dev;
	const struct vqs_snap_queue *queue;
	uint64_t requests; /* completed */
	uint64_t bytes;    /* both directions, headers included */
	uint64_t errors;
	uint64_t contended;    /* of its two queue locks; the connection's are in top_totals */
	uint64_t lock_wait_ns; /* waited for them */
	uint64_t in_flight;
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns; /* of the total; 0: nothing timed */
	enum vqs_hop hop;      /* where most of the time went; VQS_HOPS: nothing timed */
	uint32_t hop_permille; /* and how much of it */
};

struct top_column_info {
	const char *title;
	const char *name; /* as help and the status line say it */
	int width;        /* smallest that holds its numbers */
	char key;         /* sorts by it */
	bool left;        /* text: aligned left, sorted upwards at first */
	uint8_t rank;     /* who leaves first when the screen is narrow: highest */
	int (*compare)(const struct top_row *a, const struct top_row *b); /* ascending */
};

extern const struct top_column_info top_columns[TOP_COLS];

/*
 * The columns that fit @width cells beside each other with one cell between them, in screen order
 * and with their widths; what is left over widens the tag, to its longest useful width @tag_width.
 * Returns how many.
 */
size_t top_columns_fit(int width, int tag_width, enum top_column cols[TOP_COLS],
		       int widths[TOP_COLS]);

/* Column that @key sorts by, or TOP_COLS. */
enum top_column top_column_by_key(int key);

#endif
