// SPDX-License-Identifier: GPL-2.0-or-later
/* What top shows of an interval: rows, totals, warnings, columns. */
#include "top_rig.h"

#include "common/hist.h"

static const struct top_row *find(const struct top_model *m, const char *tag, uint32_t index)
{
	for (size_t i = 0; i < m->nr_rows; i++)
		if (!strcmp(m->rows[i].dev->tag, tag) && m->rows[i].queue->index == index)
			return &m->rows[i];
	return NULL;
}

static void test_rows_hold_the_interval(void **state)
{
	struct rig *r = *state;
	const struct top_row *row = find(&r->m, "data", 1);
	const struct vqs_snap_queue *q = row->queue;

	assert_int_equal(r->m.nr_rows, 7);
	assert_int_equal(row->requests, 5400); /* the fixture's hot queue: 6 * 900 a second */
	assert_int_equal(row->requests, r->to->devices[0].queues[1].completed -
						r->from->devices[0].queues[1].completed);
	assert_int_equal(row->bytes, q->bytes_in + q->bytes_out);
	assert_int_equal(row->p99_ns, vqs_hist_percentile(&q->hop[VQS_HOP_TOTAL], 990));
	assert_int_equal(row->in_flight, 31);
	assert_int_equal(row->contended, q->lock[0].contended + q->lock[1].contended);
	assert_int_equal(row->errors, q->errors[0].count);
	assert_int_equal(row->hop, VQS_HOP_DEVICE);
	assert_in_range(row->hop_permille, 500, 800);
	/* hiprio: counted, not timed. */
	assert_int_equal(find(&r->m, "data", 0)->hop, VQS_HOPS);
	assert_int_equal(find(&r->m, "data", 0)->p99_ns, 0);
}

static void test_totals_are_sums(void **state)
{
	struct rig *r = *state;
	const struct top_totals *t = &r->m.totals;
	uint64_t requests = 0, vq_wait = 0, permille = 0;

	for (size_t i = 0; i < r->m.nr_rows; i++) {
		requests += r->m.rows[i].requests;
		vq_wait += r->m.rows[i].queue->lock[VQS_LOCK_VQ].wait.sum;
	}
	for (size_t h = 0; h < VQS_HOPS; h++)
		permille += t->hop_permille[h];
	assert_int_equal(t->requests, requests);
	assert_int_equal(t->devices, 2);
	assert_int_equal(t->queues, 7);
	assert_in_range(permille, 997, 1003);
	assert_int_equal(t->lock[0].kind, VQS_LOCK_VQ);
	assert_int_equal(t->lock[0].wait_ns, vq_wait);
	/* Of the device, once, however many queues it has. */
	assert_int_equal(t->lock[1].kind, VQS_LOCK_BG);
	assert_int_equal(t->lock[1].wait_ns, r->delta->devices[0].lock[1].wait.sum +
						     r->delta->devices[1].lock[1].wait.sum);
}

static void test_column_keys_are_unique_and_free(void **state)
{
	for (int c = 0; c < TOP_COLS; c++) {
		assert_int_equal(top_column_by_key(top_columns[c].key), c);
		assert_null(strchr("qQh?!*/ +-=_<>rnpjkgG", top_columns[c].key));
		/* The mark of the sorted column fits beside its title. */
		assert_true((int)strlen(top_columns[c].title) + 1 <= top_columns[c].width);
	}
	assert_int_equal(top_column_by_key('x'), TOP_COLS);
}

static void test_columns_fit_every_width(void **state)
{
	enum top_column cols[TOP_COLS];
	int widths[TOP_COLS];
	size_t before = 0;

	for (int width = 47; width < 300; width++) {
		size_t nr = top_columns_fit(width, 36, cols, widths);
		int sum = (int)nr - 1;

		for (size_t i = 0; i < nr; i++)
			sum += widths[i];
		assert_true(sum <= width);
		assert_true(nr >= before);
		assert_int_equal(cols[0], TOP_COL_TAG);
		assert_true(widths[0] <= 36);
		before = nr;
	}
	assert_int_equal(before, TOP_COLS);
	assert_int_equal(top_columns_fit(79, 36, cols, widths), 10);
	/* A short tag does not take the room. */
	top_columns_fit(200, 4, cols, widths);
	assert_int_equal(widths[0], top_columns[TOP_COL_TAG].width);
}

static void test_only_tag_and_queue(void **state)
{
	struct rig *r = *state;

	r->m.only_tag = "data";
	again(r);
	assert_int_equal(r->m.nr_rows, 5);
	assert_int_equal(r->m.totals.devices, 1);
	r->m.only_queue = 2;
	again(r);
	assert_int_equal(r->m.nr_rows, 1);
	r->m.only_tag = "none";
	again(r);
	assert_int_equal(r->m.nr_rows, 0);
	assert_null(top_model_selected(&r->m));
}

static bool warned(const struct top_model *m, const char *text)
{
	for (size_t i = 0; i < m->nr_warnings; i++)
		if (strstr(m->warnings[i], text))
			return true;
	return false;
}

static void test_warns_of_what_is_missing(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->m.nr_warnings, 0);
	r->delta->devices[0].queues[1].untracked_slot_taken = 7;
	r->delta->devices[0].queues[2].end_missed = 1;
	r->delta->untracked_table_full = 2;
	r->delta->recursion = 3;
	r->delta->ops_full = 4;
	r->delta->index_full = 5;
	r->delta->lock_nested = 6;
	again(r);
	assert_true(warned(&r->m, "not followed: 8 of "));
	assert_true(warned(&r->m, "(no slot 7, end missed 1)"));
	assert_true(warned(&r->m, "lost: 2 requests of queues beyond the table"));
	assert_true(warned(&r->m, "lost: 3 probes skipped by recursion"));
	assert_true(warned(&r->m, "lost: 4 totals without an opcode"));
	assert_true(warned(&r->m, "lost: 5 lock or queue addresses"));
	assert_true(warned(&r->m, "lost: 6 lock waits given up"));
	assert_int_equal(r->m.nr_warnings, 6);
}

static void test_warns_of_the_lock_rung(void **state)
{
	struct rig *r = *state;

	r->delta->lock_complete = false;
	snprintf(r->delta->lock_rung, sizeof(r->delta->lock_rung), "tracepoint");
	again(r);
	assert_true(warned(&r->m, "incomplete, tracepoint misses some"));
	snprintf(r->delta->lock_rung, sizeof(r->delta->lock_rung), "none");
	again(r);
	assert_true(warned(&r->m, "not seen on this kernel"));
	/* Nobody asked for them. */
	r->m.locks_off = true;
	again(r);
	assert_int_equal(r->m.nr_warnings, 0);
}

static void test_warns_of_idle_queues(void **state)
{
	struct rig *r = *state;
	struct vqs_snap_device *d = &r->delta->devices[0];

	for (size_t i = 2; i < d->nr_queues; i++)
		d->queues[i].completed = 0;
	again(r);
	assert_true(warned(&r->m, "data: all requests went to queue 1 of 4"));
	d->nr_map = 0; /* a kernel without mqs/ */
	again(r);
	assert_true(warned(&r->m, "data: this kernel uses only the first of 4 request queues"));
	/* A tag is the host's text. */
	snprintf(d->tag, sizeof(d->tag), "\033[2J");
	again(r);
	assert_true(warned(&r->m, "?[2J: this kernel"));
	d->queues[1].completed = 0;
	again(r);
	assert_int_equal(r->m.nr_warnings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rows_hold_the_interval),
		TEST(test_totals_are_sums),
		TEST(test_column_keys_are_unique_and_free),
		TEST(test_columns_fit_every_width),
		TEST(test_only_tag_and_queue),
		TEST(test_warns_of_what_is_missing),
		TEST(test_warns_of_the_lock_rung),
		TEST(test_warns_of_idle_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
