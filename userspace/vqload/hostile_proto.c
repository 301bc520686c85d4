// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vhost-user messages that no front-end sends, each at some step of a negotiation that is sound so
 * far, over a connection of their own. Afterwards a sound connection must do.
 */
#include <string.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include "vqload/hostile_wire.h"

typedef void act_fn(struct wire *w);

/* Up to some step all is sound; then @act; then it goes on, or waits a moment, or ends. */
static void at_some_step(struct host *h, uint32_t least, act_fn *act)
{
	_cleanup_(wire_close) struct wire w = {.h = h, .sock = -1, .mem = -1, .event = -1};
	uint32_t n = least + (uint32_t)host_below(h, WIRE_STEPS + 1 - least);
	uint32_t after = (uint32_t)host_below(h, 3);

	host_close(h);
	host_await_end(h);
	if (!wire_dial(&w)) {
		host_say(h, "no connection");
		return;
	}
	for (uint32_t i = 0; i < n && !h->was_closed; i++)
		wire_step(&w, i);
	act(&w);
	w.after = true;
	for (uint32_t i = n; after == 2 && i < WIRE_STEPS && !h->was_closed; i++)
		wire_step(&w, i);
	if (after)
		wire_hear(&w, HOST_SETTLE_MS, NULL);
}

/* --- what goes wrong ------------------------------------------------------------------------- */

static void act_nothing(struct wire *w)
{
	host_say(w->h, "it ends");
}

static void act_truncated(struct wire *w)
{
	struct vhu_msg m = wire_make(VHU_SET_VRING_ADDR, 40);
	uint32_t n = 1 + (uint32_t)host_below(w->h, VHU_HEADER_BYTES + 39);

	host_say(w->h, "%u of %u bytes", n, VHU_HEADER_BYTES + 40);
	wire_raw(w, &m, n, -1, 0);
}

static void act_oversized(struct wire *w)
{
	uint32_t request = 1 + (uint32_t)host_below(w->h, VHU_REQUESTS - 1);
	uint32_t size =
		HOST_PICK(w->h, ((const uint32_t[]){273, 4096, 65536, 1u << 31, UINT32_MAX}));
	uint8_t bytes[4096 + VHU_HEADER_BYTES] = {0};
	struct vhu_msg m = wire_make(request, size);

	memcpy(bytes, &m, VHU_HEADER_BYTES);
	host_say(w->h, "%s of %u bytes", vhu_request_name(request), size);
	wire_raw(w, bytes, sizeof(bytes), -1, 0);
}

/* A payload of another size than the request's, zeros or noise. */
static void act_size(struct wire *w)
{
	uint32_t request = 1 + (uint32_t)host_below(w->h, VHU_REQUESTS - 1);
	uint32_t size = (uint32_t)host_below(w->h, 272);
	struct vhu_msg m = wire_make(request, size);

	if (host_below(w->h, 2))
		host_random(w->h, m.payload.bytes, size);
	host_say(w->h, "%s of %u bytes", vhu_request_name(request), size);
	wire_message(w, &m, w->mem, (uint32_t)host_below(w->h, 2));
}

static void act_unknown(struct wire *w)
{
	uint32_t request =
		HOST_PICK(w->h, ((const uint32_t[]){0, 45, 100, 1u << 16, 1u << 31, UINT32_MAX}));
	struct vhu_msg m = wire_make(request, 8 * (uint32_t)host_below(w->h, 6));

	m.flags |= host_below(w->h, 2) ? VHU_NEED_REPLY : 0;
	host_say(w->h, "request %u", request);
	wire_message(w, &m, -1, 0);
}

static void act_flags(struct wire *w)
{
	struct vhu_msg m = wire_make(VHU_GET_FEATURES, 0);

	m.flags = HOST_PICK(w->h, ((const uint32_t[]){0, 2, 3, VHU_VERSION | VHU_REPLY, UINT32_MAX,
						      VHU_VERSION | 0xfff0}));
	host_say(w->h, "flags %#x", m.flags);
	wire_message(w, &m, -1, 0);
}

static void act_noise(struct wire *w)
{
	uint8_t bytes[512];
	uint32_t n = 1 + (uint32_t)host_below(w->h, sizeof(bytes));

	host_random(w->h, bytes, sizeof(bytes));
	host_say(w->h, "%u random bytes", n);
	wire_raw(w, bytes, n, w->mem, (uint32_t)host_below(w->h, 3));
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
		wire_table(w, 1, &wire_region, 1, 0);
		break;
	case 4: {
		struct vhu_msg m = wire_make(VHU_ADD_MEM_REG, 40);

		m.payload.mem_reg.region = wire_region;
		wire_message(w, &m, -1, 0);
		break;
	}
	case 5: {
		struct vhu_msg m = wire_make(VHU_SET_BACKEND_REQ_FD, 0);

		wire_message(w, &m, -1, 0);
		break;
	}
	default:
		wire_u64(w, VHU_SET_VRING_KICK + which - 1, 0, -1);
	}
}

static void act_fds(struct wire *w)
{
	uint32_t n = HOST_PICK(w->h, ((const uint32_t[]){1, 2, 8, 9, 32, WIRE_MANY_FDS}));
	struct vhu_msg m = wire_make(VHU_GET_FEATURES, 0);

	host_say(w->h, "%u of them", n);
	if (host_below(w->h, 2))
		wire_table(w, 1, &wire_region, 1, n > 1 ? n : 2);
	else
		wire_message(w, &m, w->mem, n);
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
	wire_u64(w, request, 0, memory ? w->mem : pair[0]);
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
		wire_state(w, requests[which], index, which == 0 ? 64 : which == 3);
	else if (which == 4)
		wire_addr(w, index, WIRE_USER, WIRE_USER + 4096, WIRE_USER + 8192);
	else
		wire_u64(w, which == 5 ? VHU_SET_VRING_KICK : VHU_SET_VRING_CALL, index, w->event);
}

static void act_number(struct wire *w)
{
	uint32_t num = HOST_PICK(
		w->h, ((const uint32_t[]){0, 3, 65, 32769, 65535, 65536, 1u << 31, UINT32_MAX}));
	uint32_t request =
		HOST_PICK(w->h, ((const uint32_t[]){VHU_SET_VRING_NUM, VHU_SET_VRING_NUM,
						    VHU_SET_VRING_BASE, VHU_SET_VRING_ENABLE}));

	host_say(w->h, "%s %u", vhu_request_name(request), num);
	wire_state(w, request, 0, num);
}

static void act_addresses(struct wire *w)
{
	uint64_t bad = HOST_PICK(w->h, ((const uint64_t[]){0, WIRE_USER - 1, WIRE_USER + WIRE_BYTES,
							   WIRE_USER + WIRE_BYTES - 8, UINT64_MAX,
							   WIRE_USER + 1, UINT64_MAX - 4096}));
	uint32_t which = (uint32_t)host_below(w->h, 3);

	host_say(w->h, "%s at %#llx",
		 ((const char *const[]){"descriptors", "available", "used"})[which],
		 (unsigned long long)bad);
	wire_addr(w, 0, which == 0 ? bad : WIRE_USER, which == 1 ? bad : WIRE_USER + 4096,
		  which == 2 ? bad : WIRE_USER + 8192);
}

static void act_table(struct wire *w)
{
	struct vhu_mem_region g = wire_region;
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
		g.mmap_offset =
			HOST_PICK(w->h, ((const uint64_t[]){1, WIRE_BYTES, 1ULL << 63, UINT64_MAX,
							    UINT64_MAX - 4095}));
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
	wire_table(w, nr, &g, regions, regions);
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
	wire_table(w, 1, &wire_region, 1, 1);
	wire_state(w, VHU_SET_VRING_NUM, 0, 64);
	wire_addr(w, 0, WIRE_USER + 8192, WIRE_USER + 16384, WIRE_USER + 32768);
	wire_u64(w, VHU_SET_VRING_KICK, 0, w->event);
	wire_state(w, VHU_SET_VRING_ENABLE, 0, 1);
}

static void act_slots(struct wire *w)
{
	bool add = host_below(w->h, 2);
	struct vhu_msg m = wire_make(add ? VHU_ADD_MEM_REG : VHU_REM_MEM_REG, 40);
	struct vhu_mem_region g = wire_region;

	g.gpa += HOST_PICK(w->h, ((const uint64_t[]){0, 4096, WIRE_BYTES}));
	g.user_addr += HOST_PICK(w->h, ((const uint64_t[]){0, 4096, WIRE_BYTES}));
	g.size = HOST_PICK(w->h, ((const uint64_t[]){0, 4096, WIRE_BYTES, 1ULL << 62}));
	m.payload.mem_reg.region = g;
	host_say(w->h, "%s of %llu bytes", add ? "addition" : "removal",
		 (unsigned long long)g.size);
	wire_message(w, &m, w->mem, add);
}

static void act_config(struct wire *w)
{
	struct vhu_msg m =
		wire_make(host_below(w->h, 2) ? VHU_GET_CONFIG : VHU_SET_CONFIG, 12 + 60);

	m.payload.config.offset = HOST_PICK(w->h, ((const uint32_t[]){0, 30, 256, UINT32_MAX}));
	m.payload.config.size = HOST_PICK(w->h, ((const uint32_t[]){0, 60, 256, 4096, UINT32_MAX}));
	host_say(w->h, "%u bytes from %u", m.payload.config.size, m.payload.config.offset);
	wire_message(w, &m, -1, 0);
}

/* A sound message, but not when it belongs. */
static void act_order(struct wire *w)
{
	uint32_t i = (uint32_t)host_below(w->h, WIRE_STEPS);

	host_say(w->h, "step %u", i);
	wire_step(w, i);
	wire_step(w, (uint32_t)host_below(w->h, WIRE_STEPS));
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
