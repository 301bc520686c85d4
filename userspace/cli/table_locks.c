// SPDX-License-Identifier: GPL-2.0-or-later
/* Locks, the stacks of their waiters, and the queues' notifications. */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/warnings.h"
#include "common/cleanup.h"
#include "common/hist.h"
#include "observe/acquisitions.h"

/* Rows before the rest is summed up. */
#define MANY_LOCKS  8
#define MANY_RINGS  8
#define MANY_FRAMES 12
#define MANY_STACKS 5

struct lock_row {
	const struct vqs_snap_lock *lock;
	const struct vqs_snap_queue *queue; /* NULL: of the connection */
};

static int by_wait(const void *a, const void *b)
{
	const struct lock_row *x = a, *y = b;
	uint64_t p = x->lock->wait.sum, q = y->lock->wait.sum;

	if (p != q)
		return p < q ? 1 : -1;
	return (x->lock->kind > y->lock->kind) - (x->lock->kind < y->lock->kind);
}

/* The contended ones, longest total wait first. NULL: no memory. */
static struct lock_row *collect_locks(const struct vqs_snap_device *d, size_t *nr)
{
	size_t most = d->nr_queues * VQS_QUEUE_LOCKS + VQS_DEVICE_LOCKS;
	struct lock_row *rows = calloc(most, sizeof(*rows));

	*nr = 0;
	if (!rows)
		return NULL;
	for (size_t i = 0; i < d->nr_queues; i++)
		for (size_t k = 0; k < VQS_QUEUE_LOCKS; k++)
			if (d->queues[i].lock[k].contended)
				rows[(*nr)++] =
					(struct lock_row){&d->queues[i].lock[k], &d->queues[i]};
	for (size_t k = 0; k < VQS_DEVICE_LOCKS; k++)
		if (d->lock[k].contended)
			rows[(*nr)++] = (struct lock_row){&d->lock[k], NULL};
	qsort(rows, *nr, sizeof(*rows), by_wait);
	return rows;
}

static void head(struct rend *r, int width, const char *name)
{
	rend_right(r, REND_DIM, width, name);
}

static void cell(struct rend *r, int width, const char *text)
{
	rend_right(r, REND_PLAIN, width, text);
}

/* A tenth of the time on the way to the ring is worth a look, a third is the bottleneck. */
static enum rend_style share_style(uint64_t part, uint64_t whole)
{
	if (part > whole / 3)
		return REND_BAD;
	return part > whole / 10 ? REND_WARN : REND_PLAIN;
}

static void lock_cells(struct rend *r, const struct vqs_snap_device *d, const struct lock_row *row)
{
	const struct vqs_snap_lock *l = row->lock;
	uint64_t submit_ns = obs_submit_ns(d, row->queue);
	char num[REND_NUM];

	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_BOLD, 18, obs_lock_name(l->kind));
	if (row->queue && row->queue->index)
		snprintf(num, sizeof(num), "%u", row->queue->index);
	cell(r, 6, !row->queue ? "all" : row->queue->index ? num : "hiprio");
	cell(r, 10, rend_count(num, l->contended));
	cell(r, 8, rend_share(num, l->contended, l->acquisitions));
	cell(r, 7, rend_ns(num, vqs_hist_percentile(&l->wait, 500)));
	cell(r, 7, rend_ns(num, vqs_hist_percentile(&l->wait, 990)));
	cell(r, 7, rend_ns(num, l->wait.max));
	cell(r, 8, rend_ns(num, l->wait.sum));
	rend_right(r, share_style(l->submit_wait_ns, submit_ns), 7,
		   rend_share(num, l->submit_wait_ns, submit_ns));
	rend_end(r);
}

static void lock_heads(struct rend *r)
{
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_DIM, 18, "LOCK");
	head(r, 6, "QUEUE");
	head(r, 10, "CONTENDED");
	head(r, 8, "RATIO");
	head(r, 7, "P50");
	head(r, 7, "P99");
	head(r, 7, "MAX");
	head(r, 8, "TOTAL");
	head(r, 7, "SUBMIT");
	rend_end(r);
}

/* What was not seen must not look like what did not happen. */
static void lock_doubt(struct rend *r, const struct vqs_snapshot *s)
{
	char text[REND_COLUMNS];

	warn_locks(s, text, sizeof(text));
	rend_printf(r, REND_WARN, "  %s", text);
	rend_end(r);
}

void table_locks(struct rend *r, const struct vqs_snapshot *s, const struct vqs_snap_device *d,
		 const struct table_view *v)
{
	_cleanup_free_ struct lock_row *rows = NULL;
	uint64_t waits = 0, wait_ns = 0;
	char count[REND_NUM], time[REND_NUM];
	size_t nr, i;

	if (!v->locks || !strcmp(s->lock_rung, "none"))
		return;
	rows = collect_locks(d, &nr);
	if (!rows)
		return;
	if (nr) {
		lock_heads(r);
	} else if (s->lock_complete) {
		rend_text(r, REND_DIM, "  locks: no wait");
		rend_end(r);
	}
	for (i = 0; i < nr && i < MANY_LOCKS; i++)
		lock_cells(r, d, &rows[i]);
	for (; i < nr; i++) {
		waits += rows[i].lock->contended;
		wait_ns += rows[i].lock->wait.sum;
	}
	if (nr > MANY_LOCKS) {
		rend_printf(r, REND_DIM, "  %zu more locks: %s waits, %s in all", nr - MANY_LOCKS,
			    rend_count(count, waits), rend_ns(time, wait_ns));
		rend_end(r);
	}
	if (!s->lock_complete)
		lock_doubt(r, s);
}

/* ---- notifications ------------------------------------------------------------------------- */

static void ring_cells(struct rend *r, const char *label, const struct vqs_snap_queue *q,
		       const struct table_view *v)
{
	const struct vqs_hist *full = &q->hop[VQS_HOP_RING_FULL];
	uint64_t saved = q->submitted > q->kicks ? q->submitted - q->kicks : 0;
	char num[REND_NUM];

	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_BOLD, 11, label);
	snprintf(num, sizeof(num), "%u", q->ring_size);
	/* Sizes are powers of two up to 32768: exact, unless it is nonsense. */
	cell(r, 6,
	     !q->ring_size           ? "-"
	     : q->ring_size <= 32768 ? num
				     : rend_count(num, q->ring_size));
	cell(r, 9, rend_rate(num, q->kicks, v->elapsed_ns));
	cell(r, 12, rend_share(num, saved, q->submitted));
	cell(r, 9, rend_rate(num, q->interrupts, v->elapsed_ns));
	cell(r, 9, rend_ratio(num, q->completed, q->interrupts));
	rend_right(r, q->ring_full ? REND_WARN : REND_PLAIN, 9, rend_count(num, q->ring_full));
	if (vqs_hist_count(full))
		cell(r, 12, rend_ns(num, vqs_hist_percentile(full, 500)));
	rend_end(r);
}

static void add_ring(struct vqs_snap_queue *sum, const struct vqs_snap_queue *q)
{
	sum->submitted += q->submitted;
	sum->completed += q->completed;
	sum->kicks += q->kicks;
	sum->interrupts += q->interrupts;
	sum->ring_full += q->ring_full;
	sum->ring_size = q->ring_size;
	vqs_hist_merge(&sum->hop[VQS_HOP_RING_FULL], &q->hop[VQS_HOP_RING_FULL]);
}

void table_rings(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v)
{
	_cleanup_free_ struct vqs_snap_queue *sum = calloc(1, sizeof(*sum));
	char label[32];
	size_t busy = 0;

	for (size_t i = 0; sum && i < d->nr_queues; i++)
		if (d->queues[i].submitted) {
			add_ring(sum, &d->queues[i]);
			busy++;
		}
	if (!busy)
		return;
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_DIM, 11, "RING");
	head(r, 6, "SIZE");
	head(r, 9, "KICKS/S");
	head(r, 12, "SUPPRESSED");
	head(r, 9, "IRQ/S");
	head(r, 9, "REQ/IRQ");
	head(r, 9, "FULL");
	if (sum->ring_full)
		head(r, 12, "FULL FOR");
	rend_end(r);
	if (busy > MANY_RINGS) {
		snprintf(label, sizeof(label), "all %zu", busy);
		ring_cells(r, label, sum, v);
		return;
	}
	for (size_t i = 0; i < d->nr_queues; i++) {
		const struct vqs_snap_queue *q = &d->queues[i];

		if (!q->submitted)
			continue;
		snprintf(label, sizeof(label), "%u", q->index);
		ring_cells(r, q->index ? label : "hiprio", q, v);
	}
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void stack_place(struct rend *r, const struct vqs_snapshot *s,
			const struct vqs_snap_stack *k)
{
	char tag[VQS_TAG_LEN];

	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct vqs_snap_device *d = &s->devices[i];

		if (d->slot != k->device)
			continue;
		rend_safe(tag, sizeof(tag), d->tag);
		rend_printf(r, REND_PLAIN, " of %s", tag);
		for (size_t q = 0; q < d->nr_queues; q++)
			if (d->queues[q].slot == k->queue)
				rend_printf(r, REND_PLAIN, ", queue %u", d->queues[q].index);
		return;
	}
}

void table_stacks(struct rend *r, const struct vqs_snapshot *s)
{
	char count[REND_NUM], time[REND_NUM], frame[64];

	for (size_t i = 0; i < s->nr_stacks && i < MANY_STACKS; i++) {
		const struct vqs_snap_stack *k = &s->stacks[i];

		rend_text(r, REND_BOLD, obs_lock_name(k->kind));
		stack_place(r, s, k);
		rend_printf(r, REND_PLAIN, ": %s waits, %s", rend_count(count, k->waits),
			    rend_ns(time, k->wait_ns));
		rend_end(r);
		for (size_t f = 0; f < k->depth && f < MANY_FRAMES; f++) {
			rend_safe(frame, sizeof(frame), k->frame[f]);
			rend_printf(r, REND_DIM, "    %s", frame);
			rend_end(r);
		}
	}
}
