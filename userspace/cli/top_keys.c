// SPDX-License-Identifier: GPL-2.0-or-later
/* What a key does to top's model; the one place that knows the keys besides the help screen. */
#include <string.h>

#include "cli/top_model.h"
#include "common/cleanup.h"

/* Steps of + and -, in seconds. A refresh with 64 queues takes 5 ms of CPU, 5% at the shortest. */
static const double interval_steps_s[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};

static unsigned int step_interval(struct top_model *m, bool longer)
{
	const size_t nr = ARRAY_SIZE(interval_steps_s);
	double now = m->interval_s;

	/* -i may have set one between two steps: go to the neighbour, with room for rounding. */
	if (longer) {
		for (size_t i = 0; i < nr; i++) {
			if (interval_steps_s[i] > now * 1.001) {
				m->interval_s = interval_steps_s[i];
				break;
			}
		}
	} else {
		for (size_t i = nr; i-- > 0;) {
			if (interval_steps_s[i] < now * 0.999) {
				m->interval_s = interval_steps_s[i];
				break;
			}
		}
	}
	return TOP_DO_DRAW | (m->interval_s == now ? 0 : TOP_DO_INTERVAL);
}

static unsigned int type_filter(struct top_model *m, int key)
{
	size_t len = strlen(m->filter);

	switch (key) {
	case TOP_KEY_ENTER:
		m->typing = false;
		return TOP_DO_DRAW;
	case TOP_KEY_ESC:
		m->typing = false;
		m->filter[0] = '\0';
		break;
	case TOP_KEY_KILL:
		m->filter[0] = '\0';
		break;
	case TOP_KEY_BACKSPACE:
		if (len)
			m->filter[len - 1] = '\0';
		else
			m->typing = false;
		break;
	default:
		if (key < ' ' || key > '~' || len + 1 >= sizeof(m->filter))
			return TOP_DO_NOTHING;
		m->filter[len] = (char)key;
		m->filter[len + 1] = '\0';
	}
	top_model_arrange(m);
	return TOP_DO_DRAW;
}

static void go_to(struct top_model *m, enum top_screen screen)
{
	if (m->screen == TOP_LIST || m->screen == TOP_DETAIL)
		m->came_from = m->screen;
	m->screen = screen;
	m->scroll = 0;
	top_model_arrange(m);
}

static unsigned int sort_by(struct top_model *m, enum top_column column)
{
	/* The same key again turns the order round. */
	m->reversed = m->sort == column ? !m->reversed : false;
	m->sort = column;
	top_model_arrange(m);
	return TOP_DO_DRAW;
}

/* The next column on screen to the left or right. */
static unsigned int sort_beside(struct top_model *m, int step)
{
	for (int c = (int)m->sort + step; c >= 0 && c < TOP_COLS; c += step)
		if (m->visible & 1u << c)
			return sort_by(m, (enum top_column)c);
	return TOP_DO_NOTHING;
}

/* Where a movement key leads from @at when there are @nr places and @page fit the screen. */
static size_t move(int key, size_t at, size_t nr, size_t page)
{
	size_t last = nr ? nr - 1 : 0;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		return at ? at - 1 : 0;
	case TOP_KEY_DOWN:
	case 'j':
		return at < last ? at + 1 : last;
	case TOP_KEY_PAGE_UP:
		return at > page ? at - page : 0;
	case TOP_KEY_PAGE_DOWN:
		return at + page < last ? at + page : last;
	case TOP_KEY_HOME:
	case 'g':
		return 0;
	default:
		return last;
	}
}

static bool is_movement(int key)
{
	return (key >= TOP_KEY_UP && key <= TOP_KEY_END) ||
	       (key > 0 && key < 128 && strchr("jkgG", key) != NULL);
}

static unsigned int list_key(struct top_model *m, int key)
{
	enum top_column column;

	if (is_movement(key)) {
		top_model_select(m, move(key, m->selected, m->nr_shown, m->page));
		return TOP_DO_DRAW;
	}
	switch (key) {
	case TOP_KEY_ENTER:
		if (!m->nr_shown)
			return TOP_DO_NOTHING;
		top_model_select(m, m->selected);
		go_to(m, TOP_DETAIL);
		return TOP_DO_DRAW;
	case '<':
	case TOP_KEY_LEFT:
		return sort_beside(m, -1);
	case '>':
	case TOP_KEY_RIGHT:
		return sort_beside(m, 1);
	case 'r':
		return sort_by(m, m->sort);
	case '/':
		m->typing = true;
		return TOP_DO_DRAW;
	case TOP_KEY_ESC:
	case TOP_KEY_BACKSPACE:
		m->filter[0] = '\0';
		top_model_arrange(m);
		return TOP_DO_DRAW;
	}
	column = top_column_by_key(key);
	return column == TOP_COLS ? TOP_DO_NOTHING : sort_by(m, column);
}

/* The drill-down, help and warnings: lines that scroll. */
static unsigned int page_key(struct top_model *m, int key)
{
	size_t hidden = m->nr_lines > m->page ? m->nr_lines - m->page : 0;

	if (is_movement(key)) {
		m->scroll = move(key, m->scroll, hidden + 1, m->page);
		return TOP_DO_DRAW;
	}
	switch (key) {
	case TOP_KEY_ESC:
	case TOP_KEY_BACKSPACE:
	case TOP_KEY_ENTER:
		go_to(m, m->screen == TOP_DETAIL ? TOP_LIST : m->came_from);
		return TOP_DO_DRAW;
	case TOP_KEY_LEFT:
	case TOP_KEY_RIGHT:
	case 'p':
	case 'n':
		if (m->screen != TOP_DETAIL || !m->nr_shown)
			return TOP_DO_NOTHING;
		if (key == 'n' || key == TOP_KEY_RIGHT)
			top_model_select(m, m->selected + 1);
		else
			top_model_select(m, m->selected ? m->selected - 1 : 0);
		return TOP_DO_DRAW;
	}
	return TOP_DO_NOTHING;
}

static unsigned int toggle(struct top_model *m, enum top_screen screen)
{
	go_to(m, m->screen == screen ? m->came_from : screen);
	return TOP_DO_DRAW;
}

unsigned int top_model_key(struct top_model *m, int key)
{
	if (key == TOP_KEY_REDRAW)
		return TOP_DO_DRAW | TOP_DO_REPAINT;
	if (m->typing)
		return type_filter(m, key);
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_DO_QUIT;
	case 'h':
	case '?':
		return toggle(m, TOP_HELP);
	case '!':
		return toggle(m, TOP_WARNINGS);
	case '*':
		return toggle(m, TOP_SELF);
	case ' ':
		m->paused = !m->paused;
		return TOP_DO_DRAW | (m->paused ? 0 : TOP_DO_REBASE);
	case '+':
	case '=':
		return step_interval(m, true);
	case '-':
	case '_':
		return step_interval(m, false);
	}
	return m->screen == TOP_LIST ? list_key(m, key) : page_key(m, key);
}
