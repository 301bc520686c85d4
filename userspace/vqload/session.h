/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mount, as Linux has one: INIT and what was negotiated by it, how often each node was looked up,
 * FORGETs for that, DESTROY. And the few calls that set-up needs, each one request and its reply.
 *
 * A session uses one engine, which has queue 1 and queue 0 (for FORGETs).
 */
#ifndef VQLOAD_SESSION_H
#define VQLOAD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "vqload/engine.h"

struct load_node_count; /* session.c */

struct load_session {
	struct load_engine *engine;
	uint32_t queue;               /* that calls go through: 1 */
	bool started;                 /* INIT was answered */
	struct fuse_init_out init;    /* the daemon's answer */
	uint64_t offered, flags;      /* ours; those that both have, 32..63 are flags2 */
	uint32_t minor;               /* of protocol 7, that both speak */
	uint32_t max_pages;           /* of one request, after the ring's limit */
	uint32_t max_write;           /* bytes of one WRITE */
	uint32_t max_read;            /* bytes of one READ */
	uint64_t nr_nodes;            /* known */
	struct load_node_count *node; /* hash of nodes; owned */
	uint64_t nr_buckets;
	char error[256]; /* of the last call that failed, with the path */
};

/*
 * Sends INIT as Linux 7.3 does and notes the limits: max_pages (32 without FUSE_MAX_PAGES) and what
 * fits a ring of the transport's queue size, as virtio_fs_get_tree() does: queue size - 4 pages.
 * 0; -EPROTO: not version 7; the error of the reply or the engine.
 */
int load_session_start(struct load_session *s, struct load_engine *e);
/* Forgets all nodes, sends DESTROY, frees. Harmless when not started, or after the daemon's end. */
void load_session_stop(struct load_session *s);
/* Frees without a word to the daemon. */
void load_session_free(struct load_session *s);

static inline bool load_session_has(const struct load_session *s, uint64_t flag)
{
	return s->flags & flag;
}

/* --- nodes ------------------------------------------------------------------------------- */

/* A reply brought @nodeid (0 and the root are not counted) @n times. 0, -ENOMEM. */
int load_session_know(struct load_session *s, uint64_t nodeid, uint64_t n);
/* How often it was looked up. */
uint64_t load_session_known(const struct load_session *s, uint64_t nodeid);
/* Sends FORGET for all of its lookups. */
int load_session_forget(struct load_session *s, uint64_t nodeid);
/* Sends FORGET for @n lookups that the caller counted itself. Waits for a free slot. */
int load_session_send_forget(struct load_session *s, uint64_t nodeid, uint64_t n);

/* --- calls ------------------------------------------------------------------------------- */

/* A held slot of s->queue, waiting for one if need be; NULL: the engine failed. */
struct load_slot *load_session_slot(struct load_session *s);
static inline struct load_head load_session_head(struct load_session *s, uint64_t nodeid)
{
	return load_engine_head(s->engine, nodeid);
}

/*
 * All return 0, the reply's error, -EIO for a reply that is no good, or the engine's error. Nodes
 * that replies bring are counted.
 */
int load_do_lookup(struct load_session *s, uint64_t dir, const char *name,
		   struct fuse_entry_out *entry);
int load_do_getattr(struct load_session *s, uint64_t nodeid, struct fuse_attr *attr);
int load_do_mkdir(struct load_session *s, uint64_t dir, const char *name, uint32_t mode,
		  struct fuse_entry_out *entry);
/* O_RDWR with @flags (O_EXCL, O_TRUNC). */
int load_do_create(struct load_session *s, uint64_t dir, const char *name, uint32_t flags,
		   uint32_t mode, struct fuse_entry_out *entry, uint64_t *fh);
int load_do_open(struct load_session *s, uint64_t nodeid, uint32_t flags, uint64_t *fh);
int load_do_release(struct load_session *s, uint64_t nodeid, uint64_t fh, uint32_t flags);
int load_do_opendir(struct load_session *s, uint64_t nodeid, uint64_t *fh);
int load_do_releasedir(struct load_session *s, uint64_t nodeid, uint64_t fh);
int load_do_unlink(struct load_session *s, uint64_t dir, const char *name);
int load_do_rmdir(struct load_session *s, uint64_t dir, const char *name);
/* Writes / reads as much as fits one request; *done says how much. */
int load_do_write(struct load_session *s, uint64_t nodeid, uint64_t fh, uint64_t offset,
		  const void *data, uint32_t size, uint32_t *done);
int load_do_read(struct load_session *s, uint64_t nodeid, uint64_t fh, uint64_t offset, void *data,
		 uint32_t size, uint32_t *done);
int load_do_truncate(struct load_session *s, uint64_t nodeid, uint64_t size);

#endif
