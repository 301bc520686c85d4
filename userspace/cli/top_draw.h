/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What top's screens draw with: text cut to its place, bars, and pages of lines that scroll.
 * Private to the files that draw. All text is ASCII from here or went through rend_safe().
 */
#ifndef CLI_TOP_DRAW_H
#define CLI_TOP_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/top_model.h"
#include "cli/top_term.h"

enum top_style { TOP_PLAIN, TOP_BOLD, TOP_DIM, TOP_WARN, TOP_SELECTED, TOP_BAR, TOP_STYLES };

/* Where to write next: a line, of which columns [x, width) are free. */
struct top_line {
	const struct top_term *term;
	int y, x, width;
};

struct top_line top_line(const struct top_term *t, int y);
/* Appends; what does not fit is cut. */
void top_put(struct top_line *l, enum top_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends @text in @width cells, to the left or the right of them. */
void top_put_cell(struct top_line *l, enum top_style style, int width, bool left, const char *text);
/* Appends a bar of @permille / 1000 of @width cells; any share above 0 shows something. */
void top_put_bar(struct top_line *l, int width, uint32_t permille);
/* Moves on to column @x. */
void top_put_at(struct top_line *l, int x);

/* A part of the screen that scrolls: lines are counted, and those in sight are drawn. */
struct top_page {
	const struct top_term *term;
	int y, rows;  /* the part of the screen */
	size_t first; /* line at its top */
	size_t lines; /* so far */
	struct top_line line;
};

/* Starts a line; false when it is out of sight and nothing need be drawn. */
bool top_page_line(struct top_page *p);
/* A line that is one text. */
void top_page_text(struct top_page *p, enum top_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text folded at spaces to the screen's width, from its second line on indented by @indent. */
void top_page_folded(struct top_page *p, enum top_style style, int indent, const char *text);

/* @amount of an interval, per second. */
uint64_t top_per_second(uint64_t amount, uint64_t interval_ns);

/* top_header.c: the first line; the lines from @y on that sum up, and the line below them. */
void top_draw_title(const struct top_model *m, const struct top_term *t);
int top_draw_header(const struct top_model *m, const struct top_term *t, int y);

/* top_pages.c, top_help.c */
void top_draw_detail(struct top_page *p, const struct top_model *m);
void top_draw_help(struct top_page *p);
void top_draw_warnings(struct top_page *p, const struct top_model *m);

/* top_self.c: the page; the line at @y, for a model with an interval. */
void top_draw_self(struct top_page *p, const struct top_model *m);
void top_draw_self_line(const struct top_model *m, const struct top_term *t, int y);

#endif
