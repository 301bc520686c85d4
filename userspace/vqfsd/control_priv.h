/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the control socket; all of it belongs to its thread. */
#ifndef VQFSD_CONTROL_PRIV_H
#define VQFSD_CONTROL_PRIV_H

#include <json-c/json.h>

#include "vqfsd/control.h"
#include "vqfsd/move.h"

enum fsd_pending { FSD_NOTHING, FSD_MOVING, FSD_DRAINING };

struct fsd_client {
	int fd; /* -1: free */
	char in[FSD_CONTROL_LINE];
	size_t in_len;
	bool skipping; /* the rest of a line that was too long */
	bool ended;    /* closed its side, or is to be closed when the answer is out */
	char *out;
	size_t out_len, out_done;
	bool send_stats;        /* the region goes with the answer's first byte */
	uint64_t stuck_ns;      /* since when the answer waits; 0: it does not */
	enum fsd_pending waits; /* for the effect of its command */
	struct json_object *reply;
	struct fsd_move move;
	uint32_t first, last; /* queues being drained */
	uint64_t since_ns;
};

/* How things were when the lease was given. */
struct fsd_saved {
	uint32_t workers, pool_size;
	struct {
		uint32_t worker, engine, threshold;
	} queue[VHU_MAX_VRINGS];
	cpu_set_t cpus[FSD_WORKERS_MAX];
};

struct fsd_control {
	struct fsd_device *dev;
	int listen_fd, stop_fd, quit_fd;
	pthread_t thread;
	bool quit;
	struct fsd_client client[FSD_CONTROL_CLIENTS];
	const struct fsd_client *holder; /* of the lease, or NULL */
	uint64_t generation;             /* of the last lease given */
	struct fsd_saved saved;
};

/* control_commands.c */

/* A command under way; its reply is c->reply. */
struct fsd_call {
	struct fsd_control *x;
	struct fsd_client *c;
	struct json_object *args;
};

enum { FSD_DONE, FSD_FAILED };

struct fsd_command {
	const char *name;
	int (*run)(const struct fsd_call *k); /* FSD_DONE, or _FAILED by fsd_command_fail() */
	bool changes;                         /* needs the lease */
	const char *keys[3];
};

extern const struct fsd_command fsd_commands[];
extern const size_t fsd_nr_commands;

/* Completes the reply if what it waits for has happened. */
void fsd_control_look(struct fsd_control *x, struct fsd_client *c);

/* control_line.c */

/* Executes a line; leaves the reply in c->reply, whole unless c->waits. */
void fsd_control_line(struct fsd_control *x, struct fsd_client *c, const char *line, size_t len);
int fsd_command_fail(const struct fsd_call *k, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* An error's reply. */
void fsd_control_fail(struct fsd_client *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A string argument without a byte of 0, or NULL. */
const char *fsd_command_text(const struct fsd_call *k, const char *key);

/* control_lease.c */
void fsd_control_save(struct fsd_control *x);
void fsd_control_revert(struct fsd_control *x);
/* What was drained is popped again. */
void fsd_control_undrain(struct fsd_control *x);

/* control_status.c */
void fsd_control_status(const struct fsd_control *x, struct json_object *reply);

#endif
