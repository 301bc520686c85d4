// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any bytes may come over a vhost-user socket, with any number of descriptors.
 * What vhu_recv() takes is within its limits; no descriptor is left open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include "common/cleanup.h"
#include "virtqueue/vhost_user.h"

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void send_all(int sock, int fd, const uint8_t *data, size_t size, uint32_t nr_fds)
{
	char control[CMSG_SPACE(sizeof(int) * 16)] __attribute__((aligned(8))) = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = size};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (nr_fds) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
		for (uint32_t i = 0; i < nr_fds; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(int));
	}
	check(sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0);
}

static void check_taken(enum vhu_kind kind, const struct vhu_msg *m, const struct vhu_fds *fds)
{
	check(m->size <= sizeof(m->payload) && fds->nr <= VHU_MAX_FDS);
	check(kind != VHU_FROM_FRONTEND || strcmp(vhu_request_name(m->request), "unknown request"));
	if (m->request == VHU_SET_MEM_TABLE && kind == VHU_FROM_FRONTEND)
		check(m->payload.memory.nr == fds->nr &&
		      m->size == 8 + fds->nr * sizeof(struct vhu_mem_region));
	if (m->request == VHU_GET_CONFIG && kind == VHU_FROM_FRONTEND)
		check(m->payload.config.offset + m->payload.config.size <= VHU_MAX_CONFIG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2], null_fd, lowest, err;
	struct vhu_msg m = {0};
	struct vhu_fds fds;
	enum vhu_kind kind;
	const char *why;

	if (size < 3 || size > 4096)
		return 0;
	kind = data[0] % 3;
	m.request = data[2];
	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	send_all(pair[0], null_fd, data + 2, size - 2, data[1] % 17);
	close(pair[0]);
	lowest = dup(null_fd);
	close(lowest);
	do {
		err = vhu_recv(pair[1], kind, &m, &fds, vhu_deadline(0), &why);
		check(!err || !fds.nr);
		check(err != -EPROTO || why);
		check(err != -ETIMEDOUT);
		if (!err)
			check_taken(kind, &m, &fds);
		vhu_fds_close(&fds);
	} while (!err || err == -EOPNOTSUPP);
	check(dup(null_fd) == lowest);
	close(lowest);
	close(null_fd);
	close(pair[1]);
	return 0;
}
