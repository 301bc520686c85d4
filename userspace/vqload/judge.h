/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges replies, and counts what was wrong with them: per kind of finding and per queue, the first
 * few in full.
 *
 * The strictest part is what Linux 7.1 and later check (virtio_fs_verify_response() in
 * fs/fuse/virtio_fs.c); then what Linux checks later, in dir.c, file.c, xattr.c and readdir.c, and
 * what the loop around the ring knows. A judge belongs to one thread; merge them at the end.
 */
#ifndef VQLOAD_JUDGE_H
#define VQLOAD_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vqload/fuse_ops.h"

struct json_object;

/*
 * What can be wrong. The names (load_finding_name()) are stable: JSON and tests use them. After
 * each: expected / got as load_detail has them.
 */
enum load_finding {
	/* As Linux 7.1, in its order: the reply is not used. */
	LOAD_HEADER_TRUNCATED, /* "header_truncated": 16 / used length */
	LOAD_LENGTH,           /* "length": used length / the header's len */
	LOAD_UNIQUE,           /* "unique": the request's / the header's */
	LOAD_ERROR_RANGE,      /* "error_range": 0 / the header's error (not in (-512, 0]) */
	LOAD_ERROR_LENGTH,     /* "error_length": 16 / used length of an error reply */
	LOAD_TOO_LONG,         /* "too_long": the most it may be / used length */
	LOAD_TOO_SHORT,        /* "too_short": the least it may be / used length */
	/* Elsewhere in Linux: it answers EIO to the program. */
	LOAD_UNWANTED, /* "unwanted": 0 / used length, of a request that wants no reply */
	LOAD_VALUE,    /* "value": the limit or 0 / the impossible value */
	LOAD_DIRENT, /* "dirent": bytes of data / position of the malformed record (LISTXATTR: name)
		      */
	LOAD_DATA,   /* "data": raised by the loop when verify.h says so; offset / first bad byte */
	/* Raised by the loop, which knows what is in flight. */
	LOAD_DUPLICATE, /* "duplicate": the ring returned a request twice; 1 / times */
	LOAD_UNKNOWN,   /* "unknown": it returned one that was never sent; ring size / id */
	LOAD_LOST,      /* "lost": never returned, at the end or after a reconnect; 1 / 0 */
	LOAD_LATE,      /* "late": older than the limit; limit / age in ns. Once per request. */
	LOAD_GUARD,     /* "guard": bytes around a buffer changed; guard's size / first position */
	/* No faults: clean stays clean. */
	LOAD_DIRENT_TAIL,   /* "dirent_tail": a record cut off at the end; bytes / its position */
	LOAD_UNUSUAL_ERROR, /* "unusual_error": one not in op->errors; 0 / the error */
	LOAD_OUT_OF_ORDER,  /* "out_of_order": a later request of the queue returned before; its
			     * sequence number / the highest that was returned before */
	LOAD_FINDINGS,
};

const char *load_finding_name(enum load_finding f);
/* Whether it spoils load_judge_clean(). */
bool load_finding_is_fault(enum load_finding f);

/* One finding in full. */
struct load_detail {
	enum load_finding finding;
	uint32_t queue;
	uint32_t opcode;
	uint64_t unique;
	uint64_t age_ns; /* since the request was sent */
	int64_t expected, got;
};

struct load_judge; /* opaque: counters and details */

/*
 * For queues 0 .. @queues - 1 (at most 256); keeps the first @details findings (at most 4096),
 * faults and others apart, so that harmless ones cannot crowd out a fault. NULL: no memory, or out
 * of these limits.
 */
struct load_judge *load_judge_new(uint32_t queues, uint32_t details);
void load_judge_free(struct load_judge *j);
static inline void load_judge_freep(struct load_judge **j)
{
	load_judge_free(*j);
}

/* One request that came back. */
struct load_done {
	uint32_t queue;
	uint64_t seq;     /* the request's number in its queue: 0, 1, 2, ... as sent */
	uint64_t age_ns;  /* since it was sent */
	uint32_t used;    /* length that the ring reported; may be anything */
	const void *out;  /* r->out_size bytes; NULL if that is 0 */
	const void *data; /* r->out_data_size bytes; NULL if that is 0 */
};

/* What is to be made of it. */
struct load_verdict {
	bool usable;             /* Linux would use it: readers may be called */
	int error;               /* 0 or the reply's own, negative; -EIO when not usable */
	uint32_t data_len;       /* bytes of @data that the reply brought */
	enum load_finding first; /* first fault, or LOAD_FINDINGS */
};

/*
 * Judges one reply to @r and counts. Reads at most r->out_size bytes of d->out and r->out_data_size
 * bytes of d->data, whatever @used says, and every byte at most once before it decides.
 * A queue out of range is counted as queue 0.
 */
struct load_verdict load_judge_reply(struct load_judge *j, const struct load_req *r,
				     const struct load_done *d);

/* A finding of the loop. */
void load_judge_note(struct load_judge *j, const struct load_detail *d);

/* into += from: counts are added; details in @into stay, those of @from follow while there is room.
 */
void load_judge_merge(struct load_judge *into, const struct load_judge *from);

uint64_t load_judge_count(const struct load_judge *j, enum load_finding f);
uint64_t load_judge_queue_count(const struct load_judge *j, uint32_t queue, enum load_finding f);
uint64_t load_judge_replies(const struct load_judge *j); /* judged by load_judge_reply() */
uint64_t load_judge_errors(const struct load_judge *j);  /* of these, sound ones with an error */
/* No fault of any kind. */
bool load_judge_clean(const struct load_judge *j);
/* The @i-th kept one, faults first; NULL: no more. */
const struct load_detail *load_judge_detail(const struct load_judge *j, size_t i);

/* A summary for people: what was found, where, and the first ones in full. 0 or -EIO. */
int load_judge_text(const struct load_judge *j, FILE *out);
/*
 * {"clean", "replies", "errors", "findings": {name: count}, "queues": [{"index", name: count}],
 * "details": [{"finding", "queue", "op", "unique", "age_ns", "expected", "got"}]}; findings of
 * count 0 are left out of queues, not out of findings. 0 or -ENOMEM.
 */
int load_judge_json(const struct load_judge *j, struct json_object **out);

/*
 * Guards: a pattern before and behind a buffer that the peer must not write. The pattern follows
 * from @key and the position, so that a guard copied elsewhere is noticed too. @len is any;
 * LOAD_GUARD_SIZE is a good one: a cache line, 8 compares.
 */
#define LOAD_GUARD_SIZE 64
void load_guard_fill(void *at, size_t len, uint64_t key);
/* Position of the first byte that differs, or -1: intact. */
int64_t load_guard_check(const void *at, size_t len, uint64_t key);

#endif
