/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the hostile guest. */
#ifndef VQLOAD_HOSTILE_PRIV_H
#define VQLOAD_HOSTILE_PRIV_H

#include <sys/types.h>

#include "common/cleanup.h"
#include "vqload/fuse_ops.h"
#include "vqload/hostile.h"
#include "vqload/rng.h"
#include "vqload/transport.h"

/* Guest memory of a case: request, reply between guards, indirect tables. */
#define HOST_IN_BYTES    (64u << 10)
#define HOST_OUT_BYTES   (64u << 10)
#define HOST_TABLE_BYTES (64u << 10)
#define HOST_GUARD       64u
#define HOST_SCRATCH     "vqload-hostile"
#define HOST_QUEUE       1u
/* How long a reaction to something malformed is waited for. */
#define HOST_SETTLE_MS   30u

struct host_area {
	uint8_t *at;
	uint64_t gpa;
};

enum host_family { HOST_RING, HOST_FUSE, HOST_PROTO };

struct host {
	const struct load_hostile_options *o;
	struct load_hostile_report *r;
	uint64_t rng;
	pid_t child;      /* the daemon, when we started it */
	int exit_status;  /* of the last one that ended by itself; -1: none did in this case */
	bool was_closed;  /* PROTO: the daemon closed the connection */
	bool must_reopen; /* memory or session are not as they were */
	bool up, was_up;
	struct load_transport t;
	struct host_area in, out, table, spare; /* spare: in a region that can be removed */
	uint32_t out_room;                      /* of the last request: its guards lie around it */
	uint64_t unique;
	uint64_t root_ino, scratch_ino;
	uint64_t scratch, sub, file, fh;
	char detail[64];         /* what the case did, for its finding */
	enum load_outcome found; /* by the case itself; LOAD_ANSWERED: nothing */
};

struct host_kind {
	const char *name;
	void (*run)(struct host *h);
};

extern const struct host_kind host_ring_kinds[], host_fuse_kinds[], host_proto_kinds[];
extern const uint32_t host_ring_nr, host_fuse_nr, host_proto_nr;

static inline uint64_t host_below(struct host *h, uint64_t n)
{
	return load_rng_below(&h->rng, n);
}
void host_random(struct host *h, void *to, size_t len);
/* Bytes that count for the digest. */
void host_digest(struct host *h, const void *data, size_t len);
#define HOST_PICK(h, array) ((array)[host_below(h, ARRAY_SIZE(array))])
/* Notes what the case does. */
void host_say(struct host *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* hostile_link.c: the daemon and the way to it. */
/* Connects (starting the daemon, if it is ours and not there), mounts, makes the scratch
 * directory. 0; -ETIMEDOUT: not in time; -ECONNREFUSED: gone for good; others. r->error. */
int host_open(struct host *h);
void host_close(struct host *h);
/* Ends the daemon that we started. */
void host_kill(struct host *h);
/* Looks whether our daemon ended; true: it is not running (any more). */
bool host_ended(struct host *h);
/* Gives it a moment to end, as some do with their connection. */
void host_await_end(struct host *h);
/* Starts it if it is ours and ended: 0 or -errno. */
int host_ensure(struct host *h);
/* Stops the queue, forgets what is in flight, starts it: 0 or -errno of the transport. */
int host_restart_queue(struct host *h);

/* hostile_call.c: requests */
struct load_head host_head(struct host *h, uint64_t nodeid);
/*
 * Sends in[0 .. in_size) with room for @room bytes of reply through @queue; waits for the buffers
 * to come back. Returns the used length, or -ETIMEDOUT, -ECONNRESET, ...
 */
int64_t host_exchange(struct host *h, uint32_t queue, uint32_t in_size, uint32_t room,
		      uint32_t wait_ms);
/* As built; the reply's error, -EIO when it is no reply to this, or as host_exchange(). */
int host_call(struct host *h, const struct load_req *r, uint32_t *used);
/* GETATTR of the root: 0, -EBADMSG when the answer is no good, or as host_exchange(). */
int host_health(struct host *h);
/* INIT and the scratch directory. */
int host_mount(struct host *h);
int host_init(struct host *h);
/* Whether the guards around the reply buffer are whole. */
bool host_guards(struct host *h);
/* Room for a reply of @room bytes, at the end of the area, guards around. Its address. */
uint64_t host_lay(struct host *h, uint32_t room);
uint8_t *host_out(struct host *h);

#endif
