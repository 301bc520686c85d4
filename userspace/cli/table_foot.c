// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands below the tables: errors, CPUs, conservation, losses, own cost. */
#include "cli/table.h"

#include <stdarg.h>
#include <string.h>

#include "cli/warnings.h"
#include "common/cleanup.h"
#include "common/saturate.h"

#define INDENT 13 /* of lines that continue a label of two spaces and eleven columns */

static void __attribute__((format(printf, 3, 4)))
word(struct rend *r, enum rend_style style, const char *fmt, ...)
{
	char text[REND_COLUMNS];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rend_word(r, style, INDENT, text);
}

static void label(struct rend *r, enum rend_style style, const char *text)
{
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, style, INDENT - 2, text);
}

void table_errors(struct rend *r, const struct vqs_snap_device *d)
{
	uint64_t counts[VQS_ERRNOS] = {0}, any = d->failed_before_queue;
	char num[REND_NUM];

	for (size_t i = 0; i < d->nr_queues; i++)
		for (size_t j = 0; j < d->queues[i].nr_errors; j++) {
			const struct vqs_snap_errno *e = &d->queues[i].errors[j];

			counts[e->err < VQS_ERRNOS ? e->err : VQS_ERRNOS - 1] += e->count;
			any |= e->count;
		}
	if (!any)
		return;
	label(r, REND_DIM, "ERRORS");
	for (int e = 0; e < VQS_ERRNOS; e++) {
		const char *name = strerrorname_np(e);

		if (!counts[e])
			continue;
		if (name && e)
			word(r, REND_PLAIN, "%s %s", name, rend_count(num, counts[e]));
		else
			word(r, REND_PLAIN, "errno %d: %s", e, rend_count(num, counts[e]));
	}
	if (d->failed_before_queue)
		word(r, REND_WARN, "%s ended before any queue",
		     rend_count(num, d->failed_before_queue));
	rend_end(r);
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

struct cpu_list {
	char text[36];
	size_t len;
	bool any, full;
	uint32_t first, last;
};

static void list_flush(struct cpu_list *l)
{
	char part[32];
	int n;

	if (!l->any || l->full)
		return;
	n = snprintf(part, sizeof(part), l->first == l->last ? "%s%u" : "%s%u-%u",
		     l->len ? "," : "", l->first, l->last);
	/* Room for the two points that say there is more. */
	l->full = l->len + (size_t)n + 3 > sizeof(l->text);
	snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s", l->full ? ".." : part);
	l->len += l->full ? 2 : (size_t)n;
}

static void list_add(struct cpu_list *l, uint32_t cpu)
{
	if (l->any && cpu == l->last + 1) {
		l->last = cpu;
		return;
	}
	list_flush(l);
	l->any = true;
	l->first = l->last = cpu;
}

void table_cpus(struct rend *r, const struct vqs_snap_device *d)
{
	char num[REND_NUM];
	bool first = true;

	for (size_t i = 0; i < d->nr_queues; i++) {
		const struct vqs_snap_queue *q = &d->queues[i];
		struct cpu_list seen = {0}, mapped = {0};

		if (!q->index || !q->nr_cpus)
			continue;
		for (size_t c = 0; c < q->nr_cpus; c++)
			list_add(&seen, q->cpus[c].cpu);
		for (size_t c = 0; c < d->nr_map; c++)
			if (d->map[c] == q->index)
				list_add(&mapped, (uint32_t)c);
		list_flush(&seen);
		list_flush(&mapped);
		if (first) {
			label(r, REND_DIM, "QUEUE");
			rend_left(r, REND_DIM, 34, "USED BY CPUS");
			rend_text(r, REND_DIM, d->nr_map ? "CPUS IN THE KERNEL'S MAP" : "");
			rend_end(r);
		}
		first = false;
		snprintf(num, sizeof(num), "%u", q->index);
		label(r, REND_BOLD, num);
		rend_left(r, REND_PLAIN, 34, seen.text);
		rend_text(r, REND_PLAIN, mapped.text);
		rend_end(r);
	}
}

/* ---- conservation -------------------------------------------------------------------------- */

static void term(struct rend *r, const char *sign, uint64_t n, const char *what,
		 enum rend_style style)
{
	if (n)
		word(r, style, "%s%s%llu %s", sign, *sign == '(' ? "" : " ", (unsigned long long)n,
		     what);
}

/* Traffic moves between the two counts: they tell something only when one of them is quiet. */
static bool depth_differs(const struct vqs_snap_queue *q)
{
	uint64_t ours = q->in_flight + q->completing + q->waiting_ring;

	return q->in_flight_kernel >= 0 && !ours != !q->in_flight_kernel;
}

static void equation(struct rend *r, const struct vqs_snap_queue *q)
{
	int64_t off = obs_queue_imbalance(q);

	word(r, REND_PLAIN, "%llu submitted", (unsigned long long)q->submitted);
	term(r, "+", q->complete_only, "submitted before attach", REND_PLAIN);
	word(r, REND_PLAIN, "= %llu completed", (unsigned long long)q->completed);
	term(r, "+", q->in_flight, "in flight", REND_PLAIN);
	term(r, "+", q->aborted, "aborted", REND_WARN);
	term(r, "+", q->untracked_slot_taken, "untracked, no slot free", REND_WARN);
	term(r, "+", q->end_missed, "whose end was missed", REND_WARN);
	/* Counters and the requests in flight are read one after the other. */
	if (off)
		word(r, REND_PLAIN, "(off by %+lld; exact only when quiet)", (long long)off);
	term(r, "(", q->start_missed, "whose start was not seen)", REND_DIM);
	term(r, "(", q->failed_before_ring, "failed before the ring)", REND_WARN);
	if (depth_differs(q))
		word(r, REND_WARN, "(the kernel counts %lld in flight)",
		     (long long)q->in_flight_kernel);
	rend_end(r);
}

void table_conservation(struct rend *r, const struct vqs_snap_device *d)
{
	char num[REND_NUM];

	for (size_t i = 0; i < d->nr_queues; i++) {
		const struct vqs_snap_queue *q = &d->queues[i];

		if (!q->submitted && !q->complete_only && !q->completed)
			continue;
		snprintf(num, sizeof(num), "%u", q->index);
		label(r, REND_BOLD, q->index ? num : "hiprio");
		equation(r, q);
	}
}

/* ---- the whole ----------------------------------------------------------------------------- */

void table_device(struct rend *r, const struct vqs_snapshot *s, const struct vqs_snap_device *d,
		  const struct table_view *v)
{
	table_device_head(r, d);
	if (!table_device_busy(d))
		return;
	table_queues(r, d, v);
	table_hops(r, d, v);
	table_ops(r, d, v);
	table_locks(r, s, d, v);
	table_rings(r, d, v);
	table_errors(r, d);
}

void table_losses(struct rend *r, const struct vqs_snapshot *s)
{
	struct warn_loss loss[WARN_LOSSES];
	size_t nr = warn_losses(s, loss);
	char num[REND_NUM];

	if (!nr)
		return;
	label(r, REND_WARN, "LOST");
	for (size_t i = 0; i < nr; i++)
		word(r, REND_WARN, "%s %s%s", rend_count(num, loss[i].n), loss[i].what,
		     i + 1 < nr ? ";" : "");
	rend_end(r);
}

void table_self(struct rend *r, const struct vqs_snapshot *s, const struct table_view *v)
{
	const struct vqs_snap_self *self = &s->self;
	char name[64], num[REND_NUM];
	uint64_t total = 0;

	rend_text(r, REND_BOLD, "vqsteer itself");
	rend_printf(r, REND_PLAIN, "  %s of BPF maps", rend_bytes(num, self->bpf_memory_bytes));
	rend_end(r);
	label(r, REND_DIM, "PROBE");
	rend_right(r, REND_DIM, 33, "RUNG");
	rend_right(r, REND_DIM, 9, "RUNS/S");
	rend_right(r, REND_DIM, 8, "PER RUN");
	rend_right(r, REND_DIM, 9, "OF A CPU");
	rend_right(r, REND_DIM, 8, "SKIPPED");
	rend_end(r);
	for (size_t i = 0; i < self->nr_progs; i++) {
		const struct vqs_snap_prog *p = &self->progs[i];

		if (!p->runs && !p->recursion_misses && self->timed)
			continue;
		rend_safe(name, sizeof(name), p->name);
		rend_text(r, REND_PLAIN, "  ");
		rend_left(r, REND_PLAIN, 32, name);
		rend_safe(name, sizeof(p->rung), p->rung);
		rend_right(r, REND_DIM, 12, name);
		rend_right(r, REND_PLAIN, 9, rend_rate(num, p->runs, v->elapsed_ns));
		rend_right(r, REND_PLAIN, 8, p->runs ? rend_ns(num, p->run_ns / p->runs) : "-");
		rend_right(r, REND_PLAIN, 9, rend_share(num, p->run_ns, v->elapsed_ns));
		rend_right(r, p->recursion_misses ? REND_WARN : REND_PLAIN, 8,
			   rend_count(num, p->recursion_misses));
		rend_end(r);
		total = vqs_add_saturated(total, p->run_ns);
	}
	if (self->timed) {
		rend_printf(r, REND_PLAIN, "  all of it: %s of one CPU",
			    rend_share(num, total, v->elapsed_ns));
		rend_end(r);
	}
}
