/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs jobs against a daemon: connects, mounts, lays files out, loads, cleans up, and leaves what
 * was measured in a report. Also what `run`, `check` and `hostile` share: the way from the command
 * line's options to a mounted device (load_device_open()).
 */
#ifndef VQLOAD_RUN_H
#define VQLOAD_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "vqload/engine.h"
#include "vqload/job.h"
#include "vqload/report.h"
#include "vqload/session.h"
#include "vqload/transport.h"

#define LOAD_HIPRIO_SLOTS 64u

/* FORGETs in flight: that many, where the ring holds as many. */
static inline uint32_t load_hiprio_slots(uint32_t queue_size)
{
	return queue_size < LOAD_HIPRIO_SLOTS ? queue_size : LOAD_HIPRIO_SLOTS;
}

/* Documented in vqload(1), section EXIT STATUS; tested. */
enum load_exit {
	LOAD_EXIT_CLEAN = 0,
	LOAD_EXIT_FAULTS = 1,  /* judged, and not clean; check: an opcode failed */
	LOAD_EXIT_USAGE = 2,   /* command line or job file */
	LOAD_EXIT_CONNECT = 3, /* no such socket, nobody listens, no vhost-user daemon */
	LOAD_EXIT_LACKS = 4,   /* the daemon lacks what is asked: queues, mostly */
	LOAD_EXIT_CLOSED = 5,  /* the daemon closed the connection, or died */
	LOAD_EXIT_TIMEOUT = 6, /* no answer in time */
	LOAD_EXIT_OUTPUT = 7,  /* output could not be written */
	LOAD_EXIT_SHARE = 8,   /* the share is read-only, full, or lets nothing be made */
	LOAD_EXIT_FAILED = 9,  /* something else, such as memory; the message says what */
};

/* What the command line says about the device. */
struct load_device_options {
	const char *socket;
	uint32_t request_queues; /* 0: all that the daemon has */
	uint32_t queue_size;
	uint32_t regions;
	bool adjacent;
	bool poll;
	bool wait;           /* for the socket to appear */
	uint64_t timeout_ns; /* of every step, and of silence */
	uint64_t features_off;
	uint32_t details; /* findings shown in full */
	bool guard_all;
};

/* A mounted device, with one engine over all of its queues. */
struct load_device {
	struct load_device_options opts;
	struct load_transport transport;
	struct load_engine *engine;
	struct load_session session;
	int err;         /* of the step that failed */
	bool connected;  /* it got as far as this before */
	char error[768]; /* the whole message */
};

/*
 * Connects, starts, sends INIT. Every request queue gets @slots slots of @data_bytes, hiprio
 * load_hiprio_slots() of none. An exit code; when it is not LOAD_EXIT_CLEAN d->error is the
 * message, with what is known of stock daemons. load_device_close() in any case.
 */
enum load_exit load_device_open(struct load_device *d, const struct load_device_options *o,
				uint32_t in_bytes, uint32_t slots, uint32_t data_bytes);
/* The two steps of it, for those who set up engines of their own in between. */
enum load_exit load_device_connect(struct load_device *d, const struct load_device_options *o);
/* @region_bytes: of guest memory, each region. */
enum load_exit load_device_start(struct load_device *d, uint64_t region_bytes);
enum load_exit load_device_mount(struct load_device *d, struct load_engine *e);
/* Forgets, DESTROY (if the daemon still answers), stops the queues, frees all. */
void load_device_close(struct load_device *d);
/* Which exit code an error of the engine or of the transport is; adds to d->error what is known. */
enum load_exit load_device_exit(struct load_device *d, int err, const char *text);

struct load_run_options {
	struct load_device_options device;
	uint32_t threads;                  /* at least 1; queues are dealt out over them */
	bool progress;                     /* a line a second on stderr */
	bool keep;                         /* leave the files */
	const volatile sig_atomic_t *stop; /* ends early, with the report */
};

/*
 * Runs @jobs (load_jobs_finish() came before). Fills @r, which the caller frees by
 * load_report_free() in any case; r->error says what went wrong, if the code is not CLEAN or
 * FAULTS.
 */
enum load_exit load_run(const struct load_run_options *o, struct load_jobs *jobs,
			struct load_report *r);

#endif
