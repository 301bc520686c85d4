/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responder: a small virtio-fs daemon inside the calling process, on a thread of its own. It
 * is what vqload is tested against and what its own cost is measured with; it serves files that
 * exist in memory only, and touches nothing outside but its socket.
 *
 *	socket -> messages (responder_proto.c) -> memory, rings
 *	kick -> pop -> FUSE (responder_fuse.c) -> [a fault put in] -> push -> call
 *
 * It is strict: what a front-end should not do is counted and told (complaint), whether it is
 * refused or not, so that a run against it also tests the front-end. Nothing that comes in ends the
 * process. On request it does wrong what a daemon may do wrong (enum load_misdeed).
 */
#ifndef VQLOAD_RESPONDER_H
#define VQLOAD_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

/* What is done wrong with one request, or with its reply. Names are stable: options use them. */
enum load_misdeed {
	LOAD_DO_NONE,
	LOAD_DO_LENGTH,     /* "length": the ring's length is not the header's */
	LOAD_DO_DUPLICATE,  /* "duplicate": the head is pushed twice */
	LOAD_DO_UNKNOWN,    /* "unknown": a head comes that is not in flight */
	LOAD_DO_LOST,       /* "lost": never answered */
	LOAD_DO_REORDER,    /* "reorder": answered after the next one; not wrong */
	LOAD_DO_LATE,       /* "late": answered after late_ms */
	LOAD_DO_UNIQUE,     /* "unique": the header names another request */
	LOAD_DO_ERROR_LOW,  /* "error_low": error -600 */
	LOAD_DO_ERROR_HIGH, /* "error_high": error +5 */
	LOAD_DO_ERROR_LONG, /* "error_long": an error reply with more than the header */
	LOAD_DO_TRUNCATED,  /* "truncated": less than a header */
	LOAD_DO_TOO_LONG,   /* "too_long": the ring says more than was asked for */
	LOAD_DO_TOO_SHORT,  /* "too_short": a header where arguments belong */
	LOAD_DO_GUARD,      /* "guard": bytes before and behind the buffer are overwritten */
	LOAD_DO_NO_CALL,    /* "no_call": answered, but nobody is told */
	LOAD_DO_SPURIOUS,   /* "spurious": a call for nothing before the reply; not wrong */
	LOAD_DO_USED_JUMP,  /* "used_jump": the used index runs ahead by more than the ring */
	LOAD_MISDEEDS,
};

const char *load_misdeed_name(enum load_misdeed m);
/* By name; LOAD_MISDEEDS: none is called so. */
enum load_misdeed load_misdeed_named(const char *name);

struct load_responder_options {
	const char *socket; /* path to listen on, which must not exist; NULL: see @fd */
	int fd;             /* instead: a connected socket, taken over; one connection only */
	uint32_t queues;    /* request queues, 1 .. 255 */
	bool poll;          /* look at the rings without sleep, and want no kicks */
	int cpu;            /* that the thread runs on; -1: any */
	uint64_t features_off, protocol_off; /* bits not to offer */
	enum load_misdeed misdeed;
	uint32_t every;   /* each so many-th request, INIT and FORGET not counted; 0: none */
	uint32_t late_ms; /* LOAD_DO_LATE */
	/* Told of each complaint, on the responder's thread; may be NULL. */
	void (*complain)(void *context, const char *text);
	void *context;
};

#define LOAD_RESPONDER_OPTIONS_DEFAULT                          \
	{                                                       \
		.fd = -1, .queues = 1, .cpu = -1, .late_ms = 50 \
	}

struct load_responder_stats {
	uint64_t connections, messages;
	uint64_t requests; /* popped */
	uint64_t replies;  /* pushed */
	uint64_t kicks, calls;
	uint64_t complaints; /* what a front-end should not have sent */
	uint64_t broken;     /* of these, rings that broke */
	uint64_t misdeeds;   /* done */
};

struct load_responder;

/* Listens, but serves nobody yet. 0 and *out; -EINVAL, -ENOMEM, or errors of socket(2), bind(2). */
int load_responder_new(const struct load_responder_options *o, struct load_responder **out);
/* Halts, closes the connection, removes the socket. NULL is fine. */
void load_responder_free(struct load_responder *r);
static inline void load_responder_freep(struct load_responder **r)
{
	load_responder_free(*r);
}

/* Starts its thread: 0, or -errno. */
int load_responder_start(struct load_responder *r);
/* Ends the thread; connection, memory and rings stay as they are, for start or serve. */
void load_responder_halt(struct load_responder *r);
/*
 * Serves what waits on all rings, once, on the caller's thread; only while halted. Returns the
 * number of requests.
 */
uint32_t load_responder_serve(struct load_responder *r);

/* As of now; any thread. */
void load_responder_stats(const struct load_responder *r, struct load_responder_stats *out);
/* CPU time of its thread since the start, ns; 0 while halted. */
uint64_t load_responder_cpu_ns(const struct load_responder *r);

#endif
