// SPDX-License-Identifier: GPL-2.0-or-later
/* What vqsteer itself costs: the screen behind '*', and with --self a line above the list. */
#include "cli/render.h"
#include "cli/top_draw.h"

#define RUNG_WIDTH   11
#define NUMBER_WIDTH 8

/* Time of all programs, and how often they were skipped to not interrupt themselves. */
static uint64_t run_time(const struct vqs_snap_self *self, uint64_t *misses)
{
	uint64_t ns = 0;

	*misses = 0;
	for (size_t i = 0; i < self->nr_progs; i++) {
		ns += self->progs[i].run_ns;
		*misses += self->progs[i].recursion_misses;
	}
	return ns;
}

void top_draw_self_line(const struct top_model *m, const struct top_term *t, int y)
{
	const struct vqs_snap_self *self = &m->delta->self;
	struct top_line l = top_line(t, y);
	char share[REND_NUM], per[REND_NUM], bytes[REND_NUM];
	uint64_t misses, ns = run_time(self, &misses);

	top_put(&l, TOP_BOLD, "self ");
	top_put(&l, TOP_PLAIN, "%s of one CPU, %s a request, %s of BPF maps; press *",
		rend_share(share, ns, m->interval_ns),
		m->totals.requests ? rend_ns(per, ns / m->totals.requests) : "-",
		rend_bytes(bytes, self->bpf_memory_bytes));
}

/* The probe's name takes what the numbers leave. */
static void put_line(struct top_page *p, enum top_style style, const char *name, const char *rung,
		     const char *const numbers[4])
{
	int width = p->line.width - RUNG_WIDTH - 1 - 4 * (NUMBER_WIDTH + 1);

	top_put_cell(&p->line, style, width > 32 ? 32 : width, true, name);
	top_put(&p->line, style, " ");
	top_put_cell(&p->line, style, RUNG_WIDTH, true, rung);
	for (int i = 0; i < 4; i++)
		top_put(&p->line, style, " %*s", NUMBER_WIDTH, numbers[i]);
}

static void draw_prog(struct top_page *p, const struct top_model *m, const struct vqs_snap_prog *g)
{
	char name[sizeof(g->name)], rung[sizeof(g->rung)];
	char a[REND_NUM], b[REND_NUM], c[REND_NUM], d[REND_NUM];
	bool timed = m->delta->self.timed;

	if (!top_page_line(p))
		return;
	rend_safe(name, sizeof(name), g->name);
	rend_safe(rung, sizeof(rung), g->rung);
	put_line(p, TOP_PLAIN, name, rung,
		 (const char *const[]){
			 timed ? rend_rate(a, g->runs, m->interval_ns) : "-",
			 timed && g->runs ? rend_ns(b, g->run_ns / g->runs) : "-",
			 timed ? rend_share(c, g->run_ns, m->interval_ns) : "-",
			 rend_count(d, g->recursion_misses),
		 });
}

void top_draw_self(struct top_page *p, const struct top_model *m)
{
	static const char *const titles[] = {"RUNS/S", "PER RUN", "OF A CPU", "SKIPPED"};
	const struct vqs_snap_self *self = m->delta ? &m->delta->self : NULL;
	char text[REND_NUM];
	uint64_t misses, ns;

	if (!self) {
		top_page_text(p, TOP_PLAIN, "measuring");
		return;
	}
	ns = run_time(self, &misses);
	top_page_text(p, TOP_BOLD, "vqsteer itself: %s of BPF maps",
		      rend_bytes(text, self->bpf_memory_bytes));
	if (self->timed)
		top_page_text(p, TOP_PLAIN, "all programs: %s of one CPU",
			      rend_share(text, ns, m->interval_ns));
	else
		top_page_text(p, TOP_PLAIN,
			      "not timed: start with --self to see the time they take");
	top_page_text(p, TOP_PLAIN, "%s", "");
	if (top_page_line(p))
		put_line(p, TOP_BOLD, "PROBE", "RUNG", titles);
	for (size_t i = 0; i < self->nr_progs; i++)
		draw_prog(p, m, &self->progs[i]);
}
