// SPDX-License-Identifier: GPL-2.0-or-later
/* What keys do to top: order, filter, selection, screens, interval. */
#include "top_rig.h"

static unsigned int type(struct top_model *m, const char *keys)
{
	unsigned int todo = 0;

	for (; *keys; keys++)
		todo |= top_model_key(m, *keys);
	return todo;
}

static void assert_sorted(const struct top_model *m)
{
	const struct top_column_info *c = &top_columns[m->sort];

	for (size_t i = 1; i < m->nr_shown; i++) {
		int order = c->compare(m->shown[i - 1], m->shown[i]);

		if (c->left == m->reversed)
			order = -order;
		assert_true(order <= 0);
	}
}

static void test_sorts_by_every_column_both_ways(void **state)
{
	struct rig *r = *state;

	for (int c = 0; c < TOP_COLS; c++) {
		if (r->m.sort == (enum top_column)c)
			top_model_key(&r->m, 't');
		assert_int_equal(top_model_key(&r->m, top_columns[c].key), TOP_DO_DRAW);
		assert_int_equal(r->m.sort, c);
		assert_false(r->m.reversed);
		assert_sorted(&r->m);
		top_model_key(&r->m, 'r');
		assert_true(r->m.reversed);
		assert_sorted(&r->m);
		top_model_key(&r->m, top_columns[c].key);
		assert_false(r->m.reversed);
		top_model_key(&r->m, c ? 't' : 's');
	}
}

static void test_numbers_fall_and_text_rises_at_first(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->m.shown[0]->queue->index, 1); /* the hot one */
	top_model_key(&r->m, 't');
	assert_string_equal(r->m.shown[0]->dev->tag, "data");
	assert_string_equal(r->m.shown[r->m.nr_shown - 1]->dev->tag, "home");
	/* Among equals, in the order of the queues. */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(r->m.shown[i]->queue->index, i);
}

static void test_neighbouring_columns_skip_hidden_ones(void **state)
{
	struct rig *r = *state;

	r->m.visible = 1u << TOP_COL_TAG | 1u << TOP_COL_RATE | 1u << TOP_COL_P99;
	top_model_key(&r->m, '>');
	assert_int_equal(r->m.sort, TOP_COL_P99);
	assert_int_equal(top_model_key(&r->m, '>'), TOP_DO_NOTHING);
	top_model_key(&r->m, TOP_KEY_LEFT);
	assert_int_equal(r->m.sort, TOP_COL_RATE);
	top_model_key(&r->m, '<');
	assert_int_equal(r->m.sort, TOP_COL_TAG);
	assert_int_equal(top_model_key(&r->m, '<'), TOP_DO_NOTHING);
}

static void test_filter_narrows_while_typing(void **state)
{
	struct rig *r = *state;

	assert_int_equal(type(&r->m, "/HoMe"), TOP_DO_DRAW);
	assert_true(r->m.typing);
	assert_int_equal(r->m.nr_shown, 2);
	type(&r->m, "/1");
	assert_int_equal(r->m.nr_shown, 1);
	assert_int_equal(r->m.shown[0]->queue->index, 1);
	type(&r->m, "x");
	assert_int_equal(r->m.nr_shown, 0);
	assert_null(top_model_selected(&r->m));
	top_model_key(&r->m, TOP_KEY_BACKSPACE);
	assert_int_equal(r->m.nr_shown, 1);
	top_model_key(&r->m, TOP_KEY_ENTER);
	assert_false(r->m.typing);
	assert_string_equal(r->m.filter, "HoMe/1");
	/* It stays for the intervals that follow. */
	show(r, 2, 3);
	assert_int_equal(r->m.nr_shown, 1);
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_int_equal(r->m.nr_shown, 7);
}

static void test_filter_takes_keys_as_text(void **state)
{
	struct rig *r = *state;

	assert_int_equal(type(&r->m, "/q!h +") & TOP_DO_QUIT, 0);
	assert_string_equal(r->m.filter, "q!h +");
	top_model_key(&r->m, TOP_KEY_KILL);
	assert_string_equal(r->m.filter, "");
	assert_true(r->m.typing);
	top_model_key(&r->m, TOP_KEY_BACKSPACE);
	assert_false(r->m.typing);
	type(&r->m, "/");
	for (int i = 0; i < 100; i++)
		top_model_key(&r->m, 'x');
	assert_int_equal(strlen(r->m.filter), TOP_FILTER_LEN - 1);
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_string_equal(r->m.filter, "");
	assert_false(r->m.typing);
}

static void test_filter_finds_queue_names(void **state)
{
	struct rig *r = *state;

	type(&r->m, "/hiprio");
	assert_int_equal(r->m.nr_shown, 2);
}

static void test_selection_follows_its_queue(void **state)
{
	struct rig *r = *state;
	const struct vqs_snap_queue *q;

	top_model_key(&r->m, TOP_KEY_DOWN);
	top_model_key(&r->m, 'j');
	q = top_model_selected(&r->m)->queue;
	top_model_key(&r->m, 't');
	assert_ptr_equal(top_model_selected(&r->m)->queue, q);
	top_model_key(&r->m, 'r');
	assert_ptr_equal(top_model_selected(&r->m)->queue, q);
	assert_ptr_equal(r->m.shown[r->m.selected]->queue, q);
}

static void test_selection_stays_on_top_until_moved(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->m.selected, 0);
	top_model_key(&r->m, 't');
	assert_int_equal(r->m.selected, 0);
	assert_ptr_equal(top_model_selected(&r->m), r->m.shown[0]);
}

static void test_selection_survives_the_filter(void **state)
{
	struct rig *r = *state;
	struct top_id id;

	top_model_key(&r->m, 't');
	top_model_key(&r->m, TOP_KEY_END);
	assert_string_equal(top_model_selected(&r->m)->dev->tag, "home");
	id = r->m.selected_id;
	/* Nothing shown: remembered. Something else shown: that is selected now. */
	type(&r->m, "/nothing at all");
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_int_equal(r->m.selected_id.queue, id.queue);
	assert_int_equal(r->m.selected, 6);
	type(&r->m, "/data");
	assert_int_equal(r->m.selected, 4);
	assert_string_equal(top_model_selected(&r->m)->dev->tag, "data");
}

static void test_moves_stay_inside(void **state)
{
	struct rig *r = *state;

	r->m.page = 3;
	top_model_key(&r->m, TOP_KEY_UP);
	assert_int_equal(r->m.selected, 0);
	top_model_key(&r->m, TOP_KEY_PAGE_DOWN);
	assert_int_equal(r->m.selected, 3);
	top_model_key(&r->m, TOP_KEY_PAGE_DOWN);
	top_model_key(&r->m, TOP_KEY_PAGE_DOWN);
	assert_int_equal(r->m.selected, 6);
	top_model_key(&r->m, TOP_KEY_DOWN);
	assert_int_equal(r->m.selected, 6);
	top_model_key(&r->m, TOP_KEY_PAGE_UP);
	assert_int_equal(r->m.selected, 3);
	top_model_key(&r->m, TOP_KEY_HOME);
	assert_int_equal(r->m.selected, 0);
	top_model_key(&r->m, 'G');
	assert_int_equal(r->m.selected, 6);
	top_model_key(&r->m, 'g');
	assert_int_equal(r->m.selected, 0);
}

static void test_drills_down_and_back(void **state)
{
	struct rig *r = *state;
	struct top_id id;

	top_model_key(&r->m, TOP_KEY_DOWN);
	top_model_key(&r->m, TOP_KEY_ENTER);
	assert_int_equal(r->m.screen, TOP_DETAIL);
	id = r->m.selected_id;
	/* The view says how much there is to scroll. */
	r->m.nr_lines = 34;
	r->m.page = 22;
	top_model_key(&r->m, TOP_KEY_PAGE_DOWN);
	assert_int_equal(r->m.scroll, 12);
	top_model_key(&r->m, TOP_KEY_UP);
	assert_int_equal(r->m.scroll, 11);
	/* Help comes back to where it was called from. */
	top_model_key(&r->m, '?');
	assert_int_equal(r->m.screen, TOP_HELP);
	show(r, 2, 3);
	assert_int_equal(top_model_selected(&r->m)->queue->slot, id.queue);
	top_model_key(&r->m, '!');
	assert_int_equal(r->m.screen, TOP_WARNINGS);
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_int_equal(r->m.screen, TOP_DETAIL);
	assert_int_equal(top_model_selected(&r->m)->queue->slot, id.queue);
	top_model_key(&r->m, TOP_KEY_BACKSPACE);
	assert_int_equal(r->m.screen, TOP_LIST);
	assert_int_equal(top_model_selected(&r->m)->queue->slot, id.queue);
	top_model_key(&r->m, '*');
	assert_int_equal(r->m.screen, TOP_SELF);
	top_model_key(&r->m, 'h');
	top_model_key(&r->m, 'h');
	assert_int_equal(r->m.screen, TOP_LIST);
}

static void test_walks_the_queues_in_depth(void **state)
{
	struct rig *r = *state;

	top_model_key(&r->m, 't');
	top_model_key(&r->m, TOP_KEY_ENTER);
	assert_int_equal(top_model_selected(&r->m)->queue->index, 0);
	top_model_key(&r->m, 'p');
	assert_int_equal(top_model_selected(&r->m)->queue->index, 0);
	top_model_key(&r->m, 'n');
	top_model_key(&r->m, TOP_KEY_RIGHT);
	assert_int_equal(top_model_selected(&r->m)->queue->index, 2);
	for (int i = 0; i < 20; i++)
		top_model_key(&r->m, 'n');
	assert_string_equal(top_model_selected(&r->m)->dev->tag, "home");
	assert_int_equal(top_model_selected(&r->m)->queue->index, 1);
}

static void test_a_queue_that_left(void **state)
{
	struct rig *r = *state;
	struct vqs_snap_queue *q = &r->delta->devices[1].queues[1];

	type(&r->m, "/home/1");
	top_model_key(&r->m, TOP_KEY_ENTER);
	top_model_key(&r->m, TOP_KEY_ENTER);
	assert_int_equal(r->m.screen, TOP_DETAIL);
	/* Removed, with a last interval: shown. Then: gone, and nothing else in its place. */
	q->removed = true;
	again(r);
	assert_non_null(top_model_selected(&r->m));
	q->completed = q->submitted = 0;
	again(r);
	assert_null(top_model_selected(&r->m));
	assert_int_equal(r->m.nr_rows, 6);
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_int_equal(r->m.screen, TOP_LIST);
	assert_int_equal(top_model_key(&r->m, TOP_KEY_ENTER), TOP_DO_NOTHING);
	top_model_key(&r->m, TOP_KEY_ESC);
	assert_non_null(top_model_selected(&r->m));
}

static void test_interval_steps(void **state)
{
	struct rig *r = *state;

	assert_int_equal(top_model_key(&r->m, '+'), TOP_DO_DRAW | TOP_DO_INTERVAL);
	assert_true(r->m.interval_s == 2);
	top_model_key(&r->m, '-');
	top_model_key(&r->m, '-');
	assert_true(r->m.interval_s == 0.5);
	for (int i = 0; i < 20; i++)
		top_model_key(&r->m, '-');
	assert_true(r->m.interval_s == 0.1);
	assert_int_equal(top_model_key(&r->m, '-'), TOP_DO_DRAW);
	for (int i = 0; i < 20; i++)
		top_model_key(&r->m, '=');
	assert_true(r->m.interval_s == 60);
	r->m.interval_s = 3;
	top_model_key(&r->m, '+');
	assert_true(r->m.interval_s == 5);
	r->m.interval_s = 3600;
	assert_int_equal(top_model_key(&r->m, '+'), TOP_DO_DRAW);
	assert_true(r->m.interval_s == 3600);
}

static void test_pause_quit_and_unknown_keys(void **state)
{
	struct rig *r = *state;

	assert_int_equal(top_model_key(&r->m, ' '), TOP_DO_DRAW);
	assert_true(r->m.paused);
	assert_int_equal(top_model_key(&r->m, ' '), TOP_DO_DRAW | TOP_DO_REBASE);
	assert_int_equal(top_model_key(&r->m, 'q'), TOP_DO_QUIT);
	assert_int_equal(top_model_key(&r->m, 'Z'), TOP_DO_NOTHING);
	assert_int_equal(top_model_key(&r->m, TOP_KEY_REDRAW), TOP_DO_DRAW | TOP_DO_REPAINT);
	for (int key = 0; key < 256; key++)
		top_model_key(&r->m, key);
}

/* Whatever a snapshot holds, every key, and snapshots that share nothing with the one before. */
static void test_random_snapshots(void **state)
{
	struct rig *r = *state;
	uint64_t rng = 7;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct vqs_snapshot *s = fixture_random(seed);

		assert_int_equal(top_model_update(&r->m, s), 0);
		obs_snapshot_free(r->delta);
		r->delta = s;
		for (int i = 0; i < 30; i++) {
			int key = fixture_below(&rng, 3)
					  ? (int)fixture_below(&rng, 128)
					  : TOP_KEY_UP + (int)fixture_below(&rng, 13);

			top_model_key(&r->m, key);
			assert_true(!r->m.nr_shown || r->m.selected < r->m.nr_shown ||
				    r->m.screen != TOP_LIST);
			top_model_selected(&r->m);
			if (!r->m.typing)
				assert_sorted(&r->m);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sorts_by_every_column_both_ways),
		TEST(test_numbers_fall_and_text_rises_at_first),
		TEST(test_neighbouring_columns_skip_hidden_ones),
		TEST(test_filter_narrows_while_typing),
		TEST(test_filter_takes_keys_as_text),
		TEST(test_filter_finds_queue_names),
		TEST(test_selection_follows_its_queue),
		TEST(test_selection_stays_on_top_until_moved),
		TEST(test_selection_survives_the_filter),
		TEST(test_moves_stay_inside),
		TEST(test_drills_down_and_back),
		TEST(test_walks_the_queues_in_depth),
		TEST(test_a_queue_that_left),
		TEST(test_interval_steps),
		TEST(test_pause_quit_and_unknown_keys),
		TEST(test_random_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
