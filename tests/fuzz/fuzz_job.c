// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any text may be a job file. What is taken is within its limits and can be
 * scheduled; what is refused is refused in one printable line.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/schedule.h"

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_refused(const char *err)
{
	check(err && strlen(err) < 1024);
	for (; *err; err++)
		check(*err >= ' ' && *err <= '~');
}

static void check_schedule(const struct load_jobs *j, const struct load_job *job)
{
	struct load_schedule s;
	uint64_t last = 1000;

	check(!load_schedule_start(&s, job, 0, j->phase, j->nr_phases, last));
	for (int i = 0; i < 20; i++) {
		struct load_due due;
		uint64_t at = load_schedule_peek(&s);

		check(at >= last || at == 1000);
		if (at == UINT64_MAX || !load_schedule_take(&s, at, &due))
			break;
		check(job->weight[due.queue] && due.at_ns == at && due.n == (uint64_t)i);
		last = at;
	}
}

static void check_taken(struct load_jobs *j)
{
	check(j->nr_jobs >= 1 && j->nr_jobs <= LOAD_JOBS_MAX && j->nr_phases <= LOAD_PHASES_MAX);
	for (size_t i = 0; i < j->nr_jobs; i++) {
		struct load_job *job = &j->job[i];
		_cleanup_free_ char *err = NULL;

		check(job->bs >= 1 && job->bs <= 4 << 20);
		check(job->iodepth >= 1 && job->nrfiles >= 1 && job->numjobs >= 1);
		check(job->rw < LOAD_RWS && job->rwmixread <= 100);
		check(strlen(job->name) < LOAD_JOB_NAME && *job->name);
		check(strlen(job->directory) < LOAD_JOB_PATH && *job->directory != '/');
		check(!job->weight[0]);
		check(!load_job_queues(job, LOAD_QUEUES - 1, &err));
		check_schedule(j, job);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
	_cleanup_free_ char *err = NULL, *word = malloc(size + 1);
	int r;

	if (!j || !word)
		return 0;
	/* The last line is a word of the command line too. */
	memcpy(word, data, size);
	word[size] = '\0';
	r = load_jobs_text(j, "x.fio", (const char *)data, size, &err);
	if (!r)
		r = load_jobs_word(j, strrchr(word, '\n') ? strrchr(word, '\n') + 1 : word, &err);
	if (r == -ENOENT) {
		check_refused(err);
		free(TAKE_PTR(err));
		r = 0;
	}
	if (!r)
		r = load_jobs_finish(j, &err);
	check(r == 0 || r == -EINVAL);
	if (r)
		check_refused(err);
	else
		check_taken(j);
	return 0;
}
