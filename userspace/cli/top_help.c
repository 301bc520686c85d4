// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "cli/top_draw.h"
#include "common/cleanup.h"

static const struct {
	const char *keys, *does;
} keys[] = {
	{"up, down", "select a queue, or scroll; also PgUp, PgDn, Home, End, j, k, g, G"},
	{"Enter", "one queue in depth: hops, opcodes, locks, errors, CPUs"},
	{"Esc, Backspace", "go back; in the list: drop the filter"},
	{"n, p", "in depth: next queue of the list, previous one"},
	{"<, >", "sort by the column to the left, to the right; also arrows"},
	{"a letter below", "sort by that column; once more: the other way round"},
	{"r", "reverse the order"},
	{"/", "show only queues with this text in tag/queue or name"},
	{"space", "pause; what happens meanwhile is not shown"},
	{"+, -", "lengthen, shorten the interval"},
	{"!", "all warnings"},
	{"*", "what vqsteer itself costs"},
	{"^L", "redraw the screen"},
	{"h, ?", "this help"},
	{"q", "quit"},
};

/* By enum top_column. */
static const char *const column_help[TOP_COLS] = {
	[TOP_COL_TAG] = "tag of the device, what it is mounted by",
	[TOP_COL_QUEUE] = "queue; 0 is hiprio, request queues count from 1",
	[TOP_COL_RATE] = "requests completed per second",
	[TOP_COL_BYTES] = "10^6 bytes per second, both ways, headers included",
	[TOP_COL_IN_FLIGHT] = "on the ring at the end of the interval",
	[TOP_COL_P50] = "median time from allocated to ended",
	[TOP_COL_P90] = "90% of the requests took at most that",
	[TOP_COL_P99] = "99% of the requests took at most that",
	[TOP_COL_P999] = "99.9% of the requests took at most that",
	[TOP_COL_MAX] = "longest in this interval",
	[TOP_COL_HOP] = "the hop with most of the time, and its share",
	[TOP_COL_LOCKS] = "waits for the queue's two locks, per second",
	[TOP_COL_LOCK_WAIT] = "time waited for them, per second, all CPUs",
	[TOP_COL_ERRORS] = "error replies per second",
};

static const char *const notes[] = {
	"  All are of the last interval. Columns come and go with the screen's width.",
	"  Percentiles are at most 1/16 away from the true value.",
	"  The hops background, input, device, complete and wake add up to 100%.",
	"  lock waits/s: how often, and in brackets how much time of each second, all CPUs.",
	"  A queue's LOCKS: WAIT is the share of acquisitions that waited, an estimate.",
	"  ALL/S is the time waited per second.",
};

static void entry(struct top_page *p, int width, const char *what, const char *says)
{
	char text[160];

	snprintf(text, sizeof(text), "  %-*s %s", width, what, says);
	top_page_folded(p, TOP_PLAIN, width + 3, text);
}

void top_draw_help(struct top_page *p)
{
	char what[24];

	top_page_text(p, TOP_BOLD, "KEYS");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		entry(p, 16, keys[i].keys, keys[i].does);
	top_page_text(p, TOP_PLAIN, "%s", "");
	top_page_text(p, TOP_BOLD, "COLUMNS, and the key that sorts by each");
	for (size_t c = 0; c < TOP_COLS; c++) {
		snprintf(what, sizeof(what), "%c  %s", top_columns[c].key, top_columns[c].title);
		entry(p, 16, what, column_help[c]);
	}
	top_page_text(p, TOP_PLAIN, "%s", "");
	top_page_text(p, TOP_BOLD, "NUMBERS");
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		top_page_folded(p, TOP_PLAIN, 2, notes[i]);
}
