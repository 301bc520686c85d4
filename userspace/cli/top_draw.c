// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_draw.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static attr_t style_attr(const struct top_term *t, enum top_style style)
{
	switch (style) {
	case TOP_BOLD:
		return A_BOLD;
	case TOP_DIM:
		return A_DIM;
	case TOP_WARN:
		return A_BOLD | (t->color ? COLOR_PAIR(TOP_PAIR_WARN) : 0);
	case TOP_SELECTED:
		return A_REVERSE;
	case TOP_BAR:
		return t->color ? COLOR_PAIR(TOP_PAIR_BAR) : 0;
	default:
		return A_NORMAL;
	}
}

uint64_t top_per_second(uint64_t amount, uint64_t interval_ns)
{
	unsigned __int128 per_s = (unsigned __int128)amount * 1000000000u;

	return interval_ns ? (uint64_t)(per_s / interval_ns) : 0;
}

struct top_line top_line(const struct top_term *t, int y)
{
	return (struct top_line){.term = t, .y = y, .width = COLS};
}

static void put(struct top_line *l, enum top_style style, const char *text, int len)
{
	if (len > l->width - l->x)
		len = l->width - l->x;
	if (len <= 0)
		return;
	attrset(style_attr(l->term, style));
	mvaddnstr(l->y, l->x, text, len);
	attrset(A_NORMAL);
	l->x += len;
}

void top_put(struct top_line *l, enum top_style style, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(l, style, text, (int)strlen(text));
}

void top_put_cell(struct top_line *l, enum top_style style, int width, bool left, const char *text)
{
	if (left && (int)strlen(text) > width) {
		top_put(l, style, "%.*s~", width - 1, text);
		return;
	}
	top_put(l, style, "%*.*s", left ? -width : width, width, text);
}

void top_put_at(struct top_line *l, int x)
{
	if (x > l->x)
		l->x = x;
}

void top_put_bar(struct top_line *l, int width, uint32_t permille)
{
	/* In halves of a cell: the half block is in every console font, eighths are not. */
	int halves = (int)((uint64_t)width * 2 * permille / 1000);
	int end = l->x + width;

	if (!halves && permille)
		halves = 1;
	attrset(style_attr(l->term, TOP_BAR));
	for (int i = 0; i < (halves + 1) / 2 && l->x < l->width; i++, l->x++) {
		bool half = i == halves / 2;

		if (l->term->unicode)
			mvaddstr(l->y, l->x, half ? "\u258c" : "\u2588");
		else
			mvaddch(l->y, l->x, half ? '-' : '#');
	}
	attrset(A_NORMAL);
	l->x = end;
}

bool top_page_line(struct top_page *p)
{
	size_t n = p->lines++;

	if (n < p->first || n - p->first >= (size_t)p->rows)
		return false;
	p->line = top_line(p->term, p->y + (int)(n - p->first));
	return true;
}

void top_page_text(struct top_page *p, enum top_style style, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!top_page_line(p))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(&p->line, style, text, (int)strlen(text));
}

void top_page_folded(struct top_page *p, enum top_style style, int indent, const char *text)
{
	size_t width = (size_t)top_line(p->term, 0).width, len = strlen(text);
	int margin = 0;

	while (len) {
		size_t room = width - (size_t)margin, take = len;

		if (len > room) {
			for (take = room; take > (size_t)indent && text[take] != ' '; take--)
				;
			/* A word as long as the line is cut where the line ends. */
			if (take <= (size_t)indent)
				take = room;
		}
		top_page_text(p, style, "%*s%.*s", margin, "", (int)take, text);
		text += take;
		len -= take;
		while (*text == ' ') {
			text++;
			len--;
		}
		margin = indent;
	}
}
