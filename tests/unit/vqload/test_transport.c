// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The front-end against a back-end of the tests: what it negotiates, how it starts and stops, and
 * that whatever the daemon does wrong ends in time and in words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend_rig.h"
#include "vqload/transport.h"

#define ALL_FEATURES                                                          \
	(VHU_BIT(VIRTIO_F_VERSION_1) | VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC) | \
	 VHU_BIT(VIRTIO_RING_F_EVENT_IDX) | VHU_BIT(VHU_F_PROTOCOL_FEATURES))
#define ALL_PROTOCOL                                                                          \
	(VHU_BIT(VHU_PROTOCOL_F_MQ) | VHU_BIT(VHU_PROTOCOL_F_REPLY_ACK) |                     \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIG) | VHU_BIT(VHU_PROTOCOL_F_INFLIGHT_SHMFD) |            \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS) | VHU_BIT(VHU_PROTOCOL_F_RESET_DEVICE) | \
	 VHU_BIT(VHU_PROTOCOL_F_STATUS))

static struct backend backend;
static struct load_transport t;
static uint8_t *buffer;
static uint64_t buffer_gpa;

static int set_up(void **state)
{
	memset(&backend, 0, sizeof(backend));
	backend.features = ALL_FEATURES;
	backend.protocol = ALL_PROTOCOL;
	backend.queues = 5;
	backend.config_queues = 4;
	backend_run(&backend);
	memset(&t, 0, sizeof(t));
	t.sock = t.inflight_fd = -1;
	return 0;
}

static int tear_down(void **state)
{
	load_destroy(&t);
	load_destroy(&t);
	backend_end(&backend);
	return 0;
}

static struct load_options options(void)
{
	struct load_options o = LOAD_OPTIONS_DEFAULT;

	o.socket = backend.path;
	o.request_queues = 3;
	o.queue_size = 16;
	o.region_bytes = 1 << 20;
	o.start = 65530;
	return o;
}

static void start(const struct load_options *o)
{
	load_init(&t, o);
	if (load_connect(&t) || load_start(&t))
		fail_msg("%s", t.error);
	buffer = load_alloc(&t, t.nr_regions - 1, 8192, 64, &buffer_gpa);
	assert_non_null(buffer);
}

static void submit_at(uint32_t queue, uint64_t gpa, bool indirect)
{
	struct vq_range r[] = {{gpa, 40}, {gpa + 64, 16}, {gpa + 128, 100}};

	assert_true(vq_driver_add(&t.queue[queue].driver, r, 1, 2, indirect, queue) >= 0);
	load_submit(&t.queue[queue]);
}

static void reap_one(uint32_t queue, const uint8_t *at)
{
	struct vq_driver *d = &t.queue[queue].driver;
	struct vq_reply r;
	int got;

	while (!(got = vq_driver_get_used(d, &r)))
		if (!vq_driver_enable_calls(d))
			assert_int_equal(load_wait_call(&t, queue, vhu_deadline(5000)), 0);
	assert_int_equal(got, 1);
	assert_int_equal(r.token, queue);
	assert_int_equal(r.len, 116);
	assert_int_equal(at[64], BACKEND_BYTE);
	assert_int_equal(at[128 + 99], BACKEND_BYTE);
}

/* How waiting ends when no further call comes; there may be one for replies taken already. */
static int wait_end(uint32_t queue, uint32_t ms)
{
	int err = load_wait_call(&t, queue, vhu_deadline(ms));

	return err ? err : load_wait_call(&t, queue, vhu_deadline(ms));
}

static void exchange(void)
{
	for (uint32_t i = 0; i < t.nr_queues; i++) {
		memset(buffer, 0, 8192);
		submit_at(i, buffer_gpa,
			  i & 1 && t.features & VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC));
		reap_one(i, buffer);
	}
}

static void everything_is_negotiated(void **state)
{
	struct load_options o = options();

	start(&o);
	assert_int_equal(t.features, ALL_FEATURES);
	assert_int_equal(t.protocol, ALL_PROTOCOL);
	assert_int_equal(backend.chosen, ALL_FEATURES);
	assert_int_equal(backend.chosen_protocol, ALL_PROTOCOL);
	assert_int_equal(t.pid, getpid());
	assert_int_equal(t.daemon_queues, 5);
	assert_int_equal(t.nr_queues, 4);
	assert_true(t.has_config);
	assert_string_equal(t.tag, "tag of the test");
	assert_int_equal(t.config_queues, 4);
	assert_int_equal(t.mem_slots, VQ_MEM_REGIONS);
	assert_int_equal(backend.status, VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER |
						 VIRTIO_CONFIG_S_FEATURES_OK |
						 VIRTIO_CONFIG_S_DRIVER_OK);
	exchange();
}

/* Each protocol feature and ring feature switched off in turn, then all. */
static void each_feature_can_be_off(void **state)
{
	uint64_t rings = VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC) | VHU_BIT(VIRTIO_RING_F_EVENT_IDX);

	for (int i = -1; i < 64; i++) {
		struct load_options o = options();

		o.features_off =
			i < 0 ? rings | VHU_BIT(VHU_F_PROTOCOL_FEATURES) : rings & VHU_BIT(i);
		o.protocol_off = i < 0 ? UINT64_MAX : ALL_PROTOCOL & VHU_BIT(i);
		if (!o.features_off && !o.protocol_off)
			continue;
		o.regions = 1 + (uint32_t)(i & 7);
		o.adjacent = i & 1;
		start(&o);
		assert_int_equal(t.features & o.features_off, 0);
		assert_int_equal(t.protocol & o.protocol_off, 0);
		if (i >= 0)
			exchange();
		load_destroy(&t);
	}
}

static void queues_stop_and_start(void **state)
{
	struct load_options o = options();

	start(&o);
	exchange();
	for (int round = 0; round < 10; round++) {
		assert_int_equal(load_queue_stop(&t, 2), 0);
		assert_int_equal(t.queue[2].base, (uint16_t)(65531 + round * 2));
		assert_int_equal(load_queue_stop(&t, 2), -EALREADY);
		submit_at(2, buffer_gpa + 1024, true);
		assert_int_equal(wait_end(2, 5), -ETIMEDOUT);
		assert_int_equal(load_queue_start(&t, 2), 0);
		reap_one(2, buffer + 1024);
		exchange();
	}
	assert_int_equal(load_queue_start(&t, 99), -EINVAL);
	assert_int_equal(load_stop(&t), 0);
}

static void memory_comes_and_goes(void **state)
{
	struct load_options o = options();
	uint32_t index, again;
	uint64_t gpa;
	uint8_t *p;

	start(&o);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(load_add_region(&t, 100000, &index), 0);
		p = load_alloc(&t, index, 4096, 4096, &gpa);
		assert_non_null(p);
		submit_at(1, gpa, false);
		reap_one(1, p);
		assert_int_equal(load_add_region(&t, 4096, &again), 0);
		assert_int_equal(load_remove_region(&t, index), 0);
		assert_int_equal(load_remove_region(&t, index), -EINVAL);
		assert_int_equal(load_remove_region(&t, again), 0);
		assert_null(load_alloc(&t, index, 1, 1, &gpa));
	}
	assert_int_equal(load_remove_region(&t, 0), -EBUSY);
	assert_non_null(strstr(t.error, "ring of queue"));
	exchange();
}

static void a_buffer_may_cross_regions(void **state)
{
	struct load_options o = options();
	const struct load_region *r;

	o.adjacent = true;
	start(&o);
	r = t.region;
	assert_int_equal(r[0].gpa + r[0].size, r[1].gpa);
	submit_at(1, r[1].gpa - 140, false);
	assert_int_equal(load_wait_call(&t, 1, vhu_deadline(5000)), 0);
	assert_int_equal(((uint8_t *)r[0].addr)[r[0].size - 1], BACKEND_BYTE);
	assert_int_equal(((uint8_t *)r[1].addr)[87], BACKEND_BYTE);
}

static void too_few_queues_are_named(void **state)
{
	struct load_options o = options();

	o.request_queues = 5;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -ENOSPC);
	assert_non_null(strstr(t.error, "it has 4 request queues, not 5"));
	o.request_queues = 0;
	start(&o);
	assert_int_equal(t.nr_queues, 5);
}

static void a_reset_begins_anew(void **state)
{
	struct load_options o = options();

	start(&o);
	exchange();
	assert_int_equal(load_reset(&t), 0);
	/* This back-end keeps its rings until they are set anew. */
	assert_int_equal(load_start(&t), 0);
	exchange();
}

static void it_reconnects(void **state)
{
	struct load_options o = options();

	start(&o);
	for (uint32_t round = 2; round < 5; round++) {
		exchange();
		assert_int_equal(load_reconnect(&t), 0);
		assert_int_equal(__atomic_load_n(&backend.connections, __ATOMIC_RELAXED), round);
		assert_int_equal(t.queue[1].base, t.queue[1].driver.last_used);
	}
	exchange();
}

static void open_requests_need_an_inflight_region(void **state)
{
	struct load_options o = options();

	o.protocol_off = VHU_BIT(VHU_PROTOCOL_F_INFLIGHT_SHMFD);
	start(&o);
	exchange();
	backend.hold = true;
	submit_at(1, buffer_gpa, false);
	assert_int_equal(wait_end(1, 5000), -ECONNRESET);
	backend.hold = false;
	assert_int_equal(load_reconnect(&t), -EBUSY);
	assert_non_null(strstr(t.error, "queue 1 has 1 requests"));
	vq_driver_reset(&t.queue[1].driver, 7);
	assert_int_equal(load_reconnect(&t), 0);
	exchange();
}

static void the_inflight_region_is_handed_back(void **state)
{
	struct load_options o = options();

	start(&o);
	backend.hold = true;
	submit_at(1, buffer_gpa, false);
	assert_int_equal(wait_end(1, 5000), -ECONNRESET);
	backend.hold = false;
	/* One request open: with the base where the used ring stands it is popped once more. */
	assert_int_equal(load_reconnect(&t), 0);
	reap_one(1, buffer);
	exchange();
}

static void a_hostile_ring_is_signalled(void **state)
{
	struct load_options o = options();

	start(&o);
	t.queue[1].driver.ring.avail->idx += 100;
	load_submit(&t.queue[1]);
	assert_int_equal(eventfd_write(t.queue[1].kick_fd, 1), 0);
	assert_int_equal(wait_end(1, 5000), -EIO);
}

/* What the daemon does wrong, at every message there is. */
static void wrong(enum backend_fault f, int want, const char *words)
{
	for (uint32_t r = 1; r < VHU_REQUESTS; r++) {
		struct load_options o = options();
		int err;

		if (f == REFUSE && vhu_has_reply(r))
			continue;
		o.timeout_ms = f == HANG ? 50 : 10000;
		backend.wrong_at = r;
		backend.wrong = f;
		load_init(&t, &o);
		err = load_connect(&t);
		if (!err)
			err = load_start(&t);
		if (!err)
			err = load_stop(&t);
		if (err) {
			assert_int_equal(err, want);
			assert_non_null(strstr(t.error, words));
		}
		load_destroy(&t);
	}
}

static void a_daemon_may_hang(void **state)
{
	struct load_options o = options();

	wrong(HANG, -ETIMEDOUT, "within 50 ms");
	o.timeout_ms = 500;
	backend.wrong_at = VHU_GET_QUEUE_NUM;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -ETIMEDOUT);
	assert_non_null(strstr(t.error, "no answer to GET_QUEUE_NUM within 500 ms"));
}

static void a_daemon_may_hang_up(void **state)
{
	wrong(HANG_UP, -ECONNRESET, "closed the connection");
}

static void a_daemon_may_refuse(void **state)
{
	wrong(REFUSE, -EREMOTEIO, "refused");
}

static void a_daemon_may_talk_nonsense(void **state)
{
	wrong(TALK_NONSENSE, -EPROTO, "breaks vhost-user");
}

static void nobody_is_there(void **state)
{
	struct load_options o = options();
	char path[200];

	o.socket = "/nonexistent/socket";
	o.timeout_ms = 30;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -ENOENT);
	assert_non_null(strstr(t.error, "/nonexistent/socket"));
	o.wait_for_socket = true;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -ENOENT);
	memset(path, 'x', sizeof(path));
	path[199] = '\0';
	o.socket = path;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -ENAMETOOLONG);
	assert_int_equal(load_start(&t), -ENOTCONN);
}

static void options_are_checked(void **state)
{
	struct load_options o = options();

	o.queue_size = 24;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -EINVAL);
	o.queue_size = 16;
	o.regions = 9;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -EINVAL);
	o.regions = 1;
	o.region_bytes = 4096;
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), 0);
	assert_int_equal(load_start(&t), -ENOSPC);
	assert_non_null(strstr(t.error, "no room"));
}

static void an_old_device_is_none(void **state)
{
	struct load_options o = options();

	backend.features = VHU_BIT(VHU_F_PROTOCOL_FEATURES);
	load_init(&t, &o);
	assert_int_equal(load_connect(&t), -EPROTO);
	assert_non_null(strstr(t.error, "VERSION_1"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(everything_is_negotiated),
		T(each_feature_can_be_off),
		T(queues_stop_and_start),
		T(memory_comes_and_goes),
		T(a_buffer_may_cross_regions),
		T(too_few_queues_are_named),
		T(a_reset_begins_anew),
		T(it_reconnects),
		T(open_requests_need_an_inflight_region),
		T(the_inflight_region_is_handed_back),
		T(a_hostile_ring_is_signalled),
		T(a_daemon_may_hang),
		T(a_daemon_may_hang_up),
		T(a_daemon_may_refuse),
		T(a_daemon_may_talk_nonsense),
		T(nobody_is_there),
		T(options_are_checked),
		T(an_old_device_is_none),
	};

	return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
