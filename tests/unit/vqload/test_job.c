// SPDX-License-Identifier: GPL-2.0-or-later
/* Job files: what they mean, and what is said of those that mean nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "vqload/job.h"

#define S 1000000000ULL

static struct load_jobs *parse(const char *text, char **err)
{
	struct load_jobs *j = load_jobs_new();

	assert_non_null(j);
	if (!load_jobs_text(j, "x.fio", text, strlen(text), err) && !load_jobs_finish(j, err))
		return j;
	load_jobs_free(j);
	return NULL;
}

static struct load_jobs *good(const char *text)
{
	_cleanup_free_ char *err = NULL;
	struct load_jobs *j = parse(text, &err);

	if (!j)
		fail_msg("%s", err);
	return j;
}

static void says(const char *text, const char *want)
{
	_cleanup_free_ char *err = NULL;
	struct load_jobs *j = parse(text, &err);

	load_jobs_free(j);
	assert_null(j);
	assert_non_null(err);
	assert_string_equal(err, want);
}

static void defaults(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = good("[a]\n");

	assert_int_equal(j->nr_jobs, 1);
	assert_string_equal(j->job->name, "a");
	assert_int_equal(j->job->rw, LOAD_RW_READ);
	assert_int_equal(j->job->bs, 4096);
	assert_int_equal(j->job->size, 16 << 20);
	assert_int_equal(j->job->iodepth, 1);
	assert_int_equal(j->job->numjobs, 1);
	assert_int_equal(j->job->rwmixread, 50);
	assert_int_equal(j->job->randseed, 1);
	assert_int_equal(j->job->age_limit_ns, 30 * S);
	assert_int_equal(j->job->arrival, LOAD_ARRIVAL_CLOSED);
	assert_true(j->job->queues_all);
}

static void a_file_of_fio(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j =
		good("; a comment\n# another\n[global]\nrw = randread\r\nbs=8K\n  iodepth=32  \n"
		     "runtime=1m\ntime_based\nsize=1g\n\n[one]\nnumjobs=4\nrw=readwrite\n"
		     "[two]\ntime_based=0\nverify=crc32c\nverify_fatal=1\ndirectory=some/where\n"
		     "startdelay=1500ms\n[global]\nbs=64k\n[three]\nrwmixread=0");

	assert_int_equal(j->nr_jobs, 3);
	assert_int_equal(j->job[0].rw, LOAD_RW_RW);
	assert_int_equal(j->job[0].numjobs, 4);
	assert_int_equal(j->job[0].bs, 8192);
	assert_int_equal(j->job[0].size, 1 << 30);
	assert_int_equal(j->job[0].runtime_ns, 60 * S);
	assert_true(j->job[0].time_based);
	assert_int_equal(j->job[1].rw, LOAD_RW_RANDREAD);
	assert_false(j->job[1].time_based);
	assert_int_equal(j->job[1].verify, LOAD_VERIFY_CRC32C);
	assert_true(j->job[1].verify_fatal);
	assert_string_equal(j->job[1].directory, "some/where");
	assert_int_equal(j->job[1].startdelay_ns, 3 * S / 2);
	assert_int_equal(j->job[1].bs, 8192);
	assert_int_equal(j->job[2].bs, 65536);
	assert_int_equal(j->job[2].rwmixread, 0);
	assert_int_equal(j->job[2].iodepth, 32);
}

static void queues_and_phases(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j =
		good("[phase left]\nduration=2s\nqueue_weights=1:8,2:1\n[a]\nqueues=1-4,6\n"
		     "queue_weights=2:5,4:0\n[phase right]\nduration=500ms\n[b]\n"
		     "arrival=poisson\nqueue_rate_iops=1:5000,3:200\n[c]\nqueue_rate_iops=1k\n"
		     "queues=2,3\n[d]\nqueue_weights=7:3\n");
	_cleanup_free_ char *err = NULL;

	assert_int_equal(j->nr_phases, 2);
	assert_string_equal(j->phase[0].name, "left");
	assert_int_equal(j->phase[0].duration_ns, 2 * S);
	assert_int_equal(j->phase[0].weight[1], 8);
	assert_int_equal(j->phase[1].duration_ns, S / 2);
	for (uint32_t q = 0; q < 8; q++)
		assert_int_equal(j->job[0].weight[q], q == 2 ? 5 : q == 1 || q == 3 || q == 6);
	assert_int_equal(load_job_queues(&j->job[0], 6, &err), 0);
	assert_int_equal(load_job_queues(&j->job[0], 5, &err), -EINVAL);
	assert_string_equal(err, "job a: there is no queue 6; the device's are 1 to 5");
	free(TAKE_PTR(err));
	assert_int_equal(load_job_queues(&j->job[1], 4, &err), 0);
	assert_int_equal(j->job[1].rate_iops, 5200);
	assert_int_equal(j->job[1].weight[1], 5000);
	assert_int_equal(j->job[1].weight[2], 0);
	assert_int_equal(j->job[1].weight[3], 200);
	assert_int_equal(load_job_queues(&j->job[2], 4, &err), 0);
	assert_int_equal(j->job[2].rate_iops, 2048);
	assert_int_equal(j->job[2].weight[2], 1024);
	assert_int_equal(j->job[2].weight[1], 0);
	assert_int_equal(load_job_queues(&j->job[3], 7, &err), 0);
	assert_int_equal(j->job[3].weight[7], 3);
	assert_int_equal(j->job[3].weight[1], 0);
}

static void all_queues_of_the_device(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = good("[a]\n[b]\nqueue_rate_iops=10\n");
	_cleanup_free_ char *err = NULL;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(load_job_queues(&j->job[i], 3, &err), 0);
		for (uint32_t q = 0; q < LOAD_QUEUES; q++)
			assert_int_equal(j->job[i].weight[q], (q >= 1 && q <= 3) * (i ? 10 : 1));
	}
	assert_int_equal(j->job[1].rate_iops, 30);
	assert_int_equal(load_job_queues(&j->job[0], 256, &err), -EINVAL);
}

static void messages(void **state)
{
	says("[a]\nbs=4k\niodpth=3\n", "x.fio:3: \"iodpth\" is no key; did you mean iodepth?");
	says("[a]\nbs=5q\n",
	     "x.fio:2: bs: \"5q\" is not a size; give bytes, or with k, m, g or t, from 1 to 4m");
	says("[a]\nbs=5m\n", "x.fio:2: bs: \"5m\" is out of range; give bytes, or with k, m, g or "
			     "t, from 1 to 4m");
	says("[a]\nrw=randred\n",
	     "x.fio:2: rw: \"randred\" is not one of its words; did you mean randread?");
	says("[a]\narrival=x\n", "x.fio:2: arrival: \"x\" is not one of its words; give closed, "
				 "uniform, poisson");
	says("[a]\nruntime=1w\n", "x.fio:2: runtime: \"1w\" is not a time; give seconds, or with "
				  "us, ms, s, m, h or d, from 0 to 30d");
	says("[a]\nqueues=0\n", "x.fio:2: queues: \"0\" is out of range; give queues from 1 to "
				"255, such as 1-4,6");
	says("[a]\nqueue_weights=1:2,1:3\n",
	     "x.fio:2: queue_weights: \"1:2,1:3\" is not a list of queues with weights; give "
	     "queues from 1 to 255, each once, with numbers from 0 to 1000000, such as 1:5,2:1");
	says("[a]\nioengine=libaio\n",
	     "x.fio:2: ioengine is a key of fio that means nothing here; leave it out");
	says("[a]\nduration=1\n", "x.fio:2: duration belongs into a phase's section");
	says("[phase a]\nbs=1\n", "x.fio:2: bs belongs into a job's section");
	says("[a]\nbs\n", "x.fio:2: bs wants a value; give bs=SIZE");
	says("bs=4k\n", "x.fio:1: \"bs=4k\" comes before any section; begin with [global] or a "
			"job's [NAME]");
	says("[a\n", "x.fio:1: \"[a\" is no section; give [global], [NAME] or [phase NAME]");
	says("[a]\n[a]\n", "x.fio:2: job a is there already; give it another name");
	says("[a]\ndirectory=../x\n",
	     "x.fio:2: directory: \"../x\" is not a path below the share's root; give one of less "
	     "than 256 bytes, without . and ..");
	says("[a]\narrival=poisson\n", "job a: arrival other than closed wants a rate; give "
				       "rate_iops or queue_rate_iops");
	says("[a]\n[phase p]\n", "phase p: no duration; give one, such as duration=10s");
	says("[a]\ntime_based\n", "job a: time_based wants an end; give runtime");
	says("[a]\nsize=8k\nnrfiles=4\n",
	     "job a: size leaves no block of bs for each of nrfiles; give a larger size");
	says("[a]\nverify=crc32c\nbs=100\n", "job a: verify wants blocks of a multiple of 8 and "
					     "at least 64 bytes; give such a bs");
	says("[a]\nverify=crc32c\nrw=getattr\n",
	     "job a: verify checks data, and rw=getattr has none; leave one out");
}

static void refused_texts(void **state)
{
	static const char *const texts[] = {
		"[]\n",
		"[a b]\n",
		"[.]\n",
		"[a/b]\n",
		"[phase ]\n",
		"[phase]\nduration=1\n",
		"[a]x\n",
		"[a]\n=\n",
		"[a]\n=4\n",
		"[a]\nbs=\n",
		"[a]\nbs=-1\n",
		"[a]\nbs=0\n",
		"[a]\nbs=4kk\n",
		"[a]\nbs=4 k\n",
		"[a]\nbs=0x10\n",
		"[a]\nbs=1.5k\n",
		"[a]\nbs=99999999999999999999\n",
		"[a]\nrandseed=18446744073709551616\n",
		"[a]\nsize=999999999t\n",
		"[a]\nruntime=99999999999999h\n",
		"[a]\ntime_based=2\n",
		"[a]\nqueues=\n",
		"[a]\nqueues=1-\n",
		"[a]\nqueues=4-1\n",
		"[a]\nqueues=1,,2\n",
		"[a]\nqueues=1-256\n",
		"[a]\nqueues=-1\n",
		"[a]\nqueue_weights=1\n",
		"[a]\nqueue_weights=1:\n",
		"[a]\nqueue_weights=:1\n",
		"[a]\nqueue_weights=1:1,\n",
		"[a]\nqueue_weights=1:0\n",
		"[a]\nqueue_weights=256:1\n",
		"[a]\nqueue_weights=1:1000001\n",
		"[a]\nqueue_rate_iops=0\n",
		"[a]\nqueue_rate_iops=5\nrate_iops=5\n",
		"[a]\ndirectory=/abs\n",
		"[a]\ndirectory=a//b\n",
		"[a]\ndirectory=a/\n",
		"[a]\ndirectory=.\n",
		"[a]\ndirectory=a/../b\n",
		"[a]\nfilename=x\nnrfiles=2\n",
		"[a]\nrw=\n",
		"[a]\nrw=READ\n",
		"[a]\nverify=md5\n",
		"[a]\nrwmixread=101\n",
		"[a]\niodepth=0\n",
		"[a]\nname=b\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_free_ char *err = NULL;

		if (parse(texts[i], &err))
			fail_msg("\"%s\" was taken", texts[i]);
		assert_non_null(err);
		assert_null(strchr(err, '\n'));
	}
}

static void limits(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
	_cleanup_free_ char *err = NULL, *big = malloc(LOAD_JOB_FILE_MAX + 1);
	char line[32];

	for (int i = 0; i < LOAD_JOBS_MAX; i++) {
		snprintf(line, sizeof(line), "[j%d]", i);
		assert_int_equal(load_jobs_text(j, "x", line, strlen(line), &err), 0);
	}
	assert_int_equal(load_jobs_text(j, "x", "[more]", 6, &err), -EINVAL);
	assert_string_equal(err, "x:1: more than 64 jobs; use numjobs for copies");
	free(TAKE_PTR(err));
	memset(big, '#', LOAD_JOB_FILE_MAX + 1);
	assert_int_equal(load_jobs_text(j, "x", big, LOAD_JOB_LINE_MAX, &err), 0);
	assert_int_equal(load_jobs_text(j, "x", big, LOAD_JOB_LINE_MAX + 1, &err), -EINVAL);
	assert_string_equal(err, "x:1: line of more than 4096 bytes; break it");
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_text(j, "x", big, LOAD_JOB_FILE_MAX + 1, &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_text(j, "x", "a\0b", 3, &err), -EINVAL);
	assert_string_equal(err, "x:1: NUL byte; give a text file");
}

static void files(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
	_cleanup_free_ char *err = NULL;

	assert_int_equal(load_jobs_file(j, "/nonexistent.fio", &err), -EINVAL);
	assert_string_equal(err, "cannot open job file \"/nonexistent.fio\": No such file or "
				 "directory");
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_file(j, "/", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_file(j, "/dev/zero", &err), -EINVAL);
}

static void words_of_the_command_line(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
	_cleanup_free_ char *err = NULL;

	assert_int_equal(load_jobs_text(j, "x", "[a]\nbs=8k\n", 10, &err), 0);
	assert_int_equal(load_jobs_word(j, "--runtime=5", &err), 0);
	assert_int_equal(load_jobs_word(j, "--bs=16k", &err), 0);
	assert_int_equal(load_jobs_word(j, "--time_based", &err), 0);
	assert_int_equal(load_jobs_word(j, "--name=b", &err), 0);
	assert_int_equal(load_jobs_word(j, "--rw=randwrite", &err), 0);
	assert_int_equal(load_jobs_word(j, "--socket=/tmp/x", &err), -ENOENT);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--duration=5", &err), -ENOENT);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--iodpth=5", &err), -ENOENT);
	assert_string_equal(err, "vqload: \"iodpth\" is no key; did you mean iodepth?");
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--bs=5q", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "bs=4k", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--name=b", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_word(j, "--name", &err), -EINVAL);
	free(TAKE_PTR(err));
	assert_int_equal(load_jobs_finish(j, &err), 0);
	assert_int_equal(j->nr_jobs, 2);
	assert_int_equal(j->job[0].bs, 16384);
	assert_int_equal(j->job[0].runtime_ns, 5 * S);
	assert_int_equal(j->job[0].rw, LOAD_RW_READ);
	assert_int_equal(j->job[1].bs, 16384);
	assert_int_equal(j->job[1].rw, LOAD_RW_RANDWRITE);
}

static void words_alone_are_a_job(void **state)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
	_cleanup_free_ char *err = NULL;

	assert_int_equal(load_jobs_word(j, "--rw=lookup", &err), 0);
	assert_int_equal(load_jobs_finish(j, &err), 0);
	assert_int_equal(j->nr_jobs, 1);
	assert_string_equal(j->job->name, "job");
	assert_int_equal(j->job->rw, LOAD_RW_LOOKUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(a_file_of_fio),
		cmocka_unit_test(queues_and_phases),
		cmocka_unit_test(all_queues_of_the_device),
		cmocka_unit_test(messages),
		cmocka_unit_test(refused_texts),
		cmocka_unit_test(limits),
		cmocka_unit_test(files),
		cmocka_unit_test(words_of_the_command_line),
		cmocka_unit_test(words_alone_are_a_job),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
