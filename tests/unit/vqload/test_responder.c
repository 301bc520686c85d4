// SPDX-License-Identifier: GPL-2.0-or-later
/* The transport and the responder against each other: neither may complain of the other. */
#include <fcntl.h>

#include <sys/socket.h>

#include "responder_rig.h"

static void serves_queues(struct rig *g, uint32_t queues)
{
	g->ro.queues = queues;
	g->dev.request_queues = 0;
	rig_respond(g);
	rig_open(g);
	assert_int_equal(g->d.transport.nr_queues, queues + 1);
	if (!g->ro.protocol_off)
		assert_string_equal(g->d.transport.tag, "vqload");
	for (uint32_t q = 1; q <= queues; q++)
		assert_int_equal(rig_getattrs(g, q, 100, 8, 0), 0);
	assert_true(load_judge_clean(load_engine_judge(g->d.engine)));
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void one_queue(void **state)
{
	serves_queues(*state, 1);
}

static void two_queues(void **state)
{
	serves_queues(*state, 2);
}

static void sixteen_queues(void **state)
{
	serves_queues(*state, 16);
}

static void as_many_as_there_can_be(void **state)
{
	struct rig *g = *state;

	g->dev.queue_size = 16;
	serves_queues(g, 255);
}

static void without_any_feature(void **state)
{
	struct rig *g = *state;

	g->ro.protocol_off = ~0ULL;
	g->ro.features_off =
		VHU_BIT(VIRTIO_RING_F_EVENT_IDX) | VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC);
	serves_queues(g, 1);
}

static void polls(void **state)
{
	struct rig *g = *state;

	g->ro.poll = true;
	g->dev.poll = true;
	serves_queues(g, 3);
}

static void stop_and_restart(void **state)
{
	struct rig *g = *state;

	rig_respond(g);
	rig_open(g);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(rig_getattrs(g, 1, 37, 8, 0), 0);
		assert_int_equal(load_queue_stop(&g->d.transport, 1), 0);
		assert_int_equal(g->d.transport.queue[1].base,
				 g->d.transport.queue[1].driver.last_used);
		assert_int_equal(load_queue_start(&g->d.transport, 1), 0);
	}
	assert_true(load_judge_clean(load_engine_judge(g->d.engine)));
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void connections_follow_each_other(void **state)
{
	struct rig *g = *state;
	struct load_responder_stats s;

	rig_respond(g);
	for (int i = 0; i < 10; i++) {
		rig_open(g);
		assert_int_equal(rig_getattrs(g, 1, 50, 4, 0), 0);
		/* Every other one ends without a word. */
		if (i & 1)
			load_disconnect(&g->d.transport);
		load_device_close(&g->d);
	}
	load_responder_stats(g->r, &s);
	assert_int_equal(s.connections, 10);
	assert_int_equal(s.complaints, 0);
}

static void reconnects(void **state)
{
	struct rig *g = *state;
	struct load_engine *e;

	rig_respond(g);
	rig_open(g);
	e = g->d.engine;
	for (int i = 0; i < 5; i++) {
		load_disconnect(&g->d.transport);
		assert_int_equal(load_reconnect(&g->d.transport), 0);
		assert_int_equal(load_engine_rearm(e), 0);
		load_session_free(&g->d.session);
		assert_int_equal(load_session_start(&g->d.session, e), 0);
		assert_int_equal(rig_getattrs(g, 1, 50, 4, 0), 0);
	}
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void memory_comes_and_goes(void **state)
{
	struct rig *g = *state;
	struct load_transport *t = &g->d.transport;
	uint32_t index;

	rig_respond(g);
	rig_open(g);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(load_add_region(t, 1 << 20, &index), 0);
		assert_int_equal(rig_getattrs(g, 1, 10, 4, 0), 0);
		assert_int_equal(load_remove_region(t, index), 0);
	}
	assert_int_equal(rig_getattrs(g, 1, 10, 4, 0), 0);
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void reset_stops_all(void **state)
{
	struct rig *g = *state;
	struct load_transport *t = &g->d.transport;

	rig_respond(g);
	rig_open(g);
	assert_int_equal(load_reset(t), 0);
	for (uint32_t q = 0; q < t->nr_queues; q++) {
		vq_driver_reset(&t->queue[q].driver, 0);
		t->queue[q].base = 0;
		assert_int_equal(load_queue_start(t, q), 0);
	}
	load_session_free(&g->d.session);
	assert_int_equal(load_session_start(&g->d.session, g->d.engine), 0);
	assert_int_equal(rig_getattrs(g, 1, 10, 4, 0), 0);
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void files_keep_what_is_written(void **state)
{
	struct rig *g = *state;
	struct load_session *s = &g->d.session;
	struct fuse_entry_out dir, file;
	uint8_t data[4096], back[4096];
	uint32_t done;
	uint64_t fh;

	rig_respond(g);
	rig_open(g);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	assert_int_equal(load_do_mkdir(s, 1, "dir", 0755, &dir), 0);
	assert_int_equal(load_do_mkdir(s, 1, "dir", 0755, &dir), -EEXIST);
	assert_int_equal(load_do_create(s, dir.nodeid, "file", 0, 0644, &file, &fh), 0);
	/* Over the border of two chunks, behind a hole. */
	assert_int_equal(load_do_write(s, file.nodeid, fh, 65536 - 100, data, 4096, &done), 0);
	assert_int_equal(done, 4096);
	assert_int_equal(load_do_read(s, file.nodeid, fh, 65536 - 100, back, 4096, &done), 0);
	assert_int_equal(done, 4096);
	assert_memory_equal(data, back, 4096);
	assert_int_equal(load_do_read(s, file.nodeid, fh, 0, back, 4096, &done), 0);
	for (size_t i = 0; i < sizeof(back); i++)
		assert_int_equal(back[i], 0);
	assert_int_equal(load_do_truncate(s, file.nodeid, 65536), 0);
	assert_int_equal(load_do_read(s, file.nodeid, fh, 65536 - 100, back, 4096, &done), 0);
	assert_int_equal(done, 100);
	assert_int_equal(load_do_rmdir(s, 1, "dir"), -ENOTEMPTY);
	assert_int_equal(load_do_unlink(s, dir.nodeid, "file"), 0);
	assert_int_equal(load_do_release(s, file.nodeid, fh, O_RDWR), 0);
	assert_int_equal(load_do_rmdir(s, 1, "dir"), 0);
	assert_int_equal(load_do_lookup(s, 1, "dir", &dir), -ENOENT);
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

static void pattern_says_where_it_is(void **state)
{
	struct rig *g = *state;
	struct load_session *s = &g->d.session;
	struct fuse_entry_out file;
	uint64_t fh, word[512];
	uint32_t done;

	rig_respond(g);
	rig_open(g);
	assert_int_equal(load_do_lookup(s, 1, "pattern", &file), 0);
	assert_int_equal(load_do_open(s, file.nodeid, O_RDONLY, &fh), 0);
	assert_int_equal(load_do_read(s, file.nodeid, fh, 12345 * 8, word, 4096, &done), 0);
	assert_int_equal(done, 4096);
	for (uint64_t i = 0; i < 512; i++)
		assert_int_equal(le64toh(word[i]), (12345 + i) * 8);
	load_do_release(s, file.nodeid, fh, O_RDONLY);
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

/* Halted, it can be served by hand, and started again. */
static void serves_by_hand(void **state)
{
	struct rig *g = *state;
	struct load_engine *e;
	struct load_slot *s;
	struct load_head h;

	rig_respond(g);
	rig_open(g);
	e = g->d.engine;
	load_responder_halt(g->r);
	s = load_slot_get(e, 1);
	h = load_engine_head(e, FUSE_ROOT_ID);
	load_build_getattr(&s->req, &h, NULL);
	assert_int_equal(load_engine_submit(e, s, 0), 0);
	load_engine_flush(e);
	assert_int_equal(load_engine_reap(e), 0);
	assert_int_equal(load_responder_serve(g->r), 1);
	assert_int_equal(load_engine_reap(e), 1);
	assert_int_equal(load_responder_start(g->r), 0);
	load_device_close(&g->d);
	assert_int_equal(rig_complaints(g), 0);
}

/* What no front-end should say is refused and counted. */
static void complains(void **state)
{
	struct rig *g = *state;
	const struct vhu_msg wrong[] = {
		{.request = VHU_SET_FEATURES, .flags = 1, .size = 8, .payload.u64 = ~0ULL},
		{.request = VHU_SET_VRING_NUM, .flags = 1, .size = 8, .payload.state = {900, 64}},
		{.request = VHU_SET_VRING_NUM, .flags = 1, .size = 8, .payload.state = {1, 3}},
		{.request = VHU_GET_VRING_BASE, .flags = 1, .size = 8, .payload.state = {77, 0}},
		{.request = VHU_SET_VRING_KICK, .flags = 1, .size = 8, .payload.u64 = 1 | 0x100},
		{.request = VHU_REM_MEM_REG, .flags = 1, .size = 40},
		{.request = VHU_RESET_DEVICE, .flags = 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct load_responder_options o = LOAD_RESPONDER_OPTIONS_DEFAULT;
		_cleanup_(load_responder_freep) struct load_responder *r = NULL;
		struct load_responder_stats s;
		int pair[2];
		char c;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		o.fd = pair[1];
		assert_int_equal(load_responder_new(&o, &r), 0);
		assert_int_equal(load_responder_start(r), 0);
		assert_int_equal(vhu_send(pair[0], &wrong[i], NULL, 0, vhu_deadline(1000)), 0);
		assert_int_equal(read(pair[0], &c, 1), 0); /* closed */
		load_responder_stats(r, &s);
		assert_int_equal(s.complaints, 1);
		close(pair[0]);
	}
	(void)g;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(one_queue),
		RIG(two_queues),
		RIG(sixteen_queues),
		RIG(as_many_as_there_can_be),
		RIG(without_any_feature),
		RIG(polls),
		RIG(stop_and_restart),
		RIG(connections_follow_each_other),
		RIG(reconnects),
		RIG(memory_comes_and_goes),
		RIG(reset_stops_all),
		RIG(files_keep_what_is_written),
		RIG(pattern_says_where_it_is),
		RIG(serves_by_hand),
		RIG(complains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
