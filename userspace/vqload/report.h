/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run measured, and how it is told: text of 80 columns, or one JSON object of schema
 * "vqload/1" (docs/vqload.md).
 */
#ifndef VQLOAD_REPORT_H
#define VQLOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "vqload/engine.h"
#include "vqload/job.h"
#include "vqload/session.h"

/* A daemon's process at one moment, by /proc. */
struct load_process {
	bool known;       /* its pid is known, and /proc could be read */
	uint64_t cpu_ns;  /* user and system time of all its threads, ended ones included */
	uint64_t peak_kb; /* VmHWM */
	uint64_t rss_kb;
	uint32_t threads, fds;
};
void load_process_read(pid_t pid, struct load_process *p);

/* One section of the job file, all its copies. */
struct load_job_counts {
	char name[LOAD_JOB_NAME];
	const char *rw;
	uint64_t requests, errors, read_bytes, written_bytes;
	uint64_t verified;  /* blocks that were looked at */
	uint64_t behind_ns; /* open loop: how late the latest request was sent */
	struct vqs_hist latency;
};

struct load_report {
	const char *socket;
	pid_t pid;
	char tag[LOAD_TAG_BYTES + 1];
	uint32_t queues; /* request queues used */
	uint32_t queue_size, threads;
	bool poll;
	uint32_t minor, max_write; /* what INIT brought */
	uint64_t wall_ns;          /* of the load itself; requests in ramp time are not counted */
	uint64_t counted_ns;       /* of it, after the shortest ramp time */
	uint64_t own_cpu_ns;       /* of vqload's threads meanwhile */
	struct load_process before, after;
	struct load_stats stats;
	struct load_judge *judge;    /* owned; NULL before the load */
	struct load_job_counts *job; /* owned */
	size_t nr_jobs;
	bool interrupted; /* ended early by a signal */
	char error[768];  /* what went wrong, whole; "" */
};

int load_report_init(struct load_report *r, uint32_t queues, uint32_t details);
void load_report_free(struct load_report *r);

/* Both return 0, or -errno of writing; -ENOMEM. */
int load_report_text(const struct load_report *r, FILE *out);
int load_report_json(const struct load_report *r, FILE *out);

#endif
