/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A responder at a socket of its own, and a device mounted from it. */
#ifndef TESTS_UNIT_VQLOAD_RESPONDER_RIG_H
#define TESTS_UNIT_VQLOAD_RESPONDER_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "vqload/responder.h"
#include "vqload/run.h"

struct rig {
	struct load_responder_options ro;
	struct load_device_options dev;
	struct load_responder *r;
	struct load_device d;
	char dir[64], path[96];
};

static inline void tell(void *context, const char *text)
{
	print_message("responder: %s\n", text);
}

static inline int rig_setup(void **state)
{
	struct rig *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	strcpy(g->dir, "/tmp/vqload-rig.XXXXXX");
	assert_non_null(mkdtemp(g->dir));
	snprintf(g->path, sizeof(g->path), "%s/sock", g->dir);
	g->ro = (struct load_responder_options)LOAD_RESPONDER_OPTIONS_DEFAULT;
	g->ro.socket = g->path;
	g->ro.complain = tell;
	g->dev = (struct load_device_options){
		.socket = g->path,
		.request_queues = 1,
		.queue_size = 64,
		.regions = 2,
		.timeout_ns = 5000000000,
		.details = 16,
		.guard_all = true,
	};
	*state = g;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *g = *state;

	load_responder_free(g->r);
	rmdir(g->dir);
	free(g);
	return 0;
}

static inline void rig_respond(struct rig *g)
{
	assert_int_equal(load_responder_new(&g->ro, &g->r), 0);
	assert_int_equal(load_responder_start(g->r), 0);
}

static inline void rig_open(struct rig *g)
{
	enum load_exit code = load_device_open(&g->d, &g->dev, 1024, 16, 4096);

	if (code)
		fail_msg("%s", g->d.error);
}

static inline uint64_t rig_complaints(const struct rig *g)
{
	struct load_responder_stats s;

	load_responder_stats(g->r, &s);
	return s.complaints;
}

/* @n GETATTR of the root through @queue, @depth at a time; the engine's error. */
static inline int rig_getattrs(struct rig *g, uint32_t queue, uint32_t n, uint32_t depth,
			       uint64_t age_ns)
{
	struct load_engine *e = g->d.engine;
	int err = 0;

	while (n && err >= 0) {
		struct load_slot *s = load_engine_queue_in_flight(e, queue) < depth
					      ? load_slot_get(e, queue)
					      : NULL;
		struct load_head h;

		if (!s) {
			err = load_engine_wait(e, UINT64_MAX);
			continue;
		}
		h = load_engine_head(e, FUSE_ROOT_ID);
		assert_int_equal(load_build_getattr(&s->req, &h, NULL), 0);
		if (age_ns)
			s->age_ns = age_ns;
		err = load_engine_submit(e, s, 0);
		n--;
	}
	return err < 0 ? err : load_engine_drain(e);
}

#define RIG(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
