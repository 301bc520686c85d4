// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vhost-user messages over a socket pair: what is sent is what is received, with its descriptors;
 * what breaks the protocol is refused, in words, and leaves no descriptor behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "virtqueue/vhost_user.h"

static int front, back; /* the two ends */
static int null_fd;
static int lowest; /* the descriptor that is free when none leaked */
static struct vhu_fds fds;
static struct vhu_msg got;
static const char *why;

static int next_free(void)
{
	int fd = dup(null_fd);

	close(fd);
	return fd;
}

static int set_up(void **state)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	front = pair[0];
	back = pair[1];
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	lowest = next_free();
	memset(&got, 0, sizeof(got));
	return 0;
}

static int tear_down(void **state)
{
	int leaked = next_free() != lowest;

	vqs_closep(&front);
	vqs_closep(&back);
	close(null_fd);
	return leaked;
}

static struct vhu_msg message(uint32_t request, uint32_t size)
{
	return (struct vhu_msg){.request = request, .flags = VHU_VERSION, .size = size};
}

static int receive_as(enum vhu_kind kind)
{
	return vhu_recv(kind == VHU_FROM_FRONTEND ? back : front, kind, &got, &fds,
			vhu_deadline(5000), &why);
}

/* Sends bytes as they are, with @nr descriptors. */
static void send_raw(const void *bytes, size_t len, uint32_t nr)
{
	char control[CMSG_SPACE(sizeof(int) * 64)] __attribute__((aligned(8))) = {0};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

	if (nr) {
		struct cmsghdr *c;

		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * nr);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nr);
		for (uint32_t i = 0; i < nr; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &null_fd, sizeof(int));
	}
	assert_int_equal(sendmsg(front, &h, MSG_NOSIGNAL), len);
}

static void send_with(const struct vhu_msg *m, uint32_t nr)
{
	send_raw(m, VHU_HEADER_BYTES + m->size, nr);
}

static void refused(const struct vhu_msg *m, uint32_t nr, const char *words)
{
	send_with(m, nr);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), -EPROTO);
	assert_non_null(strstr(why, words));
	assert_int_equal(fds.nr, 0);
	assert_int_equal(next_free(), lowest);
}

static void every_request_goes_through(void **state)
{
	static const struct {
		uint32_t request, size, fds;
	} all[] = {
		{VHU_GET_FEATURES, 0, 0},
		{VHU_SET_FEATURES, 8, 0},
		{VHU_SET_OWNER, 0, 0},
		{VHU_RESET_OWNER, 0, 0},
		{VHU_SET_VRING_NUM, 8, 0},
		{VHU_SET_VRING_ADDR, 40, 0},
		{VHU_SET_VRING_BASE, 8, 0},
		{VHU_GET_VRING_BASE, 8, 0},
		{VHU_SET_VRING_KICK, 8, 1},
		{VHU_SET_VRING_CALL, 8, 1},
		{VHU_SET_VRING_ERR, 8, 1},
		{VHU_GET_PROTOCOL_FEATURES, 0, 0},
		{VHU_SET_PROTOCOL_FEATURES, 8, 0},
		{VHU_GET_QUEUE_NUM, 0, 0},
		{VHU_SET_VRING_ENABLE, 8, 0},
		{VHU_SET_BACKEND_REQ_FD, 0, 1},
		{VHU_GET_INFLIGHT_FD, 24, 0},
		{VHU_GET_INFLIGHT_FD, 20, 0},
		{VHU_SET_INFLIGHT_FD, 24, 1},
		{VHU_RESET_DEVICE, 0, 0},
		{VHU_GET_MAX_MEM_SLOTS, 0, 0},
		{VHU_ADD_MEM_REG, 40, 1},
		{VHU_REM_MEM_REG, 40, 0},
		{VHU_REM_MEM_REG, 40, 1},
		{VHU_SET_STATUS, 8, 0},
		{VHU_GET_STATUS, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vhu_msg m = message(all[i].request, all[i].size);

		memset(m.payload.bytes, 0x40, all[i].size);
		assert_int_equal(vhu_send(front, &m, &null_fd, all[i].fds, vhu_deadline(1000)), 0);
		assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
		assert_memory_equal(&got, &m, VHU_HEADER_BYTES + m.size);
		assert_int_equal(fds.nr, all[i].fds);
		for (uint32_t k = 0; k < fds.nr; k++)
			assert_true(fcntl(fds.fd[k], F_GETFD) & FD_CLOEXEC);
		vhu_fds_close(&fds);
		assert_string_not_equal(vhu_request_name(m.request), "unknown request");
		if (all[i].size) {
			m.size--;
			refused(&m, all[i].fds, "size");
		}
	}
}

static void a_memory_table_has_its_size(void **state)
{
	int many[VHU_MAX_FDS];
	struct vhu_msg m;

	for (uint32_t i = 0; i < VHU_MAX_FDS; i++)
		many[i] = null_fd;
	for (uint32_t n = 0; n <= VHU_MAX_FDS; n++) {
		m = message(VHU_SET_MEM_TABLE, 8 + n * 32);
		m.payload.memory.nr = n;
		assert_int_equal(vhu_send(front, &m, many, n, vhu_deadline(1000)), 0);
		assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
		assert_int_equal(fds.nr, n);
		vhu_fds_close(&fds);
	}
	m.payload.memory.nr = 2;
	m.size = 8 + 3 * 32;
	refused(&m, 2, "regions' size");
	m.size = 8 + 2 * 32;
	refused(&m, 1, "per region");
	refused(&m, 3, "per region");
	m.payload.memory.nr = VHU_MAX_FDS + 1;
	m.size = 8 + 8 * 32;
	refused(&m, 8, "more memory regions");
	m.payload.memory.nr = UINT32_MAX;
	refused(&m, 8, "more memory regions");
}

static void a_config_space_has_its_size(void **state)
{
	struct vhu_msg m = message(VHU_GET_CONFIG, 12 + 40);

	m.payload.config.size = 40;
	send_with(&m, 0);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
	m.payload.config.size = 41;
	refused(&m, 0, "config space");
	m.payload.config.size = 40;
	m.payload.config.offset = 217;
	refused(&m, 0, "config space");
	m.payload.config.offset = UINT32_MAX - 10;
	refused(&m, 0, "config space");
}

static void a_missing_descriptor_is_announced(void **state)
{
	struct vhu_msg m = message(VHU_SET_VRING_CALL, 8);

	m.payload.u64 = 3;
	refused(&m, 0, "missing");
	m.payload.u64 |= VHU_VRING_NOFD;
	refused(&m, 1, "missing");
	send_with(&m, 0);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
}

static void descriptors_are_counted(void **state)
{
	struct vhu_msg m = message(VHU_SET_OWNER, 0);

	refused(&m, 1, "more file descriptors than the request");
	refused(&m, 8, "more file descriptors than the request");
	refused(&m, 9, "than any message");
	/* The rest of the message is not read. */
	m = message(VHU_ADD_MEM_REG, 40);
	refused(&m, 2, "more file descriptors than the request");
	refused(&m, 0, "no file descriptor");
	refused(&m, 60, "than any message");
}

static void headers_are_checked(void **state)
{
	struct vhu_msg m = message(VHU_SET_OWNER, 0);

	m.flags = 2;
	refused(&m, 3, "version");
	m.flags = VHU_VERSION | VHU_REPLY;
	refused(&m, 0, "reply where a request");
	m = message(VHU_SET_OWNER, UINT32_MAX);
	send_raw(&m, VHU_HEADER_BYTES, 1);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), -EPROTO);
	assert_non_null(strstr(why, "larger"));
}

static void an_unknown_request_is_passed_by(void **state)
{
	struct vhu_msg m = message(1000, 100), n = message(VHU_GET_FEATURES, 0);

	send_with(&m, 2);
	send_with(&n, 0);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), -EOPNOTSUPP);
	assert_int_equal(next_free(), lowest);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
	assert_int_equal(got.request, VHU_GET_FEATURES);
}

static void reply(uint32_t request, uint32_t size, uint32_t flags, int nr)
{
	struct vhu_msg m = message(request, size);

	m.flags |= flags;
	assert_int_equal(vhu_send(back, &m, &null_fd, (uint32_t)nr, vhu_deadline(1000)), 0);
}

static void replies_are_to_what_was_asked(void **state)
{
	got.request = VHU_GET_FEATURES;
	reply(VHU_GET_FEATURES, 8, VHU_REPLY, 0);
	assert_int_equal(receive_as(VHU_FROM_BACKEND_REPLY), 0);
	reply(VHU_GET_QUEUE_NUM, 8, VHU_REPLY, 0);
	assert_int_equal(receive_as(VHU_FROM_BACKEND_REPLY), -EPROTO);
	assert_non_null(strstr(why, "another request"));
}

static void replies_have_their_size(void **state)
{
	static const struct {
		uint32_t request, size, flags;
		int fds, want;
	} all[] = {
		{VHU_GET_FEATURES, 4, VHU_REPLY, 0, -EPROTO},
		{VHU_GET_FEATURES, 0, 0, 0, -EPROTO},
		{VHU_GET_FEATURES, 8, VHU_REPLY, 1, -EPROTO},
		{VHU_SET_OWNER, 8, VHU_REPLY, 0, 0}, /* REPLY_ACK */
		{VHU_SET_OWNER, 0, VHU_REPLY, 0, -EPROTO},
		{VHU_SET_MEM_TABLE, 8, VHU_REPLY, 0, 0},
		{VHU_SET_VRING_KICK, 8, VHU_REPLY, 0, 0},
		{VHU_GET_CONFIG, 0, VHU_REPLY, 0, 0}, /* there is none */
		{VHU_GET_CONFIG, 4, VHU_REPLY, 0, -EPROTO},
		{VHU_SET_CONFIG, 8, VHU_REPLY, 0, 0},
		{VHU_GET_INFLIGHT_FD, 24, VHU_REPLY, 1, 0},
		{VHU_GET_INFLIGHT_FD, 22, VHU_REPLY, 1, -EPROTO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		got.request = all[i].request;
		reply(all[i].request, all[i].size, all[i].flags, all[i].fds);
		assert_int_equal(receive_as(VHU_FROM_BACKEND_REPLY), all[i].want);
		vhu_fds_close(&fds);
	}
}

static void requests_of_the_back_end(void **state)
{
	reply(VHU_BACKEND_CONFIG_CHANGE_MSG, 0, 0, 0);
	assert_int_equal(receive_as(VHU_FROM_BACKEND_REQUEST), 0);
	reply(VHU_BACKEND_CONFIG_CHANGE_MSG, 8, 0, 0);
	assert_int_equal(receive_as(VHU_FROM_BACKEND_REQUEST), -EPROTO);
	reply(77, 8, 0, 1);
	assert_int_equal(receive_as(VHU_FROM_BACKEND_REQUEST), -EOPNOTSUPP);
}

static void the_end_has_its_kinds(void **state)
{
	struct vhu_msg m = message(VHU_SET_FEATURES, 8);

	assert_int_equal(vhu_recv(back, VHU_FROM_FRONTEND, &got, &fds, vhu_deadline(10), &why),
			 -ETIMEDOUT);
	send_raw(&m, 14, 0);
	assert_int_equal(vhu_recv(back, VHU_FROM_FRONTEND, &got, &fds, vhu_deadline(10), &why),
			 -EPROTO);
	assert_non_null(strstr(why, "midst"));
	send_raw(&m, 7, 1);
	close(TAKE_FD(front));
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), -ECONNRESET);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), -ENODATA);
	assert_int_equal(vhu_send(back, &m, NULL, 0, vhu_deadline(10)), -EPIPE);
	front = -1;
	lowest = next_free();
}

static void sending_has_a_limit(void **state)
{
	struct vhu_msg m = message(VHU_SET_CONFIG, 268);
	int err = 0;

	for (int i = 0; !err && i < 100000; i++)
		err = vhu_send(front, &m, NULL, 0, vhu_deadline(20));
	assert_int_equal(err, -ETIMEDOUT);
	m.size = 273;
	assert_int_equal(vhu_send(front, &m, NULL, 0, vhu_deadline(20)), -EINVAL);
	m.size = 8;
	assert_int_equal(vhu_send(front, &m, &null_fd, 9, vhu_deadline(20)), -EINVAL);
}

/* A message that comes byte by byte, its descriptors with different ones. */
static void *trickle(void *arg)
{
	const struct vhu_msg *m = arg;

	for (size_t i = 0; i < VHU_HEADER_BYTES + m->size; i++) {
		send_raw((const char *)m + i, 1, i == 0 || i == 30 ? 1 : 0);
		usleep(i % 20 ? 0 : 1000);
	}
	return NULL;
}

static void a_message_may_come_in_pieces(void **state)
{
	struct vhu_msg m = message(VHU_SET_MEM_TABLE, 8 + 2 * 32);
	pthread_t thread;

	m.payload.memory.nr = 2;
	m.payload.memory.region[1].mmap_offset = 0x1122334455667788;
	assert_int_equal(pthread_create(&thread, NULL, trickle, &m), 0);
	assert_int_equal(receive_as(VHU_FROM_FRONTEND), 0);
	pthread_join(thread, NULL);
	assert_memory_equal(&got, &m, VHU_HEADER_BYTES + m.size);
	assert_int_equal(fds.nr, 2);
	vhu_fds_close(&fds);
}

static void features_have_names(void **state)
{
	assert_string_equal(vhu_protocol_feature_name(VHU_PROTOCOL_F_REPLY_ACK), "REPLY_ACK");
	assert_null(vhu_protocol_feature_name(2));
	assert_null(vhu_protocol_feature_name(63));
	assert_string_equal(vhu_request_name(VHU_ADD_MEM_REG), "ADD_MEM_REG");
	assert_string_equal(vhu_request_name(0), "unknown request");
	assert_string_equal(vhu_request_name(UINT32_MAX), "unknown request");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_request_goes_through),      T(a_memory_table_has_its_size),
		T(a_config_space_has_its_size),     T(a_missing_descriptor_is_announced),
		T(descriptors_are_counted),         T(headers_are_checked),
		T(an_unknown_request_is_passed_by), T(replies_are_to_what_was_asked),
		T(replies_have_their_size),         T(requests_of_the_back_end),
		T(the_end_has_its_kinds),           T(sending_has_a_limit),
		T(a_message_may_come_in_pieces),    T(features_have_names),
	};

	return cmocka_run_group_tests_name("vhost_user", tests, NULL, NULL);
}
