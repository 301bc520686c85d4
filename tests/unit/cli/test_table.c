// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of realistic snapshots say what they should; those of any snapshot stay within bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../fixture.h"
#include "cli/select.h"
#include "cli/table.h"
#include "common/cleanup.h"
#include "common/hist.h"

static const struct table_view everything = {
	.elapsed_ns = 1000000000, .queue = -1, .op = -1, .locks = true};

static char *draw(const struct vqs_snapshot *s, const struct table_view *v, bool color)
{
	char *text = NULL;
	size_t size;
	struct rend r = {.out = open_memstream(&text, &size), .color = color};

	assert_non_null(r.out);
	for (size_t i = 0; i < s->nr_devices; i++) {
		table_device(&r, s, &s->devices[i], v);
		table_conservation(&r, &s->devices[i]);
		table_cpus(&r, &s->devices[i]);
	}
	table_losses(&r, s);
	table_stacks(&r, s);
	table_self(&r, s, v);
	fclose(r.out);
	return text;
}

/* Columns of the widest line; escape sequences take none. Fails on anything unprintable, and on
 * blanks at a line's end. */
static size_t widest(const char *text)
{
	size_t column = 0, most = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '\033') {
			p += strcspn(p, "m");
		} else if (*p == '\n') {
			assert_true(p == text || p[-1] != ' ');
			column = 0;
		} else {
			assert_in_range(*p, ' ', '~');
			most = ++column > most ? column : most;
		}
	}
	return most;
}

static void any_snapshot_fits_80_columns(void **state)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		_cleanup_snapshot_ struct vqs_snapshot *s = fixture_random(seed);
		struct table_view v = {.elapsed_ns = fixture_rand(&(uint64_t){seed}) >> seed % 64,
				       .queue = (int)(seed % 3) - 1,
				       .op = seed % 2 ? -1 : 1,
				       .locks = seed % 5};
		_cleanup_free_ char *text = draw(s, &v, seed % 2);

		if (widest(text) > REND_COLUMNS)
			fail_msg("seed %llu: %zu columns", (unsigned long long)seed, widest(text));
	}
}

static void colour_does_not_move_a_column(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(2);
	_cleanup_free_ char *plain = draw(s, &everything, false);
	_cleanup_free_ char *color = draw(s, &everything, true);
	char *out = color;

	for (const char *p = color; *p; p++) {
		if (*p == '\033')
			p += strcspn(p, "m");
		else
			*out++ = *p;
	}
	*out = '\0';
	assert_string_equal(plain, color);
}

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("nothing says \"%s\" in:\n%s", what, text);
}

static void assert_silent(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is said in:\n%s", what, text);
}

static void a_busy_guest_is_explained(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(2);
	_cleanup_free_ char *text = draw(s, &everything, false);

	assert_says(text, "data  virtio3, 4 request queues, 4 busy");
	assert_says(text, "QUEUE         REQ/S    MB/S  IN-FLIGHT     P50     P90     P99   P99.9");
	assert_says(text, "\n  virtio_fs_vq.lock      1 ");
	assert_says(text, "\n  fuse_conn.bg_lock    all ");
	assert_says(text, "\n  READ ");
	assert_says(text, "ENOENT");
	assert_says(text, "submitted = ");
	assert_says(text, "home  virtio4, 1 request queue\n");
	assert_says(text, "locks: no wait");
	assert_says(text, "virtio_fs_enqueue_req+0x1c2");
	assert_silent(text, "LOST");
	assert_silent(text, "off by");
}

static void an_idle_device_is_one_line(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *a = fixture_guest(2), *b = fixture_guest(2);
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(a, b);
	struct rend r = {0};
	char *text = NULL;
	size_t size;

	r.out = open_memstream(&text, &size);
	table_device(&r, d, &d->devices[1], &everything);
	fclose(r.out);
	assert_string_equal(text, "home  virtio4, 1 request queue, idle\n");
	free(text);
}

static void the_first_queue_only_is_said(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	_cleanup_free_ char *text = NULL;

	s->devices[0].nr_map = 0; /* Linux 6.1 */
	for (size_t i = 2; i < s->devices[0].nr_queues; i++)
		for (size_t j = 0; j < s->devices[0].queues[i].nr_ops; j++)
			free(s->devices[0].queues[i].ops[j].total);
	for (size_t i = 2; i < s->devices[0].nr_queues; i++) {
		free(s->devices[0].queues[i].ops);
		free(s->devices[0].queues[i].errors);
		free(s->devices[0].queues[i].cpus);
	}
	s->devices[0].nr_queues = 2;
	text = draw(s, &everything, false);
	assert_says(text, "4 request queues, this kernel uses only the first");
}

static void what_is_lost_or_wrong_is_said(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	struct vqs_snap_queue *q = &s->devices[0].queues[1];
	_cleanup_free_ char *text = NULL;

	s->untracked_table_full = 7;
	s->lock_nested = 3;
	s->lock_complete = false;
	q->submitted += 2;
	q->aborted += 1;
	q->untracked_slot_taken += 4;
	text = draw(s, &everything, false);
	assert_says(text, "LOST");
	assert_says(text, "7 requests of queues beyond the table");
	assert_says(text, "3 lock waits given up");
	assert_says(text, "+ 1 aborted");
	assert_says(text, "+ 4 untracked, no slot free");
	assert_says(text, "(off by -3; exact only when quiet)");
	assert_says(text, "lock waits are incomplete, ");
}

/* More queues than fit a screen: every queue has its latency, notifications are added up. */
static void many_queues_are_summed_up_where_they_repeat(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	struct vqs_snap_device *d = &s->devices[1];
	struct vqs_snap_queue *q = calloc(40, sizeof(*q));
	_cleanup_free_ char *text = NULL;

	assert_non_null(q);
	q[0] = d->queues[0];
	q[1] = d->queues[1];
	for (uint32_t i = 2; i < 40; i++) {
		q[i] = d->queues[1];
		q[i].index = i;
		q[i].ops = NULL;
		q[i].nr_ops = 0;
		q[i].errors = NULL;
		q[i].nr_errors = 0;
		q[i].cpus = NULL;
		q[i].nr_cpus = 0;
	}
	free(d->queues);
	d->queues = q;
	d->nr_queues = 40;
	text = draw(s, &everything, false);
	assert_says(text, "\n  39 ");
	assert_says(text, "\n  all 39 ");
}

static void options_select(void **state)
{
	struct cli_opts o = {.tag = "data", .queue = 2, .op = 15};
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1), *r = NULL;

	cli_select(s, &o);
	assert_int_equal(s->nr_devices, 1);
	assert_int_equal(s->devices[0].nr_queues, 1);
	assert_int_equal(s->devices[0].queues[0].index, 2);
	assert_int_equal(s->devices[0].queues[0].nr_ops, 1);
	assert_int_equal(s->devices[0].queues[0].ops[0].opcode, 15);
	for (uint64_t seed = 1; seed < 40; seed++) {
		r = fixture_random(seed);
		o = (struct cli_opts){.queue = (int)(seed % 5) - 1, .op = (int)(seed % 7) - 1};
		cli_select(r, &o);
		obs_snapshot_free(TAKE_PTR(r));
	}
}

/* With one queue selected, the hops of each of its operations are shown. */
static void a_selected_queue_shows_hops_per_operation(void **state)
{
	struct cli_opts o = {.queue = 1, .op = -1};
	struct table_view v = everything;
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	_cleanup_free_ char *text = NULL;
	struct vqs_snap_op *op;

	cli_select(s, &o);
	op = &s->devices[0].queues[0].ops[0];
	op->hops = calloc(VQS_HOPS, sizeof(*op->hops));
	assert_non_null(op->hops);
	vqs_hist_add(&op->hops[VQS_HOP_DEVICE], 12300);
	v.queue = 1;
	text = draw(s, &v, false);
	assert_says(text, "\n  MEAN           background       input      device    complete");
	assert_says(text, "\n  LOOKUP                  -           -      12.3us           -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_snapshot_fits_80_columns),
		cmocka_unit_test(colour_does_not_move_a_column),
		cmocka_unit_test(a_busy_guest_is_explained),
		cmocka_unit_test(an_idle_device_is_one_line),
		cmocka_unit_test(the_first_queue_only_is_said),
		cmocka_unit_test(what_is_lost_or_wrong_is_said),
		cmocka_unit_test(many_queues_are_summed_up_where_they_repeat),
		cmocka_unit_test(options_select),
		cmocka_unit_test(a_selected_queue_shows_hops_per_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
