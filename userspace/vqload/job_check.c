// SPDX-License-Identifier: GPL-2.0-or-later
/* What keys say together, and with the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vqload/job_priv.h"
#include "vqload/verify.h"

static bool has_queue_rates(const struct load_job *job)
{
	if (job->queue_rate_each)
		return true;
	for (uint32_t q = 0; q < LOAD_QUEUES; q++)
		if (job->queue_rate[q])
			return true;
	return false;
}

static bool has_weights(const struct load_job *job)
{
	for (uint32_t q = 0; q < LOAD_QUEUES; q++)
		if (job->weight[q])
			return true;
	return false;
}

static int check_rate(const struct load_job *job, const char *where, char **err)
{
	bool queue_rates = has_queue_rates(job);

	if (queue_rates && job->rate_iops)
		return load_job_fail(err, where,
				     "rate_iops and queue_rate_iops exclude each "
				     "other; leave one out");
	if (job->arrival != LOAD_ARRIVAL_CLOSED && !queue_rates && !job->rate_iops)
		return load_job_fail(err, where,
				     "arrival other than closed wants a rate; give "
				     "rate_iops or queue_rate_iops");
	if (!job->queues_all && !has_weights(job))
		return load_job_fail(err, where, "no queue has a weight; give one above 0");
	return 0;
}

static int check_verify(const struct load_job *job, const char *where, char **err)
{
	const struct load_rw_spec *rw = &load_rws[job->rw];

	if (job->verify == LOAD_VERIFY_NONE)
		return 0;
	if (!rw->reads && !rw->writes)
		return load_job_fail(err, where,
				     "verify checks data, and rw=%s has none; leave "
				     "one out",
				     rw->name);
	if (job->bs < LOAD_BLOCK_MIN || job->bs % 8)
		return load_job_fail(err, where,
				     "verify wants blocks of a multiple of 8 and at "
				     "least %u bytes; give such a bs",
				     LOAD_BLOCK_MIN);
	return 0;
}

static int check_job(const struct load_job *job, char **err)
{
	const struct load_rw_spec *rw = &load_rws[job->rw];
	char where[LOAD_JOB_NAME + 8];
	int r;

	snprintf(where, sizeof(where), "job %s", job->name);
	r = check_rate(job, where, err);
	if (!r)
		r = check_verify(job, where, err);
	if (r)
		return r;
	if (job->time_based && !job->runtime_ns)
		return load_job_fail(err, where, "time_based wants an end; give runtime");
	if (*job->filename && job->nrfiles > 1)
		return load_job_fail(err, where,
				     "filename is one file and nrfiles are more; leave "
				     "one out");
	if ((rw->reads || rw->writes) && job->size / job->nrfiles < job->bs)
		return load_job_fail(err, where,
				     "size leaves no block of bs for each of nrfiles; "
				     "give a larger size");
	return 0;
}

/* The command line had no --name: what it said is one job. */
static int default_job(struct load_jobs *j, char **err)
{
	j->job = malloc(sizeof(*j->job));
	if (!j->job) {
		*err = NULL;
		return -ENOMEM;
	}
	j->nr_jobs = 1;
	*j->job = j->global;
	strcpy(j->job->name, "job");
	return 0;
}

int load_jobs_finish(struct load_jobs *j, char **err)
{
	int r = 0;

	*err = NULL;
	if (!j->nr_jobs)
		r = default_job(j, err);
	for (size_t i = 0; !r && i < j->nr_jobs; i++)
		r = check_job(&j->job[i], err);
	for (size_t i = 0; !r && i < j->nr_phases; i++)
		if (!j->phase[i].duration_ns)
			r = load_job_fail(err, NULL,
					  "phase %s: no duration; give one, such as "
					  "duration=10s",
					  j->phase[i].name);
	return r;
}

/* Rates are weights whose sum is the rate. */
static void set_rates(struct load_job *job)
{
	uint64_t sum = 0;

	for (uint32_t q = 0; q < LOAD_QUEUES; q++) {
		uint64_t rate = job->queue_rate[q];

		if (job->queue_rate_each)
			rate = job->weight[q] ? job->queue_rate_each : 0;
		job->weight[q] = (uint32_t)rate;
		sum += rate;
	}
	job->rate_iops = sum;
}

int load_job_queues(struct load_job *job, uint32_t nr, char **err)
{
	*err = NULL;
	if (!nr || nr >= LOAD_QUEUES)
		return load_job_fail(err, NULL, "job %s: a device has 1 to %d request queues",
				     job->name, LOAD_QUEUES - 1);
	for (uint32_t q = 1; job->queues_all && q <= nr; q++)
		job->weight[q] = 1;
	if (has_queue_rates(job))
		set_rates(job);
	job->queues_all = false;
	for (uint32_t q = nr + 1; q < LOAD_QUEUES; q++)
		if (job->weight[q])
			return load_job_fail(err, NULL,
					     "job %s: there is no queue %u; the "
					     "device's are 1 to %u",
					     job->name, q, nr);
	return 0;
}
