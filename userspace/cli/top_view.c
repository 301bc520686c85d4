// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_view.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "cli/render.h"
#include "cli/top_draw.h"
#include "common/cleanup.h"

static int longest_tag(const struct top_model *m)
{
	size_t longest = 0;

	for (size_t i = 0; i < m->nr_rows; i++) {
		size_t len = strnlen(m->rows[i].dev->tag, VQS_TAG_LEN);

		longest = len > longest ? len : longest;
	}
	return (int)longest;
}

static void cell_text(const struct top_model *m, const struct top_row *r, enum top_column col,
		      char *out, size_t size)
{
	char n[REND_NUM];
	const uint64_t ns = m->interval_ns;

	switch (col) {
	case TOP_COL_TAG:
		rend_safe(out, size, r->dev->tag);
		return;
	case TOP_COL_HOP:
		if (r->hop == VQS_HOPS)
			snprintf(out, size, "-");
		else
			snprintf(out, size, "%s %.0f%%", obs_hop_name(r->hop),
				 r->hop_permille / 10.0);
		return;
	case TOP_COL_QUEUE:
		snprintf(out, size, "%u", r->queue->index);
		return;
	case TOP_COL_RATE:
		rend_rate(n, r->requests, ns);
		break;
	case TOP_COL_BYTES:
		rend_mb_rate(n, r->bytes, ns);
		break;
	case TOP_COL_IN_FLIGHT:
		rend_count(n, r->in_flight);
		break;
	case TOP_COL_LOCKS:
		rend_rate(n, r->contended, ns);
		break;
	case TOP_COL_LOCK_WAIT:
		rend_ns(n, top_per_second(r->lock_wait_ns, ns));
		break;
	case TOP_COL_ERRORS:
		rend_rate(n, r->errors, ns);
		break;
	default: {
		const uint64_t times[TOP_COLS] = {
			[TOP_COL_P50] = r->p50_ns, [TOP_COL_P90] = r->p90_ns,
			[TOP_COL_P99] = r->p99_ns, [TOP_COL_P999] = r->p999_ns,
			[TOP_COL_MAX] = r->max_ns,
		};

		if (r->hop == VQS_HOPS)
			strcpy(n, "-");
		else
			rend_ns(n, times[col]);
	}
	}
	snprintf(out, size, "%s", n);
}

/* Which way the list is sorted, as the heading's mark: largest first points down. */
static const char *sort_mark(const struct top_model *m, const struct top_term *t)
{
	bool rising = top_columns[m->sort].left != m->reversed;

	if (t->unicode)
		return rising ? "\u25b2" : "\u25bc";
	return rising ? "^" : "v";
}

static void draw_heading(const struct top_model *m, const struct top_term *t, int y,
			 const enum top_column *cols, const int *widths, size_t nr)
{
	struct top_line l = top_line(t, y);

	top_put(&l, TOP_BOLD, " ");
	for (size_t i = 0; i < nr; i++) {
		const struct top_column_info *c = &top_columns[cols[i]];
		int end = l.x + widths[i], len = (int)strlen(c->title);

		if (cols[i] != m->sort) {
			top_put_cell(&l, TOP_BOLD, widths[i], c->left, c->title);
		} else {
			/* The mark takes one cell but several bytes: placed by hand. */
			if (!c->left)
				top_put_at(&l, end - len - 1);
			mvaddstr(l.y, l.x++, sort_mark(m, t));
			top_put(&l, TOP_SELECTED, "%s", c->title);
			top_put_at(&l, end);
		}
		top_put(&l, TOP_PLAIN, " ");
	}
}

static void draw_row(const struct top_model *m, const struct top_term *t, int y, size_t row,
		     const enum top_column *cols, const int *widths, size_t nr)
{
	const struct top_row *r = m->shown[row];
	enum top_style style = row == m->selected ? TOP_SELECTED : TOP_PLAIN;
	struct top_line l = top_line(t, y);
	char text[64];

	top_put(&l, style, row == m->selected ? ">" : " ");
	for (size_t i = 0; i < nr; i++) {
		cell_text(m, r, cols[i], text, sizeof(text));
		top_put_cell(&l, style, widths[i], top_columns[cols[i]].left, text);
		top_put(&l, style, i + 1 < nr ? " " : "");
	}
}

static void draw_empty(const struct top_model *m, const struct top_term *t, int y)
{
	struct top_line l = top_line(t, y);

	if (!m->delta)
		top_put(&l, TOP_PLAIN, " measuring: the first numbers come after %gs",
			m->interval_s);
	else if (m->nr_rows)
		top_put(&l, TOP_PLAIN, " no queue matches '%s'", m->filter);
	else
		top_put(&l, TOP_PLAIN, " no queue has worked yet: waiting for the first request");
}

static void draw_list(struct top_model *m, const struct top_term *t, int y, int rows)
{
	enum top_column cols[TOP_COLS];
	int widths[TOP_COLS];
	size_t nr = top_columns_fit(COLS - 1, longest_tag(m), cols, widths);

	m->visible = 0;
	for (size_t i = 0; i < nr; i++)
		m->visible |= 1u << cols[i];
	m->page = rows > 1 ? (size_t)rows - 1 : 1;
	draw_heading(m, t, y, cols, widths, nr);
	if (!m->nr_shown)
		draw_empty(m, t, y + 1);
	/* Scrolls as little as needed, and leaves no empty lines below a long list. */
	if (m->list_first + m->page > m->nr_shown)
		m->list_first = m->nr_shown > m->page ? m->nr_shown - m->page : 0;
	if (m->selected < m->list_first)
		m->list_first = m->selected;
	if (m->selected >= m->list_first + m->page)
		m->list_first = m->selected - m->page + 1;
	for (size_t i = 0; i < m->page && m->list_first + i < m->nr_shown; i++)
		draw_row(m, t, y + 1 + (int)i, m->list_first + i, cols, widths, nr);
}

static void draw_page(struct top_model *m, const struct top_term *t, int y, int rows)
{
	struct top_page p = {.term = t, .y = y, .rows = rows, .first = m->scroll};

	m->page = (size_t)rows;
	for (;;) {
		p.lines = 0;
		if (m->screen == TOP_HELP)
			top_draw_help(&p);
		else if (m->screen == TOP_WARNINGS)
			top_draw_warnings(&p, m);
		else if (m->screen == TOP_SELF)
			top_draw_self(&p, m);
		else
			top_draw_detail(&p, m);
		m->nr_lines = p.lines;
		/* Shorter than it was, or more fits: pull the last line down to the bottom. */
		if (m->scroll + m->page <= m->nr_lines || !m->scroll)
			return;
		m->scroll = m->nr_lines > m->page ? m->nr_lines - m->page : 0;
		p.first = m->scroll;
		for (int i = 0; i < rows; i++) {
			move(y + i, 0);
			clrtoeol();
		}
	}
}

/* Most wanted first: those that do not fit whole are left out. */
static const char *const list_hints[] = {"h help",   "Enter details", "/ filter",   "q quit",
					 "< > sort", "r reverse",     "space pause"};
static const char *const detail_hints[] = {"Esc back",   "h help", "n next queue",
					   "p previous", "q quit", "up/down scroll"};
static const char *const page_hints[] = {"Esc back", "q quit", "up/down scroll"};

static void put_hints(struct top_line *l, int end, const char *const *hints, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (l->x + (int)strlen(hints[i]) <= end)
			top_put(l, TOP_DIM, "%s  ", hints[i]);
}

static void draw_status(const struct top_model *m, const struct top_term *t)
{
	struct top_line l = top_line(t, LINES - 1);
	bool list = m->screen == TOP_LIST;
	size_t first = list ? m->list_first : m->scroll, all = list ? m->nr_shown : m->nr_lines;
	char place[48] = "";
	int end;

	if (m->typing) {
		top_put(&l, TOP_BOLD, "/%s_", m->filter);
		top_put(&l, TOP_PLAIN, "  Enter keeps the filter, Esc drops it");
		return;
	}
	if (all > m->page)
		snprintf(place, sizeof(place), " %zu-%zu/%zu", first + 1, first + m->page, all);
	end = l.width - (int)strlen(place);
	if (list && m->filter[0])
		top_put(&l, TOP_BOLD, "filter '%s', Esc drops it  ", m->filter);
	if (list)
		put_hints(&l, end, list_hints, ARRAY_SIZE(list_hints));
	else if (m->screen == TOP_DETAIL)
		put_hints(&l, end, detail_hints, ARRAY_SIZE(detail_hints));
	else
		put_hints(&l, end, page_hints, ARRAY_SIZE(page_hints));
	l.x = end;
	top_put(&l, TOP_BOLD, "%s", place);
}

static void draw_too_small(const struct top_term *t)
{
	struct top_line l = top_line(t, 0);

	top_put(&l, TOP_PLAIN, "%dx%d is too small,", COLS, LINES);
	if (LINES > 1) {
		l = top_line(t, 1);
		top_put(&l, TOP_PLAIN, "need %dx%d", TOP_MIN_COLUMNS, TOP_MIN_ROWS);
	}
	if (LINES > 2) {
		l = top_line(t, 2);
		top_put(&l, TOP_PLAIN, "q quits");
	}
}

static void draw_screen(struct top_model *m, const struct top_term *t)
{
	int y = 1;

	top_draw_title(m, t);
	if (m->screen == TOP_LIST) {
		y = top_draw_header(m, t, y);
		draw_list(m, t, y, LINES - 1 - y);
	} else {
		draw_page(m, t, y, LINES - 1 - y);
	}
	draw_status(m, t);
}

void top_view_draw(struct top_model *m, const struct top_term *t, bool repaint)
{
	erase();
	if (repaint)
		clearok(stdscr, TRUE);
	if (COLS < TOP_MIN_COLUMNS || LINES < TOP_MIN_ROWS)
		draw_too_small(t);
	else
		draw_screen(m, t);
	wnoutrefresh(stdscr);
	doupdate();
}
