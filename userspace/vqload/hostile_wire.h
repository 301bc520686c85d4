/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection of the hostile front-end: messages as they are, sound and not. */
#ifndef VQLOAD_HOSTILE_WIRE_H
#define VQLOAD_HOSTILE_WIRE_H

#include "vqload/hostile_priv.h"

/* The memory that is shared, at numbers that need not be anybody's addresses. */
#define WIRE_BYTES    (1u << 20)
#define WIRE_GPA      (1ULL << 30)
#define WIRE_USER     (1ULL << 44)
#define WIRE_MANY_FDS 64u

#define WIRE_STEPS 12u

extern const struct vhu_mem_region wire_region;

struct wire {
	struct host *h;
	int sock, mem, event;
	uint64_t features, protocol;
	bool after; /* the act is done: how much is still sent is for the daemon to say */
};

void wire_close(struct wire *w);
/* Connects, starting the daemon if it is ours and ended; false: not in time. */
bool wire_dial(struct wire *w);
/* Sends bytes as they are, with @nr_fds times @fd. */
void wire_raw(struct wire *w, const void *bytes, size_t len, int fd, uint32_t nr_fds);
/* Waits for an answer, and throws it away but for its number; false: none, or the end. */
bool wire_hear(struct wire *w, uint32_t ms, uint64_t *u64);
void wire_message(struct wire *w, const struct vhu_msg *m, int fd, uint32_t nr_fds);
struct vhu_msg wire_make(uint32_t request, uint32_t bytes);
void wire_u64(struct wire *w, uint32_t request, uint64_t v, int fd);
void wire_state(struct wire *w, uint32_t request, uint32_t index, uint32_t num);
void wire_addr(struct wire *w, uint32_t index, uint64_t desc, uint64_t avail, uint64_t used);
/* A table that says @nr regions, with @regions_sent times the same, and so many descriptors. */
void wire_table(struct wire *w, uint32_t nr, const struct vhu_mem_region *region,
		uint32_t regions_sent, uint32_t fds);
/* Step @i of a sound negotiation. */
void wire_step(struct wire *w, uint32_t i);

#endif
