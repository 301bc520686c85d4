// SPDX-License-Identifier: GPL-2.0-or-later
/* A device's queues, hops and opcodes. */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"
#include "common/saturate.h"

/* Rows of a table that has many before the rest is summed up. */
#define MANY 12
#define BAR  8

static const char *queue_label(char out[REND_NUM], const struct vqs_snap_queue *q)
{
	if (q->index)
		snprintf(out, REND_NUM, "%u%s", q->index, q->removed ? " gone" : "");
	else
		snprintf(out, REND_NUM, "hiprio");
	return out;
}

static bool queue_busy(const struct vqs_snap_queue *q)
{
	return q->submitted || q->completed || q->in_flight || q->waiting_ring;
}

bool table_device_busy(const struct vqs_snap_device *d)
{
	for (size_t i = 0; i < d->nr_queues; i++)
		if (queue_busy(&d->queues[i]))
			return true;
	return d->failed_before_queue;
}

/* The kernel has several queues to choose from, and puts everything on the first. */
static bool first_queue_only(const struct vqs_snap_device *d)
{
	if (d->request_queues < 2)
		return false;
	for (size_t i = 0; i < d->nr_queues; i++)
		if (d->queues[i].index > 1)
			return false;
	for (size_t cpu = 1; cpu < d->nr_map; cpu++)
		if (d->map[cpu] != d->map[0])
			return false;
	return true;
}

void table_device_head(struct rend *r, const struct vqs_snap_device *d)
{
	char tag[VQS_TAG_LEN];
	unsigned int busy = 0;

	for (size_t i = 0; i < d->nr_queues; i++)
		busy += d->queues[i].index && queue_busy(&d->queues[i]);
	rend_safe(tag, sizeof(tag), d->tag);
	rend_text(r, REND_BOLD, *tag ? tag : "(no tag)");
	rend_printf(r, REND_PLAIN, "  virtio%u", d->virtio_index);
	if (!d->mounted)
		rend_text(r, REND_DIM, ", not mounted");
	if (d->request_queues == 1)
		rend_text(r, REND_PLAIN, ", 1 request queue");
	else if (d->request_queues)
		rend_printf(r, REND_PLAIN, ", %u request queues", d->request_queues);
	if (!table_device_busy(d))
		rend_text(r, REND_DIM, ", idle");
	else if (first_queue_only(d))
		rend_text(r, REND_WARN, ", this kernel uses only the first");
	else if (d->request_queues > 1)
		rend_printf(r, REND_PLAIN, ", %u busy", busy);
	rend_end(r);
}

static void title(struct rend *r, int width, const char *first)
{
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_DIM, width, first);
}

static void head(struct rend *r, int width, const char *name)
{
	rend_right(r, REND_DIM, width, name);
}

static void cell(struct rend *r, int width, const char *text)
{
	rend_right(r, REND_PLAIN, width, text);
}

static void percentile_heads(struct rend *r, int width)
{
	static const char *const names[] = {"P50", "P90", "P99", "P99.9", "MAX"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		head(r, width, names[i]);
	rend_end(r);
}

static void percentile_cells(struct rend *r, int width, const struct vqs_hist *h)
{
	static const uint32_t permilles[] = {500, 900, 990, 999};
	char num[REND_NUM];

	for (size_t i = 0; i < ARRAY_SIZE(permilles); i++)
		cell(r, width, rend_ns(num, vqs_hist_percentile(h, permilles[i])));
	cell(r, width, rend_ns(num, h->max));
	rend_end(r);
}

void table_queues(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v)
{
	char num[REND_NUM];

	title(r, 11, "QUEUE");
	head(r, 8, "REQ/S");
	head(r, 8, "MB/S");
	head(r, 11, "IN-FLIGHT");
	percentile_heads(r, 8);
	for (size_t i = 0; i < d->nr_queues; i++) {
		const struct vqs_snap_queue *q = &d->queues[i];
		const struct vqs_hist *total = &q->hop[VQS_HOP_TOTAL];

		if (!queue_busy(q))
			continue;
		rend_text(r, REND_PLAIN, "  ");
		rend_left(r, REND_BOLD, 11, queue_label(num, q));
		cell(r, 8, rend_rate(num, q->completed, v->elapsed_ns));
		cell(r, 8, rend_mb_rate(num, q->bytes_in + q->bytes_out, v->elapsed_ns));
		cell(r, 11, rend_count(num, q->in_flight));
		if (vqs_hist_count(total))
			percentile_cells(r, 8, total);
		else
			rend_end(r);
	}
}

/* ---- hops ---------------------------------------------------------------------------------- */

static void merge_hops(struct vqs_hist *into, const struct vqs_hist *hops)
{
	for (int h = 0; h < VQS_HOPS; h++)
		vqs_hist_merge(&into[h], &hops[h]);
}

/* Of the opcode selected when its hops are known, else of all requests. Returns which. */
static bool collect_hops(const struct vqs_snap_device *d, const struct table_view *v,
			 struct vqs_hist *hops)
{
	bool of_op = false;

	for (size_t i = 0; v->op >= 0 && i < d->nr_queues; i++)
		for (size_t j = 0; j < d->queues[i].nr_ops; j++) {
			const struct vqs_snap_op *op = &d->queues[i].ops[j];

			if ((int)op->opcode != v->op || !op->hops)
				continue;
			merge_hops(hops, op->hops);
			/* The total of an opcode is kept apart, for every queue. */
			if (op->total && !vqs_hist_count(&op->hops[VQS_HOP_TOTAL]))
				vqs_hist_merge(&hops[VQS_HOP_TOTAL], op->total);
			of_op = true;
		}
	for (size_t i = 0; !of_op && i < d->nr_queues; i++)
		merge_hops(hops, d->queues[i].hop);
	return of_op;
}

/* The hops that follow each other from start to end; the others are part of one, or after. */
static uint64_t time_of_hops(const struct vqs_hist *hops)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < OBS_HOPS_IN_LINE; i++)
		sum = vqs_add_saturated(sum, hops[obs_hops_in_line[i]].sum);
	return sum;
}

static void bar_cell(struct rend *r, uint64_t part, uint64_t whole)
{
	char bar[BAR + 1] = "";
	int n = whole ? (int)(((unsigned __int128)part * BAR + whole / 2) / whole) : 0;

	for (int i = 0; i < n && i < BAR; i++)
		bar[i] = '#';
	rend_text(r, REND_PLAIN, " ");
	rend_left(r, n > BAR / 2 ? REND_WARN : REND_GOOD, BAR, bar);
}

/* @share: of @whole, as a bar too; "" for a hop that is part of another. */
static void hop_row(struct rend *r, const char *name, const struct vqs_hist *h, const char *share,
		    uint64_t whole)
{
	char num[REND_NUM];

	if (!vqs_hist_count(h))
		return;
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_PLAIN, 11, name);
	cell(r, 6, share);
	bar_cell(r, h->sum, whole);
	cell(r, 7, rend_count(num, vqs_hist_count(h)));
	cell(r, 7, rend_ns(num, vqs_hist_mean(h)));
	percentile_cells(r, 7, h);
}

void table_hops(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v)
{
	_cleanup_free_ struct vqs_hist *hops = calloc(VQS_HOPS, sizeof(*hops));
	char share[REND_NUM], later[REND_NUM + 1];
	uint64_t whole;
	bool of_op;

	if (!hops)
		return;
	of_op = collect_hops(d, v, hops);
	whole = time_of_hops(hops);
	if (!whole)
		return;
	/* Hops per operation are kept for one queue, the selected one. */
	title(r, 11, of_op ? obs_op_name((uint32_t)v->op) : v->op >= 0 ? "HOP ALL OPS" : "HOP");
	head(r, 6, "SHARE");
	rend_text(r, REND_PLAIN, "         ");
	head(r, 7, "COUNT");
	head(r, 7, "MEAN");
	percentile_heads(r, 7);
	for (size_t i = 0; i < OBS_HOPS_IN_LINE; i++) {
		enum vqs_hop hop = obs_hops_in_line[i];

		hop_row(r, obs_hop_name(hop), &hops[hop], rend_share(share, hops[hop].sum, whole),
			whole);
		if (hop == VQS_HOP_INPUT)
			hop_row(r, " ring full", &hops[VQS_HOP_RING_FULL], "", 0);
		if (hop == VQS_HOP_DEVICE)
			hop_row(r, " irq", &hops[VQS_HOP_IRQ], "", 0);
	}
	hop_row(r, "total", &hops[VQS_HOP_TOTAL], "", 0);
	/* The request has ended: its waiter's wake-up comes on top. */
	rend_share(share, hops[VQS_HOP_WAKE].sum, whole);
	snprintf(later, sizeof(later), *share == '>' || *share == '<' ? "%s" : "+%s", share);
	hop_row(r, "wake", &hops[VQS_HOP_WAKE], later, 0);
}

/* ---- opcodes ------------------------------------------------------------------------------- */

struct op_row {
	uint32_t opcode;
	struct vqs_hist total;
};

static int by_time(const void *a, const void *b)
{
	const struct op_row *x = a, *y = b;

	if (x->total.sum != y->total.sum)
		return x->total.sum < y->total.sum ? 1 : -1;
	return (x->opcode > y->opcode) - (x->opcode < y->opcode);
}

/* One row per opcode with requests, all queues added up, most time first. NULL: no memory. */
static struct op_row *collect_ops(const struct vqs_snap_device *d, size_t *nr)
{
	struct op_row *rows = calloc(VQS_OPS, sizeof(*rows));
	size_t kept = 0;

	for (size_t i = 0; rows && i < d->nr_queues; i++)
		for (size_t j = 0; j < d->queues[i].nr_ops; j++) {
			const struct vqs_snap_op *op = &d->queues[i].ops[j];

			if (op->total)
				vqs_hist_merge(&rows[op->opcode % VQS_OPS].total, op->total);
		}
	for (uint32_t op = 0; rows && op < VQS_OPS; op++)
		if (vqs_hist_count(&rows[op].total)) {
			rows[kept] = rows[op];
			rows[kept++].opcode = op;
		}
	if (rows)
		qsort(rows, kept, sizeof(*rows), by_time);
	*nr = kept;
	return rows;
}

static void op_hops_table(struct rend *r, const struct vqs_snap_device *d)
{
	static const enum vqs_hop shown[] = {VQS_HOP_BACKGROUND, VQS_HOP_INPUT, VQS_HOP_DEVICE,
					     VQS_HOP_COMPLETE};
	const struct vqs_snap_queue *q = d->nr_queues == 1 ? &d->queues[0] : NULL;
	char num[REND_NUM];
	bool any = false;

	for (size_t i = 0; q && i < q->nr_ops; i++) {
		const struct vqs_snap_op *op = &q->ops[i];

		if (!op->hops || !op->total || !vqs_hist_count(op->total))
			continue;
		if (!any) {
			title(r, 13, "MEAN");
			for (size_t h = 0; h < ARRAY_SIZE(shown); h++)
				head(r, 12, obs_hop_name(shown[h]));
			head(r, 12, "total");
			rend_end(r);
		}
		any = true;
		rend_text(r, REND_PLAIN, "  ");
		rend_left(r, REND_PLAIN, 13, obs_op_name(op->opcode));
		for (size_t h = 0; h < ARRAY_SIZE(shown); h++) {
			const struct vqs_hist *hist = &op->hops[shown[h]];

			cell(r, 12, vqs_hist_count(hist) ? rend_ns(num, vqs_hist_mean(hist)) : "-");
		}
		cell(r, 12, rend_ns(num, vqs_hist_mean(op->total)));
		rend_end(r);
	}
}

void table_ops(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v)
{
	size_t nr = 0, i;
	_cleanup_free_ struct op_row *rows = collect_ops(d, &nr);
	char num[REND_NUM];
	uint64_t whole = 0, rest = 0;

	if (!rows || !nr)
		return;
	for (i = 0; i < nr; i++)
		whole = vqs_add_saturated(whole, rows[i].total.sum);
	title(r, 16, "OP");
	head(r, 6, "SHARE");
	head(r, 8, "REQ/S");
	head(r, 8, "MEAN");
	percentile_heads(r, 8);
	for (i = 0; i < nr && i < MANY; i++) {
		const struct vqs_hist *h = &rows[i].total;

		rend_text(r, REND_PLAIN, "  ");
		rend_left(r, REND_BOLD, 16, obs_op_name(rows[i].opcode));
		cell(r, 6, rend_share(num, h->sum, whole));
		cell(r, 8, rend_rate(num, vqs_hist_count(h), v->elapsed_ns));
		cell(r, 8, rend_ns(num, vqs_hist_mean(h)));
		percentile_cells(r, 8, h);
	}
	for (; i < nr; i++)
		rest = vqs_add_saturated(rest, rows[i].total.sum);
	if (nr > MANY) {
		rend_printf(r, REND_DIM, "  %zu more operations: %s of the time", nr - MANY,
			    rend_share(num, rest, whole));
		rend_end(r);
	}
	if (v->queue >= 0)
		op_hops_table(r, d);
}
