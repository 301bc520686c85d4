// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtqueue/vhost_user.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>

#include "common/cleanup.h"

#define BYTES(field) sizeof(((struct vhu_msg *)NULL)->payload.field)
#define MEM_HEADER   offsetof(struct vhu_memory, region)
#define CONF_HEADER  offsetof(struct vhu_config, data)

_Static_assert(offsetof(struct vhu_msg, payload) == VHU_HEADER_BYTES, "header without a gap");
_Static_assert(sizeof(struct vhu_vring_addr) == 40 && sizeof(struct vhu_single_region) == 40 &&
		       sizeof(struct vhu_memory) == 264 && sizeof(struct vhu_config) == 268 &&
		       sizeof(struct vhu_inflight) == 24 && sizeof(struct vhu_inflight_desc) == 16,
	       "as on the wire");

/*
 * What each request carries: bytes of payload and descriptors, of the request and of the reply. A
 * request without a reply of its own (reply_max 0) is answered, if asked for, by a u64.
 */
static const struct rule {
	const char *name;
	uint16_t min, max, reply_min, reply_max;
	uint8_t fd_min, fd_max, reply_fds;
} rules[VHU_REQUESTS] = {
	[VHU_GET_FEATURES] = {"GET_FEATURES", 0, 0, 8, 8, 0, 0, 0},
	[VHU_SET_FEATURES] = {"SET_FEATURES", 8, 8, 0, 0, 0, 0, 0},
	[VHU_SET_OWNER] = {"SET_OWNER", 0, 0, 0, 0, 0, 0, 0},
	[VHU_RESET_OWNER] = {"RESET_OWNER", 0, 0, 0, 0, 0, 0, 0},
	[VHU_SET_MEM_TABLE] = {"SET_MEM_TABLE", MEM_HEADER, BYTES(memory), 0, 0, 0, VHU_MAX_FDS, 0},
	[VHU_SET_VRING_NUM] = {"SET_VRING_NUM", 8, 8, 0, 0, 0, 0, 0},
	[VHU_SET_VRING_ADDR] = {"SET_VRING_ADDR", 40, 40, 0, 0, 0, 0, 0},
	[VHU_SET_VRING_BASE] = {"SET_VRING_BASE", 8, 8, 0, 0, 0, 0, 0},
	[VHU_GET_VRING_BASE] = {"GET_VRING_BASE", 8, 8, 8, 8, 0, 0, 0},
	[VHU_SET_VRING_KICK] = {"SET_VRING_KICK", 8, 8, 0, 0, 0, 1, 0},
	[VHU_SET_VRING_CALL] = {"SET_VRING_CALL", 8, 8, 0, 0, 0, 1, 0},
	[VHU_SET_VRING_ERR] = {"SET_VRING_ERR", 8, 8, 0, 0, 0, 1, 0},
	[VHU_GET_PROTOCOL_FEATURES] = {"GET_PROTOCOL_FEATURES", 0, 0, 8, 8, 0, 0, 0},
	[VHU_SET_PROTOCOL_FEATURES] = {"SET_PROTOCOL_FEATURES", 8, 8, 0, 0, 0, 0, 0},
	[VHU_GET_QUEUE_NUM] = {"GET_QUEUE_NUM", 0, 0, 8, 8, 0, 0, 0},
	[VHU_SET_VRING_ENABLE] = {"SET_VRING_ENABLE", 8, 8, 0, 0, 0, 0, 0},
	[VHU_SET_BACKEND_REQ_FD] = {"SET_BACKEND_REQ_FD", 0, 0, 0, 0, 1, 1, 0},
	/* A reply of no byte says that there is no config space. */
	[VHU_GET_CONFIG] = {"GET_CONFIG", CONF_HEADER, BYTES(config), 0, BYTES(config), 0, 0, 0},
	[VHU_SET_CONFIG] = {"SET_CONFIG", CONF_HEADER, BYTES(config), 0, 0, 0, 0, 0},
	[VHU_GET_INFLIGHT_FD] = {"GET_INFLIGHT_FD", 20, 24, 20, 24, 0, 0, 1},
	[VHU_SET_INFLIGHT_FD] = {"SET_INFLIGHT_FD", 20, 24, 0, 0, 1, 1, 0},
	[VHU_RESET_DEVICE] = {"RESET_DEVICE", 0, 0, 0, 0, 0, 0, 0},
	[VHU_GET_MAX_MEM_SLOTS] = {"GET_MAX_MEM_SLOTS", 0, 0, 8, 8, 0, 0, 0},
	[VHU_ADD_MEM_REG] = {"ADD_MEM_REG", 40, 40, 0, 0, 1, 1, 0},
	/* "The back-end MAY accept messages with one file descriptor", and closes it. */
	[VHU_REM_MEM_REG] = {"REM_MEM_REG", 40, 40, 0, 0, 0, 1, 0},
	[VHU_SET_STATUS] = {"SET_STATUS", 8, 8, 0, 0, 0, 0, 0},
	[VHU_GET_STATUS] = {"GET_STATUS", 0, 0, 8, 8, 0, 0, 0},
};

static const struct rule *rule_of(uint32_t request)
{
	return request < VHU_REQUESTS && rules[request].name ? &rules[request] : NULL;
}

const char *vhu_request_name(uint32_t request)
{
	const struct rule *r = rule_of(request);

	return r ? r->name : "unknown request";
}

bool vhu_has_reply(uint32_t request)
{
	const struct rule *r = rule_of(request);

	return r && r->reply_max;
}

const char *vhu_protocol_feature_name(uint32_t bit)
{
	static const char *const names[] = {
		[VHU_PROTOCOL_F_MQ] = "MQ",
		[VHU_PROTOCOL_F_LOG_SHMFD] = "LOG_SHMFD",
		[VHU_PROTOCOL_F_REPLY_ACK] = "REPLY_ACK",
		[VHU_PROTOCOL_F_BACKEND_REQ] = "BACKEND_REQ",
		[VHU_PROTOCOL_F_CONFIG] = "CONFIG",
		[VHU_PROTOCOL_F_BACKEND_SEND_FD] = "BACKEND_SEND_FD",
		[VHU_PROTOCOL_F_HOST_NOTIFIER] = "HOST_NOTIFIER",
		[VHU_PROTOCOL_F_INFLIGHT_SHMFD] = "INFLIGHT_SHMFD",
		[VHU_PROTOCOL_F_RESET_DEVICE] = "RESET_DEVICE",
		[VHU_PROTOCOL_F_INBAND_NOTIFICATIONS] = "INBAND_NOTIFICATIONS",
		[VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS] = "CONFIGURE_MEM_SLOTS",
		[VHU_PROTOCOL_F_STATUS] = "STATUS",
	};

	return bit < ARRAY_SIZE(names) ? names[bit] : NULL;
}

void vhu_fds_close(struct vhu_fds *fds)
{
	for (uint32_t i = 0; i < fds->nr; i++)
		vqs_closep(&fds->fd[i]);
	fds->nr = 0;
}

/* --- time ------------------------------------------------------------------------------------ */

#define NS_PER_S 1000000000LL

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t vhu_deadline(uint32_t ms)
{
	return now_ns() + ms * (NS_PER_S / 1000);
}

/* 0 when the socket is ready, or will fail for a reason of its own; -ETIMEDOUT. */
static int wait_ready(int sock, short events, int64_t deadline_ns)
{
	struct pollfd p = {.fd = sock, .events = events};

	for (;;) {
		int64_t left = deadline_ns == VHU_NO_DEADLINE ? 0 : deadline_ns - now_ns();
		struct timespec ts;
		int n;

		left = left < 0 ? 0 : left;
		ts = (struct timespec){.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};
		n = ppoll(&p, 1, deadline_ns == VHU_NO_DEADLINE ? NULL : &ts, NULL);
		if (n > 0)
			return 0;
		if (!n)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

/* --- sending --------------------------------------------------------------------------------- */

union control {
	char bytes[CMSG_SPACE(sizeof(int) * VHU_MAX_FDS)];
	struct cmsghdr align;
};

static void attach_fds(struct msghdr *h, union control *c, const int *fds, uint32_t nr)
{
	struct cmsghdr *cmsg;

	memset(c, 0, sizeof(*c));
	h->msg_control = c->bytes;
	h->msg_controllen = CMSG_SPACE(sizeof(int) * nr);
	cmsg = CMSG_FIRSTHDR(h);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int) * nr);
	memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * nr);
}

int vhu_send(int sock, const struct vhu_msg *m, const int *fds, uint32_t nr_fds,
	     int64_t deadline_ns)
{
	size_t total = VHU_HEADER_BYTES + (size_t)m->size, done = 0;

	if (m->size > sizeof(m->payload) || nr_fds > VHU_MAX_FDS)
		return -EINVAL;
	while (done < total) {
		struct iovec iov = {.iov_base = (char *)m + done, .iov_len = total - done};
		struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
		union control c;
		ssize_t n;
		int err;

		if (fds && nr_fds && !done)
			attach_fds(&h, &c, fds, nr_fds);
		n = sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		err = wait_ready(sock, POLLOUT, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

/* --- receiving ------------------------------------------------------------------------------- */

static const char *const too_many_fds = "more file descriptors than any message has";

/* Takes all descriptors into @fds, closes those beyond its end. False: there were such. */
static bool take_fds(struct msghdr *h, struct vhu_fds *fds)
{
	bool fit = !(h->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < nr; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (fds->nr < VHU_MAX_FDS) {
				fds->fd[fds->nr++] = fd;
			} else {
				close(fd);
				fit = false;
			}
		}
	}
	return fit;
}

/*
 * Reads exactly @len bytes. -ENODATA: the end before the first; -ECONNRESET: within. A time limit
 * leaves in @done how far it got.
 */
static int recv_all(int sock, void *buf, size_t len, size_t *done, struct vhu_fds *fds,
		    int64_t deadline_ns, const char **why)
{
	for (*done = 0; *done < len;) {
		struct iovec iov = {.iov_base = (char *)buf + *done, .iov_len = len - *done};
		union control c;
		struct msghdr h = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = c.bytes,
				   .msg_controllen = sizeof(c.bytes)};
		ssize_t n = recvmsg(sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int err;

		if (!n)
			return *done ? -ECONNRESET : -ENODATA;
		if (n > 0) {
			*done += (size_t)n;
			if (take_fds(&h, fds))
				continue;
			*why = too_many_fds;
			return -EPROTO;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		err = wait_ready(sock, POLLIN, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

static const char *check_header(enum vhu_kind kind, const struct vhu_msg *m, uint32_t asked)
{
	bool reply = m->flags & VHU_REPLY;

	if ((m->flags & VHU_VERSION_MASK) != VHU_VERSION)
		return "a protocol version other than 1";
	if (reply && kind != VHU_FROM_BACKEND_REPLY)
		return "a reply where a request belongs";
	if (!reply && kind == VHU_FROM_BACKEND_REPLY)
		return "a request where a reply belongs";
	if (kind == VHU_FROM_BACKEND_REPLY && m->request != asked)
		return "a reply to another request";
	if (m->size > sizeof(m->payload))
		return "a payload larger than any message has";
	return NULL;
}

static const char *check_reply(const struct rule *r, const struct vhu_msg *m, uint32_t nr_fds)
{
	/* Without a reply of its own: REPLY_ACK's. */
	uint32_t min = r->reply_max ? r->reply_min : sizeof(uint64_t);
	uint32_t max = r->reply_max ? r->reply_max : sizeof(uint64_t);

	if (m->size < min || m->size > max)
		return "a payload that is not of the reply's size";
	if (nr_fds > r->reply_fds)
		return "file descriptors that the reply does not have";
	return NULL;
}

static bool config_fits(const struct vhu_msg *m)
{
	const struct vhu_config *c = &m->payload.config;

	return m->size >= CONF_HEADER && c->size == m->size - CONF_HEADER &&
	       c->offset <= VHU_MAX_CONFIG && c->size <= VHU_MAX_CONFIG - c->offset;
}

/* What the numbers in the payload say must fit what came. */
static const char *check_content(const struct vhu_msg *m, uint32_t nr_fds, bool reply)
{
	switch (m->request) {
	case VHU_SET_MEM_TABLE:
		if (reply)
			return NULL;
		if (m->payload.memory.nr > VHU_MAX_FDS)
			return "more memory regions than a table has";
		if (m->size != MEM_HEADER + m->payload.memory.nr * sizeof(struct vhu_mem_region))
			return "a memory table that is not of its regions' size";
		return m->payload.memory.nr == nr_fds ? NULL : "not one file descriptor per region";
	case VHU_SET_VRING_KICK:
	case VHU_SET_VRING_CALL:
	case VHU_SET_VRING_ERR:
		if (!reply && nr_fds != (m->payload.u64 & VHU_VRING_NOFD ? 0 : 1))
			return "a file descriptor that is missing, or announced as missing";
		return NULL;
	case VHU_GET_INFLIGHT_FD:
	case VHU_SET_INFLIGHT_FD:
		/* With the padding that C gives it, or without. */
		if (m->size == 20 || m->size == 24 || (reply && m->request == VHU_SET_INFLIGHT_FD))
			return NULL;
		return "an inflight description that is not of its size";
	case VHU_GET_CONFIG:
	case VHU_SET_CONFIG:
		if (reply && (!m->size || m->request == VHU_SET_CONFIG))
			return NULL;
		return config_fits(m) ? NULL : "a config space that is not of its size";
	default:
		return NULL;
	}
}

static const char *check_request(const struct rule *r, const struct vhu_msg *m, uint32_t nr_fds)
{
	if (m->size < r->min || m->size > r->max)
		return "a payload that is not of the request's size";
	if (nr_fds < r->fd_min)
		return "no file descriptor where one belongs";
	if (nr_fds > r->fd_max)
		return "more file descriptors than the request has";
	return NULL;
}

static int check(enum vhu_kind kind, const struct vhu_msg *m, uint32_t nr_fds, const char **why)
{
	bool reply = kind == VHU_FROM_BACKEND_REPLY;
	const struct rule *r = rule_of(m->request);

	if (kind == VHU_FROM_BACKEND_REQUEST) {
		if (m->request != VHU_BACKEND_CONFIG_CHANGE_MSG)
			return -EOPNOTSUPP;
		if (m->size || nr_fds)
			*why = "a payload that is not of the request's size";
		return *why ? -EPROTO : 0;
	}
	if (!r)
		return -EOPNOTSUPP;
	*why = reply ? check_reply(r, m, nr_fds) : check_request(r, m, nr_fds);
	if (!*why)
		*why = check_content(m, nr_fds, reply);
	return *why ? -EPROTO : 0;
}

static int recv_message(int sock, enum vhu_kind kind, struct vhu_msg *m, struct vhu_fds *fds,
			int64_t deadline_ns, const char **why)
{
	uint32_t asked = m->request;
	size_t done;
	int err;

	err = recv_all(sock, m, VHU_HEADER_BYTES, &done, fds, deadline_ns, why);
	if (err == -ETIMEDOUT && !done)
		return err;
	if (!err) {
		*why = check_header(kind, m, asked);
		if (*why)
			return -EPROTO;
		memset(&m->payload, 0, sizeof(m->payload));
		err = recv_all(sock, &m->payload, m->size, &done, fds, deadline_ns, why);
		if (err == -ENODATA)
			err = -ECONNRESET;
	}
	if (err == -ETIMEDOUT) {
		*why = "a message that stops in its midst";
		err = -EPROTO;
	}
	return err ? err : check(kind, m, fds->nr, why);
}

int vhu_recv(int sock, enum vhu_kind kind, struct vhu_msg *m, struct vhu_fds *fds,
	     int64_t deadline_ns, const char **why)
{
	int err;

	fds->nr = 0;
	*why = NULL;
	err = recv_message(sock, kind, m, fds, deadline_ns, why);
	if (err)
		vhu_fds_close(fds);
	return err;
}
