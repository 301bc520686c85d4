/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between conform.c, which runs checks and tells of them, and the files with the checks. A check
 * goes on while its expectations hold: each returns true when it is to stop.
 */
#ifndef VQLOAD_CONFORM_PRIV_H
#define VQLOAD_CONFORM_PRIV_H

#include "vqload/conform.h"
#include "vqload/fuse_reply.h"

struct conform {
	struct load_device d;
	struct load_session *s;
	struct load_slot *slot; /* that checks build into */
	uint64_t root;          /* the directory that everything is in */
	uint64_t dir;           /* of the check that runs, empty at its start */
	struct load_check_result *now;
};

typedef void conform_fn(struct conform *k);

struct conform_check {
	const char *name;
	conform_fn *run;
};

/* Groups, ended by a NULL name. */
extern const struct conform_check conform_names[], conform_dirs[], conform_data[];
extern const struct conform_check conform_others[];

/* A sender for @nodeid, and the slot's request: for a builder. */
struct load_head conform_head(struct conform *k, uint64_t nodeid);
#define REQ(k) (&(k)->slot->req)
/* Sends what was built with result @err; the reply's error. */
int conform_send(struct conform *k, int err);
static inline uint32_t conform_len(const struct conform *k)
{
	return load_slot_out_len(k->slot);
}

/* True, and the outcome is noted, if @err is not @expected (0, or negative). */
bool conform_not(struct conform *k, int err, int expected, const char *what);
bool conform_differs(struct conform *k, uint64_t got, uint64_t expected, const char *what);
/* Says that it failed. Returns true. */
bool conform_fail(struct conform *k, const char *what);

/* A file in k->dir with @len bytes, open for reading and writing. */
bool conform_make(struct conform *k, const char *name, const void *data, uint32_t len,
		  uint64_t *nodeid, uint64_t *fh);
bool conform_close(struct conform *k, uint64_t nodeid, uint64_t fh);
/* A closed file whose content is its name. */
bool conform_touch(struct conform *k, const char *name, uint64_t *nodeid);
/* A directory in k->dir. */
bool conform_mkdir(struct conform *k, const char *name, uint64_t *nodeid);
/* Whether @nodeid has this size. */
bool conform_size_is_not(struct conform *k, uint64_t nodeid, uint64_t size);

#endif
