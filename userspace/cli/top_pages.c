// SPDX-License-Identifier: GPL-2.0-or-later
/* top's screens that scroll: one queue in depth, the keys, the warnings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"
#include "cli/top_draw.h"
#include "common/cleanup.h"
#include "common/hist.h"

#define NAME_WIDTH   19 /* COPY_FILE_RANGE_64 */
#define SHARE_WIDTH  5
#define NUMBER_WIDTH 6

/* The numbers of a table's line after name, share and bar. */
struct numbers {
	const char *text[6];
};
/* Which of them stay on a narrow screen: events, p50, p99, max. */
static const bool always[6] = {true, true, false, true, false, true};

static bool wide(const struct top_page *p)
{
	return p->line.width >= 79;
}

static int bar_width(const struct top_page *p)
{
	int numbers = (wide(p) ? 6 : 4) * (NUMBER_WIDTH + 1);
	int bar = p->line.width - NAME_WIDTH - 1 - SHARE_WIDTH - 1 - numbers;

	return bar < 0 ? 0 : bar > 40 ? 40 : bar;
}

/* @share NULL: none, and no bar. */
static void put_table_line(struct top_page *p, enum top_style style, const char *name,
			   const char *share, uint32_t permille, const struct numbers *n)
{
	top_put_cell(&p->line, style, NAME_WIDTH, true, name);
	top_put(&p->line, style, " %*s ", SHARE_WIDTH, share ? share : "");
	if (bar_width(p) > 0)
		top_put_bar(&p->line, bar_width(p), permille);
	for (size_t i = 0; i < ARRAY_SIZE(n->text); i++)
		if (wide(p) || always[i])
			top_put(&p->line, style, " %*s", NUMBER_WIDTH, n->text[i]);
}

static void table_heading(struct top_page *p, const char *name, const char *share,
			  const struct numbers *n)
{
	top_page_text(p, TOP_PLAIN, "%s", "");
	if (top_page_line(p))
		put_table_line(p, TOP_BOLD, name, share, 0, n);
}

static const struct numbers latency_titles = {{"/S", "P50", "P90", "P99", "P99.9", "MAX"}};

static void latency_line(struct top_page *p, const struct top_model *m, enum top_style style,
			 const char *name, const struct vqs_hist *h, double whole)
{
	char a[REND_NUM], b[REND_NUM], c[REND_NUM], d[REND_NUM], e[REND_NUM], f[REND_NUM];
	char share[REND_NUM];

	if (!top_page_line(p))
		return;
	/* Sums of garbage may pass 64 bits; their shares need not be right. */
	rend_share(share, h->sum, whole < (double)INT64_MAX ? (uint64_t)whole : INT64_MAX);
	put_table_line(p, style, name, whole > 0 ? share : NULL,
		       top_permille((double)h->sum, whole),
		       &(struct numbers){{
			       rend_rate(a, vqs_hist_count(h), m->interval_ns),
			       rend_ns(b, vqs_hist_percentile(h, 500)),
			       rend_ns(c, vqs_hist_percentile(h, 900)),
			       rend_ns(d, vqs_hist_percentile(h, 990)),
			       rend_ns(e, vqs_hist_percentile(h, 999)),
			       rend_ns(f, h->max),
		       }});
}

static void draw_hops(struct top_page *p, const struct top_model *m, const struct vqs_snap_queue *q)
{
	/* In the order of a request's life, what is part of a hop below it. */
	static const struct {
		enum vqs_hop hop;
		const char *name;
		bool part;
	} lines[] = {
		{VQS_HOP_BACKGROUND, "background queue", false},
		{VQS_HOP_INPUT, "input, dispatch", false},
		{VQS_HOP_RING_FULL, "  of it ring full", true},
		{VQS_HOP_DEVICE, "device", false},
		{VQS_HOP_IRQ, "  of it interrupt", true},
		{VQS_HOP_COMPLETE, "complete", false},
		{VQS_HOP_WAKE, "wake the waiter", false},
		{VQS_HOP_TOTAL, "total without wake", true},
	};
	double ns[VQS_HOPS], sum = top_hop_times(q->hop, ns);

	table_heading(p, "HOPS", "TIME", &latency_titles);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct vqs_hist *h = &q->hop[lines[i].hop];

		if (vqs_hist_count(h))
			latency_line(p, m, TOP_PLAIN, lines[i].name, h, lines[i].part ? 0 : sum);
	}
	if (sum > 0)
		return;
	if (q->index == 0)
		top_page_text(p, TOP_PLAIN, "FORGET has no reply: hiprio is counted, not timed");
	else
		top_page_text(p, TOP_PLAIN, "no request timed in this interval");
}

static int by_time_down(const void *a, const void *b)
{
	const struct vqs_snap_op *x = *(const struct vqs_snap_op *const *)a;
	const struct vqs_snap_op *y = *(const struct vqs_snap_op *const *)b;

	if (x->total->sum != y->total->sum)
		return x->total->sum < y->total->sum ? 1 : -1;
	return (x->opcode > y->opcode) - (x->opcode < y->opcode);
}

/* With --queue, where an opcode's time goes. */
static void op_hops(struct top_page *p, const struct vqs_snap_op *op)
{
	double ns[VQS_HOPS], sum = top_hop_times(op->hops, ns);

	if (sum <= 0 || !top_page_line(p))
		return;
	top_put(&p->line, TOP_DIM, " ");
	for (uint32_t h = 0; h < VQS_HOPS; h++)
		if (ns[h] > 0)
			top_put(&p->line, TOP_DIM, " %s %.0f%%", obs_hop_name((enum vqs_hop)h),
				ns[h] / sum * 100);
}

static void draw_ops(struct top_page *p, const struct top_model *m, const struct vqs_snap_queue *q)
{
	const struct vqs_snap_op *sorted[VQS_OPS];
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < q->nr_ops && nr < VQS_OPS; i++) {
		if (!q->ops[i].total)
			continue;
		sorted[nr++] = &q->ops[i];
		sum += (double)q->ops[i].total->sum;
	}
	if (!nr)
		return;
	qsort(sorted, nr, sizeof(sorted[0]), by_time_down);
	table_heading(p, "OPCODES", "TIME", &latency_titles);
	for (size_t i = 0; i < nr; i++) {
		latency_line(p, m, TOP_PLAIN, obs_op_name(sorted[i]->opcode), sorted[i]->total,
			     sum);
		if (sorted[i]->hops)
			op_hops(p, sorted[i]);
	}
}

/* "-" where nothing was measured: 0 would be a measurement. */
static const char *time_of(char out[REND_NUM], const struct vqs_hist *h, uint64_t ns)
{
	return vqs_hist_count(h) ? rend_ns(out, ns) : strcpy(out, "-");
}

static void lock_line(struct top_page *p, const struct top_model *m, const struct vqs_snap_lock *k)
{
	char a[REND_NUM], b[REND_NUM], c[REND_NUM], d[REND_NUM], e[REND_NUM], f[REND_NUM];
	/* Acquisitions are an estimate, and may come out below what was seen to wait. */
	uint64_t all = k->acquisitions > k->contended ? k->acquisitions : k->contended;
	char share[REND_NUM];

	if (!top_page_line(p))
		return;
	put_table_line(p, TOP_PLAIN, obs_lock_name(k->kind), rend_share(share, k->contended, all),
		       top_permille((double)k->contended, (double)all),
		       &(struct numbers){{
			       rend_rate(a, k->contended, m->interval_ns),
			       time_of(b, &k->wait, vqs_hist_percentile(&k->wait, 500)),
			       time_of(c, &k->wait, vqs_hist_percentile(&k->wait, 900)),
			       time_of(d, &k->wait, vqs_hist_percentile(&k->wait, 990)),
			       time_of(e, &k->wait, k->wait.max),
			       time_of(f, &k->wait, top_per_second(k->wait.sum, m->interval_ns)),
		       }});
}

static void draw_locks(struct top_page *p, const struct top_model *m, const struct top_row *r)
{
	static const struct numbers titles = {{"WAITS", "P50", "P90", "P99", "MAX", "ALL/S"}};

	if (m->locks_off)
		return;
	table_heading(p, "LOCKS", "WAIT", &titles);
	for (size_t i = 0; i < VQS_QUEUE_LOCKS; i++)
		lock_line(p, m, &r->queue->lock[i]);
	for (size_t i = 0; i < VQS_DEVICE_LOCKS; i++)
		lock_line(p, m, &r->dev->lock[i]);
	top_page_text(p, TOP_DIM,
		      "(fuse_iqueue and fuse_conn locks: of the mount, all its queues)");
}

/* With --stacks: who waited for this queue's locks and the connection's, most time first. */
static void draw_stacks(struct top_page *p, const struct top_model *m, const struct top_row *r)
{
	char waits[REND_NUM], wait[REND_NUM], frame[64];

	for (size_t i = 0; i < m->delta->nr_stacks; i++) {
		const struct vqs_snap_stack *k = &m->delta->stacks[i];

		if (k->device != r->dev->slot ||
		    (k->queue != r->queue->slot && k->queue != UINT32_MAX))
			continue;
		top_page_text(p, TOP_PLAIN, "%s", "");
		top_page_text(p, TOP_BOLD, "STACK that waited for %s: %s times, %s",
			      obs_lock_name(k->kind), rend_count(waits, k->waits),
			      rend_ns(wait, k->wait_ns));
		for (size_t f = 0; f < k->depth; f++) {
			rend_safe(frame, sizeof(frame), k->frame[f]);
			top_page_text(p, TOP_PLAIN, "  %s", frame);
		}
	}
}

static void draw_errors(struct top_page *p, const struct top_model *m,
			const struct vqs_snap_queue *q)
{
	if (!q->nr_errors)
		return;
	top_page_text(p, TOP_PLAIN, "%s", "");
	top_page_text(p, TOP_BOLD, "%-*s %*s", NAME_WIDTH, "ERRORS", SHARE_WIDTH, "/S");
	for (size_t i = 0; i < q->nr_errors; i++) {
		uint32_t err = q->errors[i].err;
		const char *name = strerrorname_np((int)err);
		char rate[REND_NUM], number[24];

		if (!name) {
			snprintf(number, sizeof(number), "%u%s", err,
				 err == VQS_ERRNOS - 1 ? " and above" : "");
			name = number;
		}
		top_page_text(p, TOP_PLAIN, "%-*s %*s", NAME_WIDTH, name, SHARE_WIDTH,
			      rend_rate(rate, q->errors[i].count, m->interval_ns));
	}
}

#define CPU_WIDTH 15

static bool strays(const struct vqs_snap_device *dev, const struct vqs_snap_queue *q, uint32_t cpu)
{
	return cpu < dev->nr_map && dev->map[cpu] != q->index;
}

/* "CPU 12 50.0%", as many to a line as fit; '!' where the kernel's own map names another queue. */
static void draw_cpus(struct top_page *p, const struct vqs_snap_device *dev,
		      const struct vqs_snap_queue *q)
{
	size_t per_line = (size_t)p->line.width / CPU_WIDTH;
	bool draw = false, any_strays = false;
	uint64_t sum = 0;

	for (size_t i = 0; i < q->nr_cpus; i++)
		sum += q->cpus[i].requests;
	if (!sum)
		return;
	top_page_text(p, TOP_PLAIN, "%s", "");
	top_page_text(p, TOP_BOLD, "CPUS that submit to it");
	for (size_t i = 0; i < q->nr_cpus; i++) {
		uint32_t cpu = q->cpus[i].cpu;
		bool stray = strays(dev, q, cpu);
		char share[REND_NUM];

		any_strays |= stray;
		if (i % per_line == 0)
			draw = top_page_line(p);
		if (!draw)
			continue;
		top_put_at(&p->line, (int)(i % per_line) * CPU_WIDTH);
		top_put(&p->line, TOP_PLAIN, "CPU %-3u %s%s", cpu,
			rend_share(share, q->cpus[i].requests, sum), stray ? "!" : "");
	}
	if (any_strays)
		top_page_text(p, TOP_WARN, "! the kernel's map sends this CPU to another queue");
}

static void draw_about(struct top_page *p, const struct top_model *m, const struct top_row *r)
{
	const struct vqs_snap_queue *q = r->queue;
	char a[REND_NUM], b[REND_NUM], c[REND_NUM], d[REND_NUM], kernel[32] = "";
	char tag[VQS_TAG_LEN], name[VQS_QUEUE_NAME_LEN];

	rend_safe(tag, sizeof(tag), r->dev->tag);
	rend_safe(name, sizeof(name), q->name);
	if (q->in_flight_kernel >= 0)
		snprintf(kernel, sizeof(kernel), " (kernel: %lld)", (long long)q->in_flight_kernel);
	top_page_text(p, TOP_BOLD, "%s queue %u (%s), %u descriptors, virtio%u%s", tag, q->index,
		      name, q->ring_size, r->dev->virtio_index, q->removed ? ", REMOVED" : "");
	top_page_text(p, TOP_PLAIN, "%s req/s, %s MB/s in, %s MB/s out, %s errors/s",
		      rend_rate(a, r->requests, m->interval_ns),
		      rend_mb_rate(b, q->bytes_in, m->interval_ns),
		      rend_mb_rate(c, q->bytes_out, m->interval_ns),
		      rend_rate(d, r->errors, m->interval_ns));
	top_page_text(p, TOP_PLAIN, "%s in flight%s, %s completing, %s waiting for the ring",
		      rend_count(a, q->in_flight), kernel, rend_count(b, q->completing),
		      rend_count(c, q->waiting_ring));
	top_page_text(p, TOP_PLAIN, "%s kicks and %s interrupts a request, ring full %s/s",
		      rend_ratio(a, q->kicks, q->submitted),
		      rend_ratio(b, q->interrupts, q->completed),
		      rend_rate(c, q->ring_full, m->interval_ns));
	if (q->aborted || q->failed_before_ring)
		top_page_text(p, TOP_WARN, "! %s aborted, %s failed before the ring",
			      rend_count(a, q->aborted), rend_count(b, q->failed_before_ring));
}

void top_draw_detail(struct top_page *p, const struct top_model *m)
{
	const struct top_row *r = top_model_selected(m);

	p->line = top_line(p->term, p->y);
	if (!r) {
		top_page_text(p, TOP_PLAIN,
			      m->delta ? "This queue is gone. Esc goes back." : "measuring");
		return;
	}
	draw_about(p, m, r);
	draw_hops(p, m, r->queue);
	draw_ops(p, m, r->queue);
	draw_locks(p, m, r);
	draw_errors(p, m, r->queue);
	draw_cpus(p, r->dev, r->queue);
	draw_stacks(p, m, r);
}

void top_draw_warnings(struct top_page *p, const struct top_model *m)
{
	top_page_text(p, TOP_BOLD, "Warnings of this interval");
	top_page_text(p, TOP_PLAIN, "%s", "");
	if (!m->nr_warnings)
		top_page_text(p, TOP_PLAIN,
			      "none: every request was followed, every lock wait seen");
	for (size_t i = 0; i < m->nr_warnings; i++) {
		char text[TOP_WARNING_LEN + 2];

		snprintf(text, sizeof(text), "! %s", m->warnings[i]);
		top_page_folded(p, TOP_PLAIN, 2, text);
	}
}
