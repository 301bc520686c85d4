/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs: what to load the daemon with. Files are fio's, INI: [global], then one section a job; the
 * words mean what they mean in fio, ours come on top (queues, arrival, phases, age_limit). The same
 * words work on the command line, as --rw=randread. One table of keys (load_keys) drives the
 * parser, the command line, the help and the documentation page.
 *
 * Text in, checked structs out. Whatever the text is, nothing but a message comes of it.
 */
#ifndef VQLOAD_JOB_H
#define VQLOAD_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Limits of files. */
#define LOAD_JOB_FILE_MAX (1U << 20) /* bytes */
#define LOAD_JOB_LINE_MAX 4096       /* bytes, without the newline */
#define LOAD_JOBS_MAX     64         /* sections, numjobs not counted */
#define LOAD_PHASES_MAX   64
#define LOAD_QUEUES       256 /* 0: hiprio, 1..255: request queues */
#define LOAD_JOB_NAME     32  /* with its NUL */
#define LOAD_JOB_PATH     256 /* with its NUL */
#define LOAD_STEPS_MAX    6

/* What a job does. Data workloads first, then metadata ones, each a cycle of requests. */
enum load_rw {
	LOAD_RW_READ,
	LOAD_RW_WRITE,
	LOAD_RW_RW,
	LOAD_RW_RANDREAD,
	LOAD_RW_RANDWRITE,
	LOAD_RW_RANDRW,
	LOAD_RW_GETATTR,
	LOAD_RW_STATX,
	LOAD_RW_LOOKUP,
	LOAD_RW_FORGET,
	LOAD_RW_ACCESS,
	LOAD_RW_OPEN,
	LOAD_RW_READDIR,
	LOAD_RW_READDIRPLUS,
	LOAD_RW_CREATE,
	LOAD_RW_MKNOD,
	LOAD_RW_MKDIR,
	LOAD_RW_RENAME,
	LOAD_RW_LINK,
	LOAD_RW_SYMLINK,
	LOAD_RW_SETATTR,
	LOAD_RW_XATTR,
	LOAD_RW_STATFS,
	LOAD_RW_LSEEK,
	LOAD_RW_FALLOCATE,
	LOAD_RW_COPY,
	LOAD_RW_LOCK,
	LOAD_RW_FLUSH,
	LOAD_RWS,
};

struct load_rw_spec {
	const char *name;              /* "randread" */
	const char *alias;             /* "readwrite"; NULL: none */
	bool reads, writes, random;    /* of the file's data; false, false: metadata */
	uint8_t steps[LOAD_STEPS_MAX]; /* FUSE opcodes of one cycle, in order; 0 ends */
	const char *help;
};
extern const struct load_rw_spec load_rws[LOAD_RWS];

enum load_arrival_kind {
	LOAD_ARRIVAL_CLOSED,  /* iodepth requests in flight; the next when one returns */
	LOAD_ARRIVAL_UNIFORM, /* open loop: rate_iops, equal gaps */
	LOAD_ARRIVAL_POISSON, /* open loop: rate_iops, exponential gaps */
};

enum load_pick_kind {
	LOAD_PICK_AUTO,   /* random for poisson (its parts are Poisson too), else smooth */
	LOAD_PICK_SMOOTH, /* exact shares: smooth weighted round robin */
	LOAD_PICK_RANDOM, /* each request by the weights, independently */
};

enum load_verify_kind { LOAD_VERIFY_NONE, LOAD_VERIFY_CRC32C };

struct load_job {
	char name[LOAD_JOB_NAME];
	enum load_rw rw;
	uint32_t bs;      /* bytes of a READ or WRITE */
	uint32_t iodepth; /* closed loop: in flight; open loop: at most in flight */
	uint64_t size;    /* bytes of all files of one of the numjobs together */
	uint32_t nrfiles;
	uint64_t runtime_ns;                  /* 0: until size bytes, or nrfiles cycles, are done */
	bool time_based;                      /* goes on until runtime when that was done earlier */
	uint64_t startdelay_ns, ramp_time_ns; /* ramp: runs, and counts nothing */
	uint64_t rate_iops;                   /* requests a second of one of the numjobs; 0: none */
	uint32_t rwmixread;                   /* percent of reads in rw, randrw */
	uint32_t numjobs;                     /* copies, each with files of its own */
	uint32_t fsync;                       /* FSYNC after so many writes; 0: none */
	enum load_verify_kind verify;
	bool verify_fatal; /* stop at the first wrong block */
	uint64_t randseed;
	char directory[LOAD_JOB_PATH]; /* below the mount's root; "": the root itself */
	char filename[LOAD_JOB_PATH];  /* "": NAME.COPY.FILE, as fio */
	enum load_arrival_kind arrival;
	enum load_pick_kind queue_pick;
	uint64_t age_limit_ns; /* older in flight is a finding; 0: none */
	bool queues_all;       /* neither queues nor queue_* was given: load_job_queues() decides */
	uint32_t weight[LOAD_QUEUES];     /* by queue; 0: not used */
	uint64_t queue_rate_each;         /* queue_rate_iops=N: of each queue; 0: none */
	uint64_t queue_rate[LOAD_QUEUES]; /* queue_rate_iops=Q:N,...; 0: none */
};

/* Phases follow each other in the file's order and start over after the last, for every job. */
struct load_phase {
	char name[LOAD_JOB_NAME];
	uint64_t duration_ns;         /* > 0 */
	uint32_t weight[LOAD_QUEUES]; /* instead of the job's, for queues that the job has; all 0:
				       * the job's own */
};

struct load_jobs {
	struct load_job global;
	struct load_job *job;
	size_t nr_jobs;
	struct load_phase *phase;
	size_t nr_phases;
	/* Of the parser. */
	bool named; /* --name was seen: further words are that job's */
};

/* Empty, with the defaults of the table. NULL: no memory. */
struct load_jobs *load_jobs_new(void);
void load_jobs_free(struct load_jobs *j);
static inline void load_jobs_freep(struct load_jobs **j)
{
	load_jobs_free(*j);
}

/*
 * These three return 0; -EINVAL and *err, the whole message in one printable line that the caller
 * frees, such as
 *   x.fio:3: "iodpth" is no key; did you mean iodepth?
 *   x.fio:4: bs: "5q" is not a size; give bytes, or with k, m, g or t, from 1 to 4m
 * -ENOMEM leaves *err NULL. After an error @j is only to be freed.
 */
/* Reads a file; its errors too come as *err and -EINVAL. */
int load_jobs_file(struct load_jobs *j, const char *path, char **err);
/* @text of @len bytes, which messages call @file. */
int load_jobs_text(struct load_jobs *j, const char *file, const char *text, size_t len, char **err);
/*
 * One word of the command line: "--rw=randread", "--time_based", "--name=x". As in fio, --name
 * starts a job and the words after it are that job's. Words before it are for every job that a file
 * brought so far and for all to come. -ENOENT: no key of this table; *err says so, and the caller
 * may try its own options first or next.
 */
int load_jobs_word(struct load_jobs *j, const char *word, char **err);

/*
 * When all was read: without a section the global one is a job called "job"; checks what keys say
 * together (an open loop has a rate, size holds a block per file, phases have a duration).
 */
int load_jobs_finish(struct load_jobs *j, char **err);

/*
 * For a device with request queues 1 .. @nr: fills in what queues_all left open (1 .. @nr, weight
 * 1), turns queue_rate_iops into rate_iops and weights. -EINVAL and *err: the job names a queue
 * that the device does not have.
 */
int load_job_queues(struct load_job *job, uint32_t nr, char **err);

enum load_key_kind {
	LOAD_KEY_FLAG,
	LOAD_KEY_NUMBER, /* k, m, g, t: powers of 1024, as fio with its kb_base of 1024 */
	LOAD_KEY_SIZE,
	LOAD_KEY_TIME, /* seconds, or with us, ms, s, m, h */
	LOAD_KEY_ENUM,
	LOAD_KEY_PATH,
	LOAD_KEY_QUEUES,  /* "1-4,6" */
	LOAD_KEY_WEIGHTS, /* "1:5,2:1" */
	LOAD_KEY_RATES,   /* "1000" or "1:5000,2:200" */
};

struct load_key {
	const char *name;
	const char *arg; /* "SIZE" */
	enum load_key_kind kind;
	bool job, phase; /* sections that take it */
	size_t offset;   /* in struct load_job, or in struct load_phase */
	size_t width;    /* bytes of the field */
	uint64_t min, max;
	const char *const *names; /* of ENUM, NULL ends; NULL itself: load_rws */
	const char *fallback;     /* default, as typed; NULL: none */
	bool ours;                /* fio does not have it */
	const char *help;         /* one sentence */
	const char *man;          /* what the page adds; NULL: nothing */
};
extern const struct load_key load_keys[];
extern const size_t load_nr_keys;

/* All keys for --help: name, argument, sentence, default; at most 80 columns. */
void load_keys_help(FILE *out);
/* vqload-job(5) in mdoc(7). */
void load_keys_man(FILE *out);

#endif
