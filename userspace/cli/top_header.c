// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands above top's list: the load of all queues, where its time goes, and warnings. */
#include <stdio.h>
#include <time.h>

#include "cli/render.h"
#include "cli/top_draw.h"

/* Warnings above the list; the rest is on the screen behind '!'. */
#define TOP_WARNINGS_SHOWN 3

void top_draw_title(const struct top_model *m, const struct top_term *t)
{
	struct top_line l = top_line(t, 0);
	char clock[16] = "--:--:--";
	struct tm tm;
	time_t now;

	if (m->delta) {
		now = (time_t)(m->delta->real_ns / 1000000000u);
		if (localtime_r(&now, &tm))
			strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	}
	top_put(&l, TOP_BOLD, "vqsteer top");
	top_put(&l, TOP_PLAIN, "  %s  every %gs", clock, m->interval_s);
	if (m->delta && m->delta->kernel[0]) {
		char kernel[sizeof(m->delta->kernel)];

		rend_safe(kernel, sizeof(kernel), m->delta->kernel);
		top_put(&l, TOP_PLAIN, "  Linux %s", kernel);
	}
	if (m->paused) {
		l.x = l.width - 9;
		top_put(&l, TOP_WARN, " [paused]");
	}
}

static void draw_totals(const struct top_model *m, const struct top_term *t, int y)
{
	const struct top_totals *s = &m->totals;
	struct top_line l = top_line(t, y);
	char a[REND_NUM], b[REND_NUM], c[REND_NUM], d[REND_NUM], e[REND_NUM];

	top_put(&l, TOP_BOLD, "load ");
	top_put(&l, TOP_PLAIN, "%s req/s, %s MB/s in, %s MB/s out, %s in flight, %s errors/s",
		rend_rate(a, s->requests, m->interval_ns),
		rend_mb_rate(b, s->bytes_in, m->interval_ns),
		rend_mb_rate(c, s->bytes_out, m->interval_ns), rend_count(d, s->in_flight),
		rend_rate(e, s->errors, m->interval_ns));
}

/* The hop with the largest share of those in @left, a set of bits that is not empty. */
static uint32_t largest_hop(const uint32_t permille[VQS_HOPS], uint32_t left)
{
	uint32_t most = (uint32_t)__builtin_ctz(left);

	for (uint32_t h = most + 1; h < VQS_HOPS; h++)
		if (left & 1u << h && permille[h] > permille[most])
			most = h;
	return most;
}

/* Where the time of all requests goes, largest share first. */
static void draw_time(const struct top_model *m, const struct top_term *t, int y)
{
	const struct top_totals *s = &m->totals;
	struct top_line l = top_line(t, y);
	char mean[REND_NUM];
	uint32_t left = 0; /* hops not yet shown */

	top_put(&l, TOP_BOLD, "time ");
	for (uint32_t h = 0; h < VQS_HOPS; h++)
		left |= s->hop_permille[h] ? 1u << h : 0;
	if (!left) {
		top_put(&l, TOP_PLAIN, "no request timed in this interval");
		return;
	}
	top_put(&l, TOP_PLAIN, "%s a request:", rend_ns(mean, s->mean_ns));
	while (left) {
		uint32_t hop = largest_hop(s->hop_permille, left);

		left &= ~(1u << hop);
		top_put(&l, TOP_PLAIN, " %s %.0f%%%s", obs_hop_name((enum vqs_hop)hop),
			s->hop_permille[hop] / 10.0, left ? "," : "");
	}
}

/* The locks that cost most: waits per second, and the time they took of each second. */
static void draw_locks(const struct top_model *m, const struct top_term *t, int y)
{
	struct top_line l = top_line(t, y);
	bool any = false;

	top_put(&l, TOP_BOLD, "lock ");
	if (m->locks_off) {
		top_put(&l, TOP_PLAIN, "not watched (--no-locks)");
		return;
	}
	for (size_t i = 0; i < VQS_LOCK_KINDS; i++) {
		const struct top_lock_total *k = &m->totals.lock[i];
		char text[96], rate[REND_NUM], wait[REND_NUM];
		int len;

		if (!k->contended)
			continue;
		len = snprintf(text, sizeof(text), "%s%s %s (%s)",
			       any ? ", " : "waits/s: ", obs_lock_name(k->kind),
			       rend_rate(rate, k->contended, m->interval_ns),
			       rend_ns(wait, top_per_second(k->wait_ns, m->interval_ns)));
		/* One that does not fit whole is left out. */
		if (len > l.width - l.x)
			break;
		top_put(&l, TOP_PLAIN, "%s", text);
		any = true;
	}
	if (!any)
		top_put(&l, TOP_PLAIN, "no waits");
}

static int draw_warnings(const struct top_model *m, const struct top_term *t, int y)
{
	size_t nr = m->nr_warnings;

	for (size_t i = 0; i < nr && i < TOP_WARNINGS_SHOWN; i++) {
		struct top_line l = top_line(t, y++);

		if (i == TOP_WARNINGS_SHOWN - 1 && nr > TOP_WARNINGS_SHOWN)
			top_put(&l, TOP_WARN, "! %zu more warnings: press !", nr - i);
		else
			top_put(&l, TOP_WARN, "! %s", m->warnings[i]);
	}
	return y;
}

int top_draw_header(const struct top_model *m, const struct top_term *t, int y)
{
	draw_totals(m, t, y++);
	draw_time(m, t, y++);
	draw_locks(m, t, y++);
	if (m->delta && m->delta->self.timed)
		top_draw_self_line(m, t, y++);
	return draw_warnings(m, t, y);
}
