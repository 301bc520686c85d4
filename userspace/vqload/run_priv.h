/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a run share.
 *
 *	run.c        threads, merging, taking down
 *	run_setup.c  what the jobs want, engines, lanes
 *	run_files.c  files: made, filled, opened before; removed after
 *	run_loop.c   one thread: lanes -> engine -> replies, until all is done
 *	run_lane.c   a lane's data requests: which comes next, and what its reply means
 *	run_meta.c   a lane's metadata cycles
 *
 * A lane is one copy of a job in one thread. A thread has an engine and queues of its own; what
 * threads share is read-only while they run, but for counters that are atomic and the list of nodes
 * to forget, which thread 0 sends, for it has hiprio.
 */
#ifndef VQLOAD_RUN_PRIV_H
#define VQLOAD_RUN_PRIV_H

#include <pthread.h>

#include "vqload/run.h"
#include "vqload/schedule.h"

#define RUN_NAME       (LOAD_JOB_PATH + 64)
#define RUN_FILL_BYTES (1u << 20) /* of a write that fills a file before the load */

struct run_file {
	uint64_t nodeid, size;
	uint64_t looked_up; /* by lanes, atomic; to be forgotten at the end */
	uint64_t fh;
	bool open, made;
	/* Of verify, by block: */
	uint32_t *generation; /* of the last write; 0: none; RUN_UNKNOWN: it failed */
	uint8_t *busy;        /* readers in flight; BUSY_WRITE: one writer */
	char name[RUN_NAME];  /* in its directory */
};
#define BUSY_WRITE  255
#define RUN_UNKNOWN (1u << 31)

/* One of numjobs. */
struct run_copy {
	const struct load_job *job;
	uint32_t number;
	uint64_t dir; /* node */
	struct run_file *file;
	uint32_t nr_files;
	uint64_t blocks; /* of bs in each file */
};

/* A round of a metadata workload. */
struct run_cycle {
	uint32_t index, step, file;
	uint32_t reads; /* of the directory, since it was opened */
	uint64_t node, fh, offset;
	uint64_t n;                    /* rounds that began */
	char name[LOAD_JOB_NAME + 48]; /* of what it makes */
};

struct run_lane {
	struct run_thread *thread;
	struct run_copy *copy;
	const struct load_rw_spec *rw;
	struct load_job job; /* the copy's, with the weights and the rate of this thread's queues */
	struct load_schedule schedule;
	uint32_t index; /* of all lanes of the run */
	uint32_t depth, in_flight;
	uint64_t left; /* requests, or cycles, still to begin */
	bool held;     /* @due was taken from the schedule, and not sent yet */
	bool blocked;  /* for want of a slot, or of a block that is free */
	bool ended;
	struct load_due due;
	uint64_t count_from_ns;
	uint64_t rng;
	uint64_t position, from, to; /* blocks, of all files one after another; sequential */
	uint32_t writes;             /* since the last FSYNC */
	struct run_cycle *cycle;     /* depth of them */
	uint32_t *ready, nr_ready;   /* cycles not in flight */
	struct load_job_counts counts;
};

struct run_forget {
	uint64_t nodeid, n;
	bool uncounted; /* as the request that brought the node */
};

struct run {
	const struct load_run_options *opts;
	struct load_jobs *jobs;
	struct load_report *report;
	struct load_device device;
	struct run_copy *copy;
	size_t nr_copies;
	struct run_thread *thread;
	uint32_t nr_threads;
	uint64_t start_ns;
	uint64_t seed; /* of verify */
	uint32_t bs_max;
	/* Nodes of directories made, for their removal, the outermost first. */
	struct run_dir {
		uint64_t parent, nodeid;
		char name[LOAD_JOB_PATH];
	} * dir;
	size_t nr_dirs;
	/* Shared while threads run. */
	int stop;        /* atomic: all lanes end */
	int running;     /* atomic: threads but the first that still have lanes */
	int loading;     /* atomic: threads whose load goes on, as opposed to verifying */
	int share_error; /* atomic: the share does not take what is written */
	pthread_mutex_t forget_lock;
	struct run_forget *forget;
	size_t nr_forget, room_forget;
};

struct run_thread {
	struct run *run;
	uint32_t index;
	struct load_engine *engine;
	struct run_lane *lane;
	uint32_t nr_lanes;
	pthread_t id;
	bool started;
	uint64_t end_ns; /* of the load; verifying comes after it */
	int err;         /* engine's */
};

/* run_setup.c. After an error the message is in the report. */
enum load_exit run_prepare(struct run *r);
int run_make_lanes(struct run *r);
int run_start_lane(struct run *r, struct run_lane *l);

/* run_files.c. Return 0 or -errno; run_fail() leaves the message in the report. */
int run_files_make(struct run *r);
void run_files_remove(struct run *r);
int run_fail(struct run *r, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A file of a cycle's own, beside the job's. */
int run_file_touch(struct run *r, uint64_t dir, const char *name);

/* run_lane.c: 1: sent; 0: not now; negative: the engine's error. */
int run_data_send(struct run_lane *l);
void run_count(struct run_lane *l, struct load_slot *s, const struct load_verdict *v);
static inline bool run_is_data(const struct run_lane *l)
{
	return l->rw->reads || l->rw->writes;
}

/* run_meta.c */
int run_meta_init(struct run_lane *l, struct run *r);
int run_meta_send(struct run_lane *l);
/* What began is brought to its end, one after another. */
void run_meta_finish(struct run_lane *l);
void run_meta_free(struct run_lane *l, struct run *r);

/* run_loop.c */
int run_later_forget(struct run *r, const struct run_forget *f);
void *run_thread_main(void *thread);

#endif
