// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vhost-user messages that no front-end sends, each at some step of a negotiation that is sound so
 * far, over a connection of their own. Afterwards a sound connection must do.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "vqload/hostile_priv.h"

/* The memory that is shared, at numbers that need not be anybody's addresses. */
#define BYTES    (1u << 20)
#define GPA      (1ULL << 30)
#define USER     (1ULL << 44)
#define REPLY_MS 500u
#define MANY_FDS 64u

struct wire {
	struct host *h;
	int sock, mem, event;
	uint64_t features, protocol;
	bool after; /* the act is done: how much is still sent is for the daemon to say */
};

static void wire_close(struct wire *w)
{
	vqs_closep(&w->sock);
	vqs_closep(&w->mem);
	vqs_closep(&w->event);
}

static bool dial(struct wire *w)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int64_t deadline = vhu_deadline(w->h->o->timeout_ms);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", w->h->o->socket);
	w->sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	w->mem = memfd_create("vqload", MFD_CLOEXEC);
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->sock < 0 || w->mem < 0 || w->event < 0 || ftruncate(w->mem, BYTES))
		return false;
	/* One that ends with its connection is on its way; the next is started when it has gone. */
	while (host_ensure(w->h) || connect(w->sock, (struct sockaddr *)&sa, sizeof(sa)))
		if (vhu_deadline(0) > deadline || poll(NULL, 0, 2) < 0)
			return false;
	return true;
}

/* Sends bytes as they are, with @nr_fds times @fd. */
static void raw(struct wire *w, const void *bytes, size_t len, int fd, uint32_t nr_fds)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MANY_FDS)];
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
static bool hear(struct wire *w, uint32_t ms, uint64_t *u64)
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

static void message(struct wire *w, const struct vhu_msg *m, int fd, uint32_t nr_fds)
{
	raw(w, m, VHU_HEADER_BYTES + m->size, fd, nr_fds);
}

static struct vhu_msg make(uint32_t request, uint32_t bytes)
{
	return (struct vhu_msg){.request = request, .flags = VHU_VERSION, .size = bytes};
}

static void send_u64(struct wire *w, uint32_t request, uint64_t v, int fd)
{
	struct vhu_msg m = make(request, 8);

	m.payload.u64 = v;
	message(w, &m, fd, fd >= 0);
}

static void send_state(struct wire *w, uint32_t request, uint32_t index, uint32_t num)
{
	struct vhu_msg m = make(request, 8);

	m.payload.state.index = index;
	m.payload.state.num = num;
	message(w, &m, -1, 0);
}

static void send_addr(struct wire *w, uint32_t index, uint64_t desc, uint64_t avail, uint64_t used)
{
	struct vhu_msg m = make(VHU_SET_VRING_ADDR, 40);

	m.payload.addr =
		(struct vhu_vring_addr){.index = index, .desc = desc, .avail = avail, .used = used};
	message(w, &m, -1, 0);
}

/* A table of @nr times the same kind of region, as it is told. */
static void send_table(struct wire *w, uint32_t nr, const struct vhu_mem_region *region,
		       uint32_t regions_sent, uint32_t fds)
{
	struct vhu_msg m = make(VHU_SET_MEM_TABLE, (uint32_t)(offsetof(struct vhu_memory, region) +
							      regions_sent * sizeof(*region)));

	m.payload.memory.nr = nr;
	for (uint32_t i = 0; i < regions_sent && i < VHU_MAX_FDS; i++)
		m.payload.memory.region[i] = *region;
	message(w, &m, w->mem, fds);
}

static const struct vhu_mem_region sound_region = {.gpa = GPA, .size = BYTES, .user_addr = USER};

/* --- a negotiation, step by step ------------------------------------------------------------- */

#define STEPS 12u

static void step(struct wire *w, uint32_t i)
{
	struct vhu_msg m;

	switch (i) {
	case 0:
		m = make(VHU_GET_FEATURES, 0);
		message(w, &m, -1, 0);
		hear(w, REPLY_MS, &w->features);
		break;
	case 1:
		m = make(VHU_GET_PROTOCOL_FEATURES, 0);
		message(w, &m, -1, 0);
		hear(w, REPLY_MS, &w->protocol);
		break;
	case 2:
		/* No REPLY_ACK: then nothing is to be heard but what has a reply. */
		send_u64(w, VHU_SET_PROTOCOL_FEATURES,
			 w->protocol & (VHU_BIT(VHU_PROTOCOL_F_MQ) |
					VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS)),
			 -1);
		break;
	case 3:
		m = make(VHU_SET_OWNER, 0);
		message(w, &m, -1, 0);
		break;
	case 4:
		send_u64(w, VHU_SET_FEATURES,
			 w->features &
				 (VHU_BIT(VIRTIO_F_VERSION_1) | VHU_BIT(VHU_F_PROTOCOL_FEATURES)),
			 -1);
		break;
	case 5:
		send_table(w, 1, &sound_region, 1, 1);
		break;
	case 6:
		send_state(w, VHU_SET_VRING_NUM, 0, 64);
		break;
	case 7:
		send_state(w, VHU_SET_VRING_BASE, 0, 0);
		break;
	case 8:
		send_addr(w, 0, USER, USER + 4096, USER + 8192);
		break;
	case 9:
		send_u64(w, VHU_SET_VRING_CALL, 0, w->event);
		break;
	case 10:
		send_u64(w, VHU_SET_VRING_KICK, 0, w->event);
		break;
	case 11:
		send_state(w, VHU_SET_VRING_ENABLE, 0, 1);
		break;
	}
}

typedef void act_fn(struct wire *w);

/* Up to some step all is sound; then @act; then it goes on, or waits a moment, or ends. */
static void at_some_step(struct host *h, uint32_t least, act_fn *act)
{
	_cleanup_(wire_close) struct wire w = {.h = h, .sock = -1, .mem = -1, .event = -1};
	uint32_t n = least + (uint32_t)host_below(h, STEPS + 1 - least);
	uint32_t after = (uint32_t)host_below(h, 3);

	host_close(h);
	host_await_end(h);
	if (!dial(&w)) {
		host_say(h, "no connection");
		return;
	}
	for (uint32_t i = 0; i < n && !h->was_closed; i++)
		step(&w, i);
	act(&w);
	w.after = true;
	for (uint32_t i = n; after == 2 && i < STEPS && !h->was_closed; i++)
		step(&w, i);
	if (after)
		hear(&w, HOST_SETTLE_MS, NULL);
}

/* --- what goes wrong ------------------------------------------------------------------------- */

static void act_nothing(struct wire *w)
{
	host_say(w->h, "it ends");
}

static void act_truncated(struct wire *w)
{
	struct vhu_msg m = make(VHU_SET_VRING_ADDR, 40);
	uint32_t n = 1 + (uint32_t)host_below(w->h, VHU_HEADER_BYTES + 39);

	host_say(w->h, "%u of %u bytes", n, VHU_HEADER_BYTES + 40);
	raw(w, &m, n, -1, 0);
}

static void act_oversized(struct wire *w)
{
	uint32_t request = 1 + (uint32_t)host_below(w->h, VHU_REQUESTS - 1);
	uint32_t size =
		HOST_PICK(w->h, ((const uint32_t[]){273, 4096, 65536, 1u << 31, UINT32_MAX}));
	uint8_t bytes[4096 + VHU_HEADER_BYTES] = {0};
	struct vhu_msg m = make(request, size);

	memcpy(bytes, &m, VHU_HEADER_BYTES);
	host_say(w->h, "%s of %u bytes", vhu_request_name(request), size);
	raw(w, bytes, sizeof(bytes), -1, 0);
}

/* A payload of another size than the request's, zeros or noise. */
static void act_size(struct wire *w)
{
	uint32_t request = 1 + (uint32_t)host_below(w->h, VHU_REQUESTS - 1);
	uint32_t size = (uint32_t)host_below(w->h, 272);
	struct vhu_msg m = make(request, size);

	if (host_below(w->h, 2))
		host_random(w->h, m.payload.bytes, size);
	host_say(w->h, "%s of %u bytes", vhu_request_name(request), size);
	message(w, &m, w->mem, (uint32_t)host_below(w->h, 2));
}

static void act_unknown(struct wire *w)
{
	uint32_t request =
		HOST_PICK(w->h, ((const uint32_t[]){0, 45, 100, 1u << 16, 1u << 31, UINT32_MAX}));
	struct vhu_msg m = make(request, 8 * (uint32_t)host_below(w->h, 6));

	m.flags |= host_below(w->h, 2) ? VHU_NEED_REPLY : 0;
	host_say(w->h, "request %u", request);
	message(w, &m, -1, 0);
}

static void act_flags(struct wire *w)
{
	struct vhu_msg m = make(VHU_GET_FEATURES, 0);

	m.flags = HOST_PICK(w->h, ((const uint32_t[]){0, 2, 3, VHU_VERSION | VHU_REPLY, UINT32_MAX,
						      VHU_VERSION | 0xfff0}));
	host_say(w->h, "flags %#x", m.flags);
	message(w, &m, -1, 0);
}

static void act_noise(struct wire *w)
{
	uint8_t bytes[512];
	uint32_t n = 1 + (uint32_t)host_below(w->h, sizeof(bytes));

	host_random(w->h, bytes, sizeof(bytes));
	host_say(w->h, "%u random bytes", n);
	raw(w, bytes, n, w->mem, (uint32_t)host_below(w->h, 3));
}

static void act_no_fd(struct wire *w)
{
	uint32_t which = (uint32_t)host_below(w->h, 6);

	host_say(w->h, "%s",
		 vhu_request_name(((const uint32_t[]){
			 VHU_SET_MEM_TABLE, VHU_SET_VRING_KICK, VHU_SET_VRING_CALL,
			 VHU_SET_VRING_ERR, VHU_ADD_MEM_REG, VHU_SET_BACKEND_REQ_FD})[which]));
	switch (which) {
	case 0:
		send_table(w, 1, &sound_region, 1, 0);
		break;
	case 4: {
		struct vhu_msg m = make(VHU_ADD_MEM_REG, 40);

		m.payload.mem_reg.region = sound_region;
		message(w, &m, -1, 0);
		break;
	}
	case 5: {
		struct vhu_msg m = make(VHU_SET_BACKEND_REQ_FD, 0);

		message(w, &m, -1, 0);
		break;
	}
	default:
		send_u64(w, VHU_SET_VRING_KICK + which - 1, 0, -1);
	}
}

static void act_fds(struct wire *w)
{
	uint32_t n = HOST_PICK(w->h, ((const uint32_t[]){1, 2, 8, 9, 32, MANY_FDS}));
	struct vhu_msg m = make(VHU_GET_FEATURES, 0);

	host_say(w->h, "%u of them", n);
	if (host_below(w->h, 2))
		send_table(w, 1, &sound_region, 1, n > 1 ? n : 2);
	else
		message(w, &m, w->mem, n);
}

/*
 * Descriptors that are no eventfds, for kicks and calls. Not the connection itself: a daemon that
 * holds its other end could never see it close.
 */
static void act_wrong_fd(struct wire *w)
{
	uint32_t request = VHU_SET_VRING_KICK + (uint32_t)host_below(w->h, 3);
	bool memory = host_below(w->h, 2);
	int pair[2];

	host_say(w->h, "%s with a %s", vhu_request_name(request), memory ? "memfd" : "socket");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	send_u64(w, request, 0, memory ? w->mem : pair[0]);
	close(pair[0]);
	close(pair[1]);
}

static void act_index(struct wire *w)
{
	uint32_t index = HOST_PICK(
		w->h, ((const uint32_t[]){2, 3, 255, 256, 1024, 65536, 1u << 31, UINT32_MAX}));
	uint32_t which = (uint32_t)host_below(w->h, 7);
	static const uint32_t requests[] = {VHU_SET_VRING_NUM, VHU_SET_VRING_BASE,
					    VHU_GET_VRING_BASE, VHU_SET_VRING_ENABLE};

	host_say(w->h, "index %u", index);
	if (which < ARRAY_SIZE(requests))
		send_state(w, requests[which], index, which == 0 ? 64 : which == 3);
	else if (which == 4)
		send_addr(w, index, USER, USER + 4096, USER + 8192);
	else
		send_u64(w, which == 5 ? VHU_SET_VRING_KICK : VHU_SET_VRING_CALL, index, w->event);
}

static void act_number(struct wire *w)
{
	uint32_t num = HOST_PICK(
		w->h, ((const uint32_t[]){0, 3, 65, 32769, 65535, 65536, 1u << 31, UINT32_MAX}));
	uint32_t request =
		HOST_PICK(w->h, ((const uint32_t[]){VHU_SET_VRING_NUM, VHU_SET_VRING_NUM,
						    VHU_SET_VRING_BASE, VHU_SET_VRING_ENABLE}));

	host_say(w->h, "%s %u", vhu_request_name(request), num);
	send_state(w, request, 0, num);
}

static void act_addresses(struct wire *w)
{
	uint64_t bad =
		HOST_PICK(w->h, ((const uint64_t[]){0, USER - 1, USER + BYTES, USER + BYTES - 8,
						    UINT64_MAX, USER + 1, UINT64_MAX - 4096}));
	uint32_t which = (uint32_t)host_below(w->h, 3);

	host_say(w->h, "%s at %#llx",
		 ((const char *const[]){"descriptors", "available", "used"})[which],
		 (unsigned long long)bad);
	send_addr(w, 0, which == 0 ? bad : USER, which == 1 ? bad : USER + 4096,
		  which == 2 ? bad : USER + 8192);
}

static void act_table(struct wire *w)
{
	struct vhu_mem_region g = sound_region;
	uint32_t nr = 1, regions = 1;

	switch (host_below(w->h, 8)) {
	case 0:
		nr = HOST_PICK(w->h, ((const uint32_t[]){0, 2, 8, 9, 255, UINT32_MAX}));
		break;
	case 1:
		g.size = HOST_PICK(w->h,
				   ((const uint64_t[]){0, 1, 1ULL << 40, 1ULL << 63, UINT64_MAX}));
		break;
	case 2:
		g.mmap_offset = HOST_PICK(
			w->h,
			((const uint64_t[]){1, BYTES, 1ULL << 63, UINT64_MAX, UINT64_MAX - 4095}));
		break;
	case 3:
		g.gpa = UINT64_MAX - 4096;
		break;
	case 4:
		g.user_addr = UINT64_MAX - 4096;
		break;
	case 5:
		nr = regions = 2; /* twice the same */
		break;
	case 6:
		nr = regions = 8;
		break;
	default:
		nr = 0, regions = 0;
	}
	host_say(w->h, "%u regions of %llu bytes from %llu", nr, (unsigned long long)g.size,
		 (unsigned long long)g.mmap_offset);
	send_table(w, nr, &g, regions, regions);
}

/*
 * The file is shorter than the region: a daemon that does not look gets SIGBUS. It is so from the
 * start; against a file that is cut off later only seals help, which not every front-end sets.
 */
static void act_short_file(struct wire *w)
{
	int file = memfd_create("vqload-short", MFD_CLOEXEC);

	host_say(w->h, "a region of 1 MiB in a file that has less");
	if (file < 0 || ftruncate(file, 4096 * (off_t)host_below(w->h, 2))) {
		vqs_closep(&file);
		return;
	}
	close(w->mem);
	w->mem = file;
	send_table(w, 1, &sound_region, 1, 1);
	send_state(w, VHU_SET_VRING_NUM, 0, 64);
	send_addr(w, 0, USER + 8192, USER + 16384, USER + 32768);
	send_u64(w, VHU_SET_VRING_KICK, 0, w->event);
	send_state(w, VHU_SET_VRING_ENABLE, 0, 1);
}

static void act_slots(struct wire *w)
{
	bool add = host_below(w->h, 2);
	struct vhu_msg m = make(add ? VHU_ADD_MEM_REG : VHU_REM_MEM_REG, 40);
	struct vhu_mem_region g = sound_region;

	g.gpa += HOST_PICK(w->h, ((const uint64_t[]){0, 4096, BYTES}));
	g.user_addr += HOST_PICK(w->h, ((const uint64_t[]){0, 4096, BYTES}));
	g.size = HOST_PICK(w->h, ((const uint64_t[]){0, 4096, BYTES, 1ULL << 62}));
	m.payload.mem_reg.region = g;
	host_say(w->h, "%s of %llu bytes", add ? "addition" : "removal",
		 (unsigned long long)g.size);
	message(w, &m, w->mem, add);
}

static void act_config(struct wire *w)
{
	struct vhu_msg m = make(host_below(w->h, 2) ? VHU_GET_CONFIG : VHU_SET_CONFIG, 12 + 60);

	m.payload.config.offset = HOST_PICK(w->h, ((const uint32_t[]){0, 30, 256, UINT32_MAX}));
	m.payload.config.size = HOST_PICK(w->h, ((const uint32_t[]){0, 60, 256, 4096, UINT32_MAX}));
	host_say(w->h, "%u bytes from %u", m.payload.config.size, m.payload.config.offset);
	message(w, &m, -1, 0);
}

/* A sound message, but not when it belongs. */
static void act_order(struct wire *w)
{
	uint32_t i = (uint32_t)host_below(w->h, STEPS);

	host_say(w->h, "step %u", i);
	step(w, i);
	step(w, (uint32_t)host_below(w->h, STEPS));
}

#define CASE(name, act, least)                     \
	static void name(struct host *h)           \
	{                                          \
		at_some_step(h, least, act_##act); \
	}
CASE(try_nothing, nothing, 0)
CASE(try_truncated, truncated, 0)
CASE(try_oversized, oversized, 0)
CASE(try_size, size, 0)
CASE(try_unknown, unknown, 0)
CASE(try_flags, flags, 0)
CASE(try_noise, noise, 0)
CASE(try_no_fd, no_fd, 0)
CASE(try_fds, fds, 0)
CASE(try_wrong_fd, wrong_fd, 9)
CASE(try_index, index, 3)
CASE(try_number, number, 5)
CASE(try_addresses, addresses, 6)
CASE(try_table, table, 4)
CASE(try_short_file, short_file, 5)
CASE(try_slots, slots, 5)
CASE(try_config, config, 3)
CASE(try_order, order, 0)

const struct host_kind host_proto_kinds[] = {
	{"disconnect", try_nothing},      {"msg_truncated", try_truncated},
	{"msg_oversized", try_oversized}, {"msg_size", try_size},
	{"msg_unknown", try_unknown},     {"msg_flags", try_flags},
	{"msg_noise", try_noise},         {"no_fd", try_no_fd},
	{"too_many_fds", try_fds},        {"wrong_fd", try_wrong_fd},
	{"ring_index", try_index},        {"ring_number", try_number},
	{"ring_address", try_addresses},  {"mem_table", try_table},
	{"short_file", try_short_file},   {"mem_slots", try_slots},
	{"config", try_config},           {"order_of_steps", try_order},
};
const uint32_t host_proto_nr = ARRAY_SIZE(host_proto_kinds);
