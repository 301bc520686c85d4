// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqload/hostile_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define REPLY_MS 500u

void wire_close(struct wire *w)
{
	vqs_closep(&w->sock);
	vqs_closep(&w->mem);
	vqs_closep(&w->event);
}

bool wire_dial(struct wire *w)
{
	int64_t deadline = vhu_deadline(w->h->o->timeout_ms);

	w->mem = memfd_create("vqload", MFD_CLOEXEC);
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->mem < 0 || w->event < 0 || ftruncate(w->mem, WIRE_BYTES))
		return false;
	/* One that ends with its connection is on its way; the next is started when it has gone. */
	while (host_ensure(w->h) || (w->sock = load_dial(w->h->o->socket)) < 0)
		if (vhu_deadline(0) > deadline || poll(NULL, 0, 2) < 0)
			return false;
	return true;
}

/* Sends bytes as they are, with @nr_fds times @fd. */
void wire_raw(struct wire *w, const void *bytes, size_t len, int fd, uint32_t nr_fds)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * WIRE_MANY_FDS)];
		struct cmsghdr align;
	} c = {{0}};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;

	if (!w->after)
		host_digest(w->h, bytes, len);
	if (nr_fds) {
		m.msg_control = c.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);
		cmsg = CMSG_FIRSTHDR(&m);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
		for (uint32_t i = 0; i < nr_fds; i++)
			memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &fd, sizeof(int));
	}
	if (sendmsg(w->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		w->h->was_closed |= errno == EPIPE || errno == ECONNRESET;
}

/* Waits for an answer, and throws it away; false: none, or the end of the connection. */
bool wire_hear(struct wire *w, uint32_t ms, uint64_t *u64)
{
	struct pollfd p = {.fd = w->sock, .events = POLLIN};
	struct vhu_msg m = {0};
	ssize_t n;

	if (poll(&p, 1, (int)ms) <= 0)
		return false;
	n = recv(w->sock, &m, sizeof(m), MSG_DONTWAIT);
	if (!n || (n < 0 && errno != EAGAIN))
		w->h->was_closed = true;
	if (u64 && n >= (ssize_t)(VHU_HEADER_BYTES + 8))
		*u64 = m.payload.u64;
	return n > 0;
}

void wire_message(struct wire *w, const struct vhu_msg *m, int fd, uint32_t nr_fds)
{
	wire_raw(w, m, VHU_HEADER_BYTES + m->size, fd, nr_fds);
}

struct vhu_msg wire_make(uint32_t request, uint32_t bytes)
{
	return (struct vhu_msg){.request = request, .flags = VHU_VERSION, .size = bytes};
}

void wire_u64(struct wire *w, uint32_t request, uint64_t v, int fd)
{
	struct vhu_msg m = wire_make(request, 8);

	m.payload.u64 = v;
	wire_message(w, &m, fd, fd >= 0);
}

void wire_state(struct wire *w, uint32_t request, uint32_t index, uint32_t num)
{
	struct vhu_msg m = wire_make(request, 8);

	m.payload.state.index = index;
	m.payload.state.num = num;
	wire_message(w, &m, -1, 0);
}

void wire_addr(struct wire *w, uint32_t index, uint64_t desc, uint64_t avail, uint64_t used)
{
	struct vhu_msg m = wire_make(VHU_SET_VRING_ADDR, 40);

	m.payload.addr =
		(struct vhu_vring_addr){.index = index, .desc = desc, .avail = avail, .used = used};
	wire_message(w, &m, -1, 0);
}

/* A table of @nr times the same kind of region, as it is told. */
void wire_table(struct wire *w, uint32_t nr, const struct vhu_mem_region *region,
		uint32_t regions_sent, uint32_t fds)
{
	struct vhu_msg m =
		wire_make(VHU_SET_MEM_TABLE, (uint32_t)(offsetof(struct vhu_memory, region) +
							regions_sent * sizeof(*region)));

	m.payload.memory.nr = nr;
	for (uint32_t i = 0; i < regions_sent && i < VHU_MAX_FDS; i++)
		m.payload.memory.region[i] = *region;
	wire_message(w, &m, w->mem, fds);
}

const struct vhu_mem_region wire_region = {
	.gpa = WIRE_GPA, .size = WIRE_BYTES, .user_addr = WIRE_USER};

/* --- a negotiation, step by step ------------------------------------------------------------- */

void wire_step(struct wire *w, uint32_t i)
{
	struct vhu_msg m;

	switch (i) {
	case 0:
		m = wire_make(VHU_GET_FEATURES, 0);
		wire_message(w, &m, -1, 0);
		wire_hear(w, REPLY_MS, &w->features);
		break;
	case 1:
		m = wire_make(VHU_GET_PROTOCOL_FEATURES, 0);
		wire_message(w, &m, -1, 0);
		wire_hear(w, REPLY_MS, &w->protocol);
		break;
	case 2:
		/* No REPLY_ACK: then nothing is to be heard but what has a reply. */
		wire_u64(w, VHU_SET_PROTOCOL_FEATURES,
			 w->protocol & (VHU_BIT(VHU_PROTOCOL_F_MQ) |
					VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS)),
			 -1);
		break;
	case 3:
		m = wire_make(VHU_SET_OWNER, 0);
		wire_message(w, &m, -1, 0);
		break;
	case 4:
		wire_u64(w, VHU_SET_FEATURES,
			 w->features &
				 (VHU_BIT(VIRTIO_F_VERSION_1) | VHU_BIT(VHU_F_PROTOCOL_FEATURES)),
			 -1);
		break;
	case 5:
		wire_table(w, 1, &wire_region, 1, 1);
		break;
	case 6:
		wire_state(w, VHU_SET_VRING_NUM, 0, 64);
		break;
	case 7:
		wire_state(w, VHU_SET_VRING_BASE, 0, 0);
		break;
	case 8:
		wire_addr(w, 0, WIRE_USER, WIRE_USER + 4096, WIRE_USER + 8192);
		break;
	case 9:
		wire_u64(w, VHU_SET_VRING_CALL, 0, w->event);
		break;
	case 10:
		wire_u64(w, VHU_SET_VRING_KICK, 0, w->event);
		break;
	case 11:
		wire_state(w, VHU_SET_VRING_ENABLE, 0, 1);
		break;
	}
}
