/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A court for the tests of the judge: a request, its reply, and what may be found. */
#ifndef TESTS_UNIT_VQLOAD_JUDGE_COURT_H
#define TESTS_UNIT_VQLOAD_JUDGE_COURT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vqload/fuse_reply.h"
#include "vqload/judge.h"

#define OUT sizeof(struct fuse_out_header)

static const struct load_head head = {.unique = 100, .nodeid = 1};

/* A request, its reply, and the judge. */
struct court {
	struct load_judge *j;
	struct load_req r;
	uint8_t in[512];
	uint8_t out[512];
	uint8_t data[4096];
	struct load_done d;
};

static inline int setup(void **state)
{
	struct court *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->j = load_judge_new(5, 8);
	assert_non_null(c->j);
	load_req_init(&c->r, c->in, sizeof(c->in));
	*state = c;
	return 0;
}

static inline int teardown(void **state)
{
	struct court *c = *state;

	load_judge_free(c->j);
	free(c);
	return 0;
}

/* The reply's header, and @args; @used: what ring and header say. */
static inline void reply(struct court *c, int error, const void *args, size_t len, uint32_t used)
{
	struct fuse_out_header h = {.len = used, .error = error, .unique = c->r.unique};

	memcpy(c->out, &h, OUT);
	if (len)
		memcpy(c->out + OUT, args, len);
	c->d = (struct load_done){
		.queue = 3,
		.seq = c->d.seq + 1,
		.age_ns = 5000,
		.used = used,
		.out = c->out,
		.data = c->data,
	};
}

static inline struct load_verdict judge(struct court *c)
{
	return load_judge_reply(c->j, &c->r, &c->d);
}

/* Of the last judgement: this finding on queue 3, and no other anywhere. */
static inline void only(struct court *c, enum load_finding f, int64_t expected, int64_t got)
{
	const struct load_detail *d = load_judge_detail(c->j, 0);

	for (int i = 0; i < LOAD_FINDINGS; i++)
		assert_int_equal(load_judge_count(c->j, (enum load_finding)i), i == (int)f);
	if (f == LOAD_FINDINGS) {
		assert_null(d);
		assert_true(load_judge_clean(c->j));
		return;
	}
	assert_int_equal(load_judge_queue_count(c->j, 3, f), 1);
	assert_non_null(d);
	assert_int_equal(d->finding, f);
	assert_int_equal(d->queue, 3);
	assert_int_equal(d->opcode, c->r.opcode);
	assert_int_equal(d->unique, c->r.unique);
	assert_int_equal(d->age_ns, 5000);
	assert_int_equal(d->expected, expected);
	assert_int_equal(d->got, got);
	assert_int_equal(load_judge_clean(c->j), !load_finding_is_fault(f));
}

static inline void refused(struct court *c, enum load_finding f, int64_t expected, int64_t got)
{
	struct load_verdict v = judge(c);

	assert_false(v.usable);
	assert_int_equal(v.error, -EIO);
	assert_int_equal(v.first, f);
	only(c, f, expected, got);
}

static inline void sound(struct court *c, int error, uint32_t data_len)
{
	struct load_verdict v = judge(c);

	assert_true(v.usable);
	assert_int_equal(v.error, error);
	assert_int_equal(v.data_len, data_len);
	assert_int_equal(v.first, LOAD_FINDINGS);
}

static inline struct fuse_entry_out entry(uint32_t mode)
{
	return (struct fuse_entry_out){.nodeid = 9, .attr.mode = mode, .attr.size = 1};
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
