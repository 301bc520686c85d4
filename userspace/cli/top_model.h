/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What top shows, apart from drawing it: rows made from an interval's snapshot, their order and
 * filter, the selection, the screen one is on, and what a key does to all that. Pure: no terminal,
 * no clock, no map; snapshots come in through top_model_update(), keys through top_model_key(),
 * top_view draws what is here.
 */
#ifndef CLI_TOP_MODEL_H
#define CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/top_columns.h"
#include "observe/snapshot.h"

#define TOP_FILTER_LEN  32
#define TOP_WARNING_LEN 160

/* Keys that are no character; beyond Unicode, so that they cannot be mistaken for one. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_ENTER,
	TOP_KEY_ESC,
	TOP_KEY_BACKSPACE,
	TOP_KEY_KILL,   /* ^U: empties the filter */
	TOP_KEY_REDRAW, /* ^L, a resize */
};

/* What a key asks of the loop; bits. */
enum top_action {
	TOP_DO_NOTHING = 0,
	TOP_DO_DRAW = 1 << 0,
	TOP_DO_QUIT = 1 << 1,
	TOP_DO_REBASE = 1 << 2,   /* resumed: measure from now on */
	TOP_DO_INTERVAL = 1 << 3, /* the interval changed: reckon the next refresh anew */
	TOP_DO_REPAINT = 1 << 4,  /* the terminal's contents are not trusted */
};

enum top_screen { TOP_LIST, TOP_DETAIL, TOP_HELP, TOP_WARNINGS, TOP_SELF };

/* Slots of a queue: what stays the same from one snapshot to the next. */
struct top_id {
	uint32_t device, queue;
};

struct top_lock_total {
	enum vqs_lock_kind kind;
	uint64_t contended;
	uint64_t wait_ns;
};

/* All queues that pass --tag and --queue, whether or not the filter shows them. */
struct top_totals {
	uint64_t requests, bytes_in, bytes_out, errors;
	uint64_t in_flight;
	size_t queues, devices;
	uint64_t mean_ns;                /* of a request, allocated to ended */
	uint32_t hop_permille[VQS_HOPS]; /* shares of the time of all requests; 0: no part of it */
	struct top_lock_total lock[VQS_LOCK_KINDS]; /* most wait first */
};

struct top_model {
	const struct vqs_snapshot *delta; /* lent by the loop; NULL: none yet */
	const char *only_tag;             /* --tag, NULL: all */
	int only_queue;                   /* --queue, -1: all */
	bool locks_off;                   /* --no-locks */
	double interval_s;                /* between refreshes, as asked for */
	uint64_t interval_ns;             /* of the delta, as it was; rates are counts over this */
	bool paused;

	struct top_row *rows;   /* owned; room for cap of them */
	struct top_row **shown; /* owned; the nr_shown rows that the filter lets through, sorted */
	size_t nr_rows, nr_shown, cap;
	struct top_totals totals;
	char (*warnings)[TOP_WARNING_LEN]; /* owned */
	size_t nr_warnings, cap_warnings;

	enum top_column sort;
	bool reversed; /* against what the column starts with: numbers fall, text rises */
	char filter[TOP_FILTER_LEN];
	bool typing; /* the filter */
	enum top_screen screen, came_from;
	bool any_selected;
	struct top_id selected_id;
	size_t selected;   /* position in shown, where selected_id is */
	size_t scroll;     /* first line shown of the detail, help and warning screens */
	size_t list_first; /* first row shown of the list; the view keeps the selection in sight */

	/* Told by the view when it draws. */
	size_t page;      /* rows or lines that fit */
	size_t nr_lines;  /* of the scrolling screen */
	uint32_t visible; /* bits of 1 << enum top_column */
};

void top_model_init(struct top_model *m, double interval_s);
void top_model_free(struct top_model *m);

/*
 * Takes the interval @delta, which must outlive its use (until the next update). -ENOMEM leaves the
 * model without a snapshot.
 */
int top_model_update(struct top_model *m, const struct vqs_snapshot *delta);

/* Filters, sorts and finds the selection again; update and keys call it. */
void top_model_arrange(struct top_model *m);

/* @key is an ASCII character or enum top_key. Returns bits of enum top_action. */
unsigned int top_model_key(struct top_model *m, int key);

/* Selects the row at @position of shown, the last one if there are fewer. */
void top_model_select(struct top_model *m, size_t position);

/* The row selected in the list, or the one that was drilled into; NULL: none, or it is gone. */
const struct top_row *top_model_selected(const struct top_model *m);

/* Puts the warnings of the delta into the model; update calls it. 0 or -ENOMEM. */
int top_model_warn(struct top_model *m);

/*
 * Time of the requests in @hops (VQS_HOPS of them) by hop, in nanoseconds: the hops that follow
 * each other, wake-up included. The interrupt is part of the device's, a full ring of the input's;
 * they get 0. Returns the sum. Floating, because sums of sums of 64 bits need not fit 64 bits.
 */
double top_hop_times(const struct vqs_hist *hops, double ns[VQS_HOPS]);

/* @part of @whole in thousandths, rounded; 0 of nothing. 0 <= part <= whole. */
uint32_t top_permille(double part, double whole);

#endif
