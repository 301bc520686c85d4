// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"

void top_model_init(struct top_model *m, double interval_s)
{
	*m = (struct top_model){
		.interval_s = interval_s,
		.only_queue = -1,
		.sort = TOP_COL_RATE,
		.page = 1,
		.visible = UINT32_MAX,
	};
}

void top_model_free(struct top_model *m)
{
	free(m->rows);
	free(m->shown);
	free(m->warnings);
	*m = (struct top_model){0};
}

double top_hop_times(const struct vqs_hist *hops, double ns[VQS_HOPS])
{
	double sum = 0;

	for (size_t h = 0; h < VQS_HOPS; h++)
		ns[h] = 0;
	for (size_t i = 0; i < OBS_HOPS_IN_LINE; i++) {
		enum vqs_hop h = obs_hops_in_line[i];

		ns[h] = (double)hops[h].sum;
		sum += ns[h];
	}
	return sum;
}

uint32_t top_permille(double part, double whole)
{
	return whole > 0 ? (uint32_t)(part / whole * 1000 + 0.5) : 0;
}

static bool wanted(const struct top_model *m, const struct vqs_snap_device *dev,
		   const struct vqs_snap_queue *q)
{
	if (m->only_tag && strncmp(dev->tag, m->only_tag, sizeof(dev->tag)) != 0)
		return false;
	if (m->only_queue >= 0 && q->index != (uint32_t)m->only_queue)
		return false;
	/* A queue that is gone is shown for as long as its last interval had something in it. */
	return !q->removed || q->completed || q->submitted;
}

static void fill_row(struct top_row *r, const struct vqs_snap_device *dev,
		     const struct vqs_snap_queue *q)
{
	const struct vqs_hist *total = &q->hop[VQS_HOP_TOTAL];
	double ns[VQS_HOPS], sum;

	*r = (struct top_row){.dev = dev, .queue = q, .hop = VQS_HOPS};
	for (size_t i = 0; i < q->nr_errors; i++)
		r->errors += q->errors[i].count;
	r->requests = q->completed;
	r->bytes = q->bytes_in + q->bytes_out;
	for (size_t i = 0; i < VQS_QUEUE_LOCKS; i++) {
		r->contended += q->lock[i].contended;
		r->lock_wait_ns += q->lock[i].wait.sum;
	}
	r->in_flight = q->in_flight;
	if (total->sum) {
		r->p50_ns = vqs_hist_percentile(total, 500);
		r->p90_ns = vqs_hist_percentile(total, 900);
		r->p99_ns = vqs_hist_percentile(total, 990);
		r->p999_ns = vqs_hist_percentile(total, 999);
		r->max_ns = total->max;
	}
	sum = top_hop_times(q->hop, ns);
	if (sum <= 0)
		return;
	r->hop = VQS_HOP_BACKGROUND;
	for (size_t h = 0; h < VQS_HOPS; h++)
		if (ns[h] > ns[r->hop])
			r->hop = (enum vqs_hop)h;
	r->hop_permille = top_permille(ns[r->hop], sum);
}

/* Room for a row per queue; grows only, so that a steady state allocates nothing. */
static int make_room(struct top_model *m, const struct vqs_snapshot *s)
{
	struct top_row **shown;
	struct top_row *rows;
	size_t need = 0;

	for (size_t d = 0; d < s->nr_devices; d++)
		need += s->devices[d].nr_queues;
	if (need <= m->cap)
		return 0;
	rows = reallocarray(m->rows, need, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	m->rows = rows;
	shown = reallocarray(m->shown, need, sizeof(*shown));
	if (!shown)
		return -ENOMEM;
	m->shown = shown;
	m->cap = need;
	return 0;
}

static int by_wait_down(const void *a, const void *b)
{
	const struct top_lock_total *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return (int)x->kind - (int)y->kind;
}

static void add_lock(struct top_totals *t, const struct vqs_snap_lock *l)
{
	if ((unsigned int)l->kind >= VQS_LOCK_KINDS)
		return;
	t->lock[l->kind].contended += l->contended;
	t->lock[l->kind].wait_ns += l->wait.sum;
}

static void add_device(struct top_totals *t, const struct vqs_snap_device *dev)
{
	t->devices++;
	for (size_t i = 0; i < VQS_DEVICE_LOCKS; i++)
		add_lock(t, &dev->lock[i]);
}

static void total_up(struct top_model *m)
{
	double hop_ns[VQS_HOPS] = {0}, ns[VQS_HOPS], sum = 0;
	uint64_t total = 0, requests = 0;
	const struct vqs_snap_device *last = NULL;
	struct top_totals *t = &m->totals;

	*t = (struct top_totals){.queues = m->nr_rows};
	for (size_t i = 0; i < VQS_LOCK_KINDS; i++)
		t->lock[i].kind = (enum vqs_lock_kind)i;
	for (size_t i = 0; i < m->nr_rows; i++) {
		const struct top_row *r = &m->rows[i];
		const struct vqs_snap_queue *q = r->queue;

		if (r->dev != last)
			add_device(t, r->dev);
		last = r->dev;
		t->requests += r->requests;
		t->errors += r->errors;
		t->bytes_in += q->bytes_in;
		t->bytes_out += q->bytes_out;
		t->in_flight += r->in_flight;
		for (size_t l = 0; l < VQS_QUEUE_LOCKS; l++)
			add_lock(t, &q->lock[l]);
		sum += top_hop_times(q->hop, ns);
		for (size_t h = 0; h < VQS_HOPS; h++)
			hop_ns[h] += ns[h];
		total += q->hop[VQS_HOP_TOTAL].sum;
		requests += vqs_hist_count(&q->hop[VQS_HOP_TOTAL]);
	}
	t->mean_ns = requests ? total / requests : 0;
	for (size_t h = 0; h < VQS_HOPS; h++)
		t->hop_permille[h] = top_permille(hop_ns[h], sum);
	qsort(t->lock, VQS_LOCK_KINDS, sizeof(t->lock[0]), by_wait_down);
}

int top_model_update(struct top_model *m, const struct vqs_snapshot *delta)
{
	int err;

	m->delta = NULL;
	m->nr_rows = m->nr_shown = 0;
	err = make_room(m, delta);
	if (err)
		return err;
	m->delta = delta;
	m->interval_ns = delta->interval_ns;
	for (size_t d = 0; d < delta->nr_devices; d++) {
		const struct vqs_snap_device *dev = &delta->devices[d];

		for (size_t i = 0; i < dev->nr_queues; i++)
			if (wanted(m, dev, &dev->queues[i]))
				fill_row(&m->rows[m->nr_rows++], dev, &dev->queues[i]);
	}
	total_up(m);
	err = top_model_warn(m);
	if (err)
		m->delta = NULL;
	top_model_arrange(m);
	return err;
}

/* "tag/index name", what the filter looks into. */
static bool passes(const struct top_model *m, const struct top_row *r)
{
	char text[VQS_TAG_LEN + VQS_QUEUE_NAME_LEN + 16];

	if (!m->filter[0])
		return true;
	snprintf(text, sizeof(text), "%.*s/%u %.*s", VQS_TAG_LEN, r->dev->tag, r->queue->index,
		 VQS_QUEUE_NAME_LEN, r->queue->name);
	return strcasestr(text, m->filter) != NULL;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct top_row *x = *(struct top_row *const *)a, *y = *(struct top_row *const *)b;
	const struct top_model *m = arg;
	int order = top_columns[m->sort].compare(x, y);

	if (order && top_columns[m->sort].left == m->reversed)
		order = -order;
	/* Equal rows keep one order whatever the interval, so that nothing jumps about. */
	if (!order)
		order = top_columns[TOP_COL_TAG].compare(x, y);
	if (!order)
		order = (x->dev->slot > y->dev->slot) - (x->dev->slot < y->dev->slot);
	if (!order)
		order = top_columns[TOP_COL_QUEUE].compare(x, y);
	return order;
}

static struct top_id id_of(const struct top_row *r)
{
	return (struct top_id){r->dev->slot, r->queue->slot};
}

static bool same_id(struct top_id a, struct top_id b)
{
	return a.device == b.device && a.queue == b.queue;
}

static enum top_screen place(const struct top_model *m)
{
	return m->screen == TOP_LIST || m->screen == TOP_DETAIL ? m->screen : m->came_from;
}

/*
 * The selection stays on its queue wherever sorting took it. When the queue left the list the
 * one now in its place is selected; the drill-down stays with the queue it was opened for. Before
 * anything was picked the top of the list is selected, whoever is there.
 */
static void find_selected(struct top_model *m)
{
	for (size_t i = 0; i < m->nr_shown && m->any_selected; i++) {
		if (same_id(id_of(m->shown[i]), m->selected_id)) {
			m->selected = i;
			return;
		}
	}
	if (!m->nr_shown || place(m) == TOP_DETAIL)
		return;
	if (m->selected >= m->nr_shown)
		m->selected = m->nr_shown - 1;
	if (m->any_selected)
		m->selected_id = id_of(m->shown[m->selected]);
}

void top_model_select(struct top_model *m, size_t position)
{
	if (!m->nr_shown)
		return;
	m->selected = position < m->nr_shown ? position : m->nr_shown - 1;
	m->selected_id = id_of(m->shown[m->selected]);
	m->any_selected = true;
}

void top_model_arrange(struct top_model *m)
{
	m->nr_shown = 0;
	for (size_t i = 0; i < m->nr_rows; i++)
		if (passes(m, &m->rows[i]))
			m->shown[m->nr_shown++] = &m->rows[i];
	if (m->nr_shown)
		qsort_r(m->shown, m->nr_shown, sizeof(m->shown[0]), compare_rows, m);
	find_selected(m);
}

const struct top_row *top_model_selected(const struct top_model *m)
{
	if (place(m) == TOP_LIST)
		return m->selected < m->nr_shown ? m->shown[m->selected] : NULL;
	for (size_t i = 0; i < m->nr_rows; i++)
		if (same_id(id_of(&m->rows[i]), m->selected_id))
			return &m->rows[i];
	return NULL;
}
