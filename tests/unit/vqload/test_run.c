// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole runs over several threads: what the report says against what was asked for. */
#include "common/clock.h"
#include "responder_rig.h"

#define RUN_NS  200000000ULL
#define LATE_MS 10ULL

/* Runs the words' jobs over @threads threads with a queue each; the caller frees. */
static struct load_report *load(struct rig *g, uint32_t threads, const char *const *word,
				enum load_exit expected)
{
	_cleanup_(load_jobs_freep) struct load_jobs *jobs = load_jobs_new();
	struct load_report *r = calloc(1, sizeof(*r));
	struct load_run_options o = {.threads = threads};
	char *err = NULL;
	enum load_exit code;

	assert_non_null(jobs);
	assert_non_null(r);
	for (; *word; word++)
		if (load_jobs_word(jobs, *word, &err))
			fail_msg("%s", err);
	if (load_jobs_finish(jobs, &err))
		fail_msg("%s", err);
	g->ro.queues = g->dev.request_queues = threads;
	o.device = g->dev;
	if (!g->r)
		rig_respond(g);
	code = load_run(&o, jobs, r);
	if (code != expected)
		fail_msg("exit code %d: %s", code, r->error);
	return r;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void drop(struct load_report *r)
{
	load_report_free(r);
	free(r);
}

/* Two blocks for three threads: each block is one thread's. */
static void few_blocks_are_not_shared(void **state)
{
	struct load_report *r = load(*state, 3,
				     WORDS("--rw=randrw", "--verify=crc32c", "--bs=4k", "--size=8k",
					   "--iodepth=8", "--time_based", "--runtime=200ms"),
				     LOAD_EXIT_CLEAN);

	assert_in_range(r->job[0].verified, 1, UINT64_MAX);
	assert_in_range(r->wall_ns, RUN_NS, UINT64_MAX);
	assert_true(load_judge_clean(r->judge));
	drop(r);
}

/* Every block is written once, and verified once. */
static void blocks_add_up(void **state)
{
	struct load_report *r = load(
		*state, 3,
		WORDS("--rw=write", "--verify=crc32c", "--bs=4k", "--size=404k", "--iodepth=7"),
		LOAD_EXIT_CLEAN);

	assert_int_equal(r->stats.op[FUSE_WRITE].requests, 101);
	assert_int_equal(r->job[0].written_bytes, 101 * 4096);
	assert_int_equal(r->job[0].verified, 101);
	drop(r);
}

/* Every reply takes LATE_MS, one after another: verifying takes its share of all the time. */
static void time_is_the_load_alone(void **state)
{
	uint64_t start, all;
	struct load_report *r;
	struct rig *g = *state;

	g->ro.misdeed = LOAD_DO_LATE;
	g->ro.every = 1;
	g->ro.late_ms = LATE_MS;
	start = vqs_now_ns(CLOCK_MONOTONIC);
	/* Thread 0 only waits for the other, which loads and verifies. */
	r = load(g, 2,
		 WORDS("--rw=write", "--verify=crc32c", "--bs=4k", "--size=160k", "--iodepth=1",
		       "--queues=2"),
		 LOAD_EXIT_CLEAN);
	all = vqs_now_ns(CLOCK_MONOTONIC) - start;
	assert_int_equal(r->job[0].verified, 40);
	assert_in_range(r->wall_ns, 40 * LATE_MS * 1000000, all - 40 * LATE_MS * 1000000);
	assert_in_range(r->counted_ns, 1, r->wall_ns);
	drop(r);
}

/* 1001 a second over three threads: the sum of the pieces, by count. */
static void rates_add_up(void **state)
{
	struct load_report *r = load(*state, 3,
				     WORDS("--rw=getattr", "--arrival=uniform", "--rate_iops=1001",
					   "--iodepth=64", "--time_based", "--runtime=1s"),
				     LOAD_EXIT_CLEAN);

	/* Each thread's first is due at the start. */
	assert_in_range(r->stats.op[FUSE_GETATTR].requests, 1001, 1001 + 3);
	drop(r);
}

/* No more FORGETs are counted than lookups that brought a node. */
static void forgets_follow_requests(void **state)
{
	struct load_report *r = load(*state, 2,
				     WORDS("--rw=forget", "--iodepth=4", "--time_based",
					   "--runtime=200ms", "--ramp_time=100ms"),
				     LOAD_EXIT_CLEAN);

	assert_in_range(r->stats.op[FUSE_LOOKUP].requests, 1, UINT64_MAX);
	assert_in_range(r->stats.op[FUSE_FORGET].requests, 1, r->stats.op[FUSE_LOOKUP].requests);
	assert_in_range(r->wall_ns, RUN_NS + RUN_NS / 2, UINT64_MAX);
	assert_int_equal(rig_complaints(*state), 0);
	drop(r);
}

static void shared_files_are_refused(void **state)
{
	struct load_report *r = load(*state, 2,
				     WORDS("--size=8k", "--bs=4k", "--name=a", "--rw=randrw",
					   "--verify=crc32c", "--filename=x/f", "--name=b",
					   "--rw=randrw", "--directory=x", "--filename=f"),
				     LOAD_EXIT_USAGE);

	assert_non_null(strstr(r->error, "jobs a and b"));
	drop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(few_blocks_are_not_shared), RIG(blocks_add_up),
		RIG(time_is_the_load_alone),    RIG(rates_add_up),
		RIG(forgets_follow_requests),   RIG(shared_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
