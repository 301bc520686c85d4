// SPDX-License-Identifier: GPL-2.0-or-later
/* Which rung each probe gets, out of made-up kernels; symbols; what the maps take. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/guest.h"
#include "observe/ksyms.h"
#include "observe/probes.h"
#include "tree.h"

#define ALL (1u << OBS_RUNG_FENTRY | 1u << OBS_RUNG_KPROBE | 1u << OBS_RUNG_TRACEPOINT)

static struct ksyms *symbols(struct tree *t, const char *text)
{
	struct ksyms *k = NULL;
	char path[PATH_MAX];

	assert_int_equal(tree_make(t), 0);
	tree_put(t, "/kallsyms", text);
	snprintf(path, sizeof(path), "%s/kallsyms", t->root);
	assert_int_equal(ksyms_load(&k, path), 0);
	return k;
}

static const struct probe_def *probe(const char *name)
{
	for (size_t i = 0; i < obs_nr_probe_defs; i++)
		if (!strcmp(obs_probe_defs[i].name, name))
			return &obs_probe_defs[i];
	fail_msg("no probe %s", name);
	return NULL;
}

static void best_rung_first(void **state)
{
	const struct probe_def *end = probe("fuse_request_end");
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000000 T fuse_request_end\n");
	struct probe_plan p;

	obs_probe_plan(end, k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_FENTRY);
	assert_string_equal(p.why, "");
	obs_probe_lower(end, ALL, "no BTF", &p);
	assert_int_equal(p.rung, OBS_RUNG_KPROBE);
	assert_string_equal(p.why, "fentry: no BTF");
	obs_probe_lower(end, ALL, "no kprobes", &p);
	assert_int_equal(p.rung, OBS_RUNG_TRACEPOINT);
	obs_probe_lower(end, ALL, "none", &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	obs_probe_plan(end, k, 1u << OBS_RUNG_KPROBE, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_KPROBE);
	ksyms_free(k);
}

static void clones_are_reported(void **state)
{
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000100 t flush_bg_queue.isra.0\n"
				      "ffffffff81000200 t request_wait_answer.cold\n"
				      "ffffffff81000300 t virtqueue_notify.part.0\n"
				      "ffffffff81000400 t virtqueue_notify_more\n");
	struct probe_plan p;

	/* Nobody can trust the clone's arguments. */
	obs_probe_plan(probe("flush_bg_queue"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	assert_non_null(strstr(p.why, "flush_bg_queue.isra.0"));
	/* Nobody needs it where there is no input queue (since 6.11). */
	assert_false(p.needless);
	/* A cold part or a piece is not the function. */
	obs_probe_plan(probe("wake-up"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	assert_non_null(strstr(p.why, "no symbol request_wait_answer"));
	obs_probe_plan(probe("virtqueue_notify"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	ksyms_free(k);
}

static void targets_may_have_rungs_of_their_own(void **state)
{
	const struct probe_def *wake = probe("wake-up");
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000000 t request_wait_answer\n"
				      "ffffffff81000100 t fuse_put_request\n");
	struct probe_plan p;

	obs_probe_plan(wake, k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_FENTRY);
	assert_true(obs_probe_uses(wake, &p, 0));
	assert_false(obs_probe_uses(wake, &p, 1));
	obs_probe_lower(wake, ALL, "refused", &p);
	assert_int_equal(p.rung, OBS_RUNG_KPROBE);
	assert_false(obs_probe_uses(wake, &p, 0));
	assert_true(obs_probe_uses(wake, &p, 1));
	obs_probe_lower(wake, ALL, "refused", &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	assert_false(obs_probe_uses(wake, &p, 1));
	ksyms_free(k);
}

static void kernels_that_preempt(void **state)
{
	const unsigned int fentry = 1u << OBS_RUNG_FENTRY;
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000000 T fuse_request_end\n"
				      "ffffffff81000100 T virtqueue_get_buf\n"
				      "ffffffff82000000 D preempt_dynamic_mode\n");
	struct probe_plan p;

	for (int preempt = 0; preempt <= OBS_PREEMPT_LAZY; preempt++) {
		bool never = preempt == OBS_PREEMPT_NEVER;

		obs_probe_plan(probe("fuse_request_end"), k, ALL, preempt, &p);
		assert_int_equal(p.rung, never ? OBS_RUNG_FENTRY : OBS_RUNG_KPROBE);
		assert_int_equal(strstr(p.why, "preempts") != NULL, !never);
		/* Missing some is better than the tracepoint, which is later. */
		obs_probe_lower(probe("fuse_request_end"), ALL, "refused", &p);
		assert_int_equal(p.rung, never ? OBS_RUNG_KPROBE : OBS_RUNG_FENTRY);
		obs_probe_lower(probe("fuse_request_end"), ALL, "refused", &p);
		assert_int_equal(p.rung, OBS_RUNG_TRACEPOINT);
		obs_probe_lower(probe("fuse_request_end"), ALL, "refused", &p);
		assert_int_equal(p.rung, OBS_RUNG_NONE);
		/* Under a spinlock nobody is preempted. */
		obs_probe_plan(probe("virtqueue_get_buf"), k, ALL, preempt, &p);
		assert_int_equal(p.rung, OBS_RUNG_FENTRY);
		/* Missing some is better than missing all. */
		obs_probe_plan(probe("fuse_request_end"), k, fentry, preempt, &p);
		assert_int_equal(p.rung, OBS_RUNG_FENTRY);
	}
	assert_true(ksyms_preempt_mode(k) == 0xffffffff82000000);
	ksyms_free(k);
}

static void what_no_kernel_needs(void **state)
{
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000000 t flush_bg_queue\n"
				      "ffffffff81000100 t virtio_fs_send_req\n");
	struct probe_plan p;

	obs_probe_plan(probe("flush_bg_queue"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_NONE);
	assert_true(p.needless);
	assert_non_null(strstr(p.why, "not needed"));
	ksyms_free(k);
}

static void preemption_models(void **state)
{
	assert_int_equal(obs_preempt_of_version("#1 SMP Debian 5.10"), OBS_PREEMPT_NEVER);
	assert_int_equal(obs_preempt_of_version("#1 SMP PREEMPT Debian"), OBS_PREEMPT_FULL);
	assert_int_equal(obs_preempt_of_version("#1 SMP PREEMPT_RT Debian"), OBS_PREEMPT_FULL);
	assert_int_equal(obs_preempt_of_version("#1 SMP PREEMPT_LAZY x"), OBS_PREEMPT_LAZY);
	assert_int_equal(obs_preempt_of_version("#1 SMP PREEMPT_DYNAMIC x"), OBS_PREEMPT_UNKNOWN);
	assert_int_equal(obs_preempt_of_mode(-1), OBS_PREEMPT_UNKNOWN);
	assert_int_equal(obs_preempt_of_mode(0), OBS_PREEMPT_NEVER);
	assert_int_equal(obs_preempt_of_mode(1), OBS_PREEMPT_NEVER);
	assert_int_equal(obs_preempt_of_mode(2), OBS_PREEMPT_FULL);
	assert_int_equal(obs_preempt_of_mode(3), OBS_PREEMPT_LAZY);
	assert_int_equal(obs_preempt_of_mode(4), OBS_PREEMPT_UNKNOWN);
}

static void any_of_several_targets_will_do(void **state)
{
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000000 T queued_spin_lock_slowpath\n"
				      "ffffffff81000100 T fuse_dev_put\n");
	struct probe_plan p;

	obs_probe_plan(probe("spinlock slow path"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_FENTRY);
	assert_false(p.live[0]);
	assert_true(p.live[2]);
	assert_string_equal(p.why, "");
	obs_probe_plan(probe("fuse_dev release"), k, ALL, OBS_PREEMPT_NEVER, &p);
	assert_int_equal(p.rung, OBS_RUNG_FENTRY);
	assert_string_equal(p.why, "");
	ksyms_free(k);
}

static void addresses_have_names(void **state)
{
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "ffffffff81000100 t second\t[fuse]\n"
				      "ffffffff81000000 T first\n"
				      "ffffffff81000180 d data\n"
				      "garbage\n\nffffffff81000190\n");
	char buf[64];

	ksyms_format(k, 0xffffffff81000010, buf, sizeof(buf));
	assert_string_equal(buf, "first+0x10");
	ksyms_format(k, 0xffffffff810001ff, buf, sizeof(buf));
	assert_string_equal(buf, "second+0xff");
	ksyms_format(k, 0x1000, buf, sizeof(buf));
	assert_string_equal(buf, "0x1000");
	assert_true(ksyms_has_addresses(k));
	assert_false(ksyms_has(k, "data"));
	ksyms_free(k);
}

static void hidden_addresses(void **state)
{
	_cleanup_tree_ struct tree t;
	struct ksyms *k = symbols(&t, "0000000000000000 T first\n0000000000000000 t second\n");
	char buf[64];

	assert_true(ksyms_has(k, "second"));
	assert_false(ksyms_has_addresses(k));
	ksyms_format(k, 0xffffffff81000010, buf, sizeof(buf));
	assert_string_equal(buf, "0xffffffff81000010");
	ksyms_free(k);
}

static void every_program_has_one_probe(void **state)
{
	assert_int_equal(obs_probe_of_prog("snapshot_levels"), obs_nr_probe_defs);
	for (size_t i = 0; i < obs_nr_probe_defs; i++)
		for (size_t t = 0; t < PROBE_TARGETS; t++)
			for (size_t r = 0; r < OBS_RUNGS; r++)
				for (size_t p = 0; p < PROBE_PROGS; p++) {
					const char *prog = obs_probe_defs[i].target[t].progs[r][p];

					if (prog)
						assert_int_equal(obs_probe_of_prog(prog), i);
				}
}

static void memory_is_bounded(void **state)
{
	struct obs_guest_opts o;

	obs_guest_default_opts(&o);
	assert_in_range(obs_guest_memory(&o, 64, 256), 1, 16u << 20);
	assert_true(obs_guest_memory(&o, 128, 256) > obs_guest_memory(&o, 64, 256));
	assert_true(obs_guest_memory(&o, 64, 512) > obs_guest_memory(&o, 64, 256));
	o.trace = true;
	assert_in_range(obs_guest_memory(&o, 64, 4096), 1, 128u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(best_rung_first),
		cmocka_unit_test(clones_are_reported),
		cmocka_unit_test(targets_may_have_rungs_of_their_own),
		cmocka_unit_test(kernels_that_preempt),
		cmocka_unit_test(what_no_kernel_needs),
		cmocka_unit_test(preemption_models),
		cmocka_unit_test(any_of_several_targets_will_do),
		cmocka_unit_test(addresses_have_names),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(every_program_has_one_probe),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
