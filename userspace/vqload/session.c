// SPDX-License-Identifier: GPL-2.0-or-later
/* INIT, DESTROY, and which nodes the daemon must remember for us. */
#include "vqload/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vqload/fuse_reply.h"
#include "vqload/rng.h"

/* fs/fuse/inode.c and virtio_fs.c of Linux 7.3. */
#define PAGES_WITHOUT_FLAG 32u  /* FUSE_DEFAULT_MAX_PAGES_PER_REQ */
#define PAGES_LIMIT        256u /* default of fs.fuse.max_pages_limit */
#define PAGES_OVERHEAD     4u   /* FUSE_HEADER_OVERHEAD: descriptors that are not data */
#define WRITE_MIN          4096u

struct load_node_count {
	uint64_t nodeid; /* 0: empty bucket */
	uint64_t count;
};

static int fail(struct load_session *s, int err, const char *what)
{
	int engine = load_engine_status(s->engine);

	if (engine)
		snprintf(s->error, sizeof(s->error), "%s", load_engine_error(s->engine));
	else
		snprintf(s->error, sizeof(s->error), "%s: %s", what, strerror(-err));
	return engine ? engine : err;
}

/* --- nodes ------------------------------------------------------------------------------- */

static struct load_node_count *find(const struct load_session *s, uint64_t nodeid)
{
	uint64_t at = load_mix64(nodeid);

	if (!s->nr_buckets)
		return NULL;
	while (s->node[at & (s->nr_buckets - 1)].nodeid &&
	       s->node[at & (s->nr_buckets - 1)].nodeid != nodeid)
		at++;
	return &s->node[at & (s->nr_buckets - 1)];
}

static int grow(struct load_session *s)
{
	struct load_node_count *old = s->node;
	uint64_t nr = s->nr_buckets, more = nr ? 2 * nr : 256;
	struct load_node_count *node = calloc(more, sizeof(*node));

	if (!node)
		return -ENOMEM;
	s->node = node;
	s->nr_buckets = more;
	s->nr_nodes = 0;
	for (uint64_t i = 0; i < nr; i++) {
		if (!old[i].count)
			continue;
		*find(s, old[i].nodeid) = old[i];
		s->nr_nodes++;
	}
	free(old);
	return 0;
}

int load_session_know(struct load_session *s, uint64_t nodeid, uint64_t n)
{
	struct load_node_count *c;

	if (!nodeid || nodeid == FUSE_ROOT_ID)
		return 0;
	/* Forgotten nodes keep their bucket until the table grows. */
	if (4 * (s->nr_nodes + 1) > 3 * s->nr_buckets && grow(s))
		return -ENOMEM;
	c = find(s, nodeid);
	if (!c->nodeid)
		s->nr_nodes++;
	c->nodeid = nodeid;
	c->count += n;
	return 0;
}

uint64_t load_session_known(const struct load_session *s, uint64_t nodeid)
{
	const struct load_node_count *c = find(s, nodeid);

	return c ? c->count : 0;
}

int load_session_send_forget(struct load_session *s, uint64_t nodeid, uint64_t n)
{
	struct load_head h = load_session_head(s, nodeid);
	struct load_slot *slot;
	int err;

	while (!(slot = load_slot_get(s->engine, 0)))
		if (load_engine_wait(s->engine, UINT64_MAX) < 0)
			return load_engine_status(s->engine);
	slot->uncounted = true;
	err = load_build_forget(&slot->req, &h, n);
	while (!err && (err = load_engine_submit(s->engine, slot, 0)) == -ENOSPC) {
		err = load_engine_wait(s->engine, UINT64_MAX);
		err = err < 0 ? err : 0;
	}
	if (err)
		load_slot_put(s->engine, slot);
	return err;
}

int load_session_forget(struct load_session *s, uint64_t nodeid)
{
	struct load_node_count *c = find(s, nodeid);
	uint64_t n = c ? c->count : 0;

	if (!n)
		return 0;
	c->count = 0;
	return load_session_send_forget(s, nodeid, n);
}

/* --- begin and end ----------------------------------------------------------------------- */

struct load_slot *load_session_slot(struct load_session *s)
{
	struct load_slot *slot;

	load_engine_tick(s->engine);
	while (!(slot = load_slot_get(s->engine, s->queue)))
		if (load_engine_wait(s->engine, UINT64_MAX) < 0)
			return NULL;
	slot->uncounted = true;
	return slot;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* process_init_reply() of fs/fuse/inode.c. */
static void settle(struct load_session *s, const struct load_init *offer)
{
	const struct fuse_init_out *o = &s->init;
	uint32_t ring = load_engine_transport(s->engine)->opts.queue_size;
	uint64_t bytes;

	s->offered = offer->flags;
	s->flags = o->flags;
	if (o->flags & FUSE_INIT_EXT)
		s->flags |= (uint64_t)o->flags2 << 32;
	s->flags &= offer->flags;
	s->minor = least(o->minor, offer->minor);
	s->max_pages = PAGES_WITHOUT_FLAG;
	if (s->flags & FUSE_MAX_PAGES)
		s->max_pages = least(o->max_pages ? o->max_pages : 1, PAGES_LIMIT);
	s->max_pages = least(s->max_pages, ring > PAGES_OVERHEAD ? ring - PAGES_OVERHEAD : 1);
	bytes = (uint64_t)s->max_pages * LOAD_PAGE;
	s->max_write = o->max_write > WRITE_MIN ? o->max_write : WRITE_MIN;
	s->max_write = least(s->max_write, (uint32_t)bytes);
	s->max_read = (uint32_t)bytes;
}

int load_session_start(struct load_session *s, struct load_engine *e)
{
	struct load_init offer;
	struct load_slot *slot;
	struct load_head h;
	int err;

	*s = (struct load_session){.engine = e, .queue = 1};
	load_init_linux(&offer);
	slot = load_session_slot(s);
	if (!slot)
		return fail(s, -EIO, "INIT");
	h = load_session_head(s, 0);
	err = load_build_init(&slot->req, &h, &offer);
	if (!err)
		err = load_call_status(e, slot);
	if (!err)
		err = load_read_init(slot->out, load_slot_out_len(slot), &s->init);
	if (!err && s->init.major != FUSE_KERNEL_VERSION)
		err = -EPROTO;
	load_slot_put(e, slot);
	if (err)
		return fail(s, err, "INIT");
	settle(s, &offer);
	s->started = true;
	return 0;
}

void load_session_free(struct load_session *s)
{
	free(s->node);
	s->node = NULL;
	s->nr_buckets = s->nr_nodes = 0;
	s->started = false;
}

void load_session_stop(struct load_session *s)
{
	struct load_slot *slot;
	struct load_head h;

	if (!s->started)
		return;
	for (uint64_t i = 0; i < s->nr_buckets && !load_engine_status(s->engine); i++)
		if (s->node[i].count)
			load_session_forget(s, s->node[i].nodeid);
	if (!load_engine_status(s->engine) && !load_engine_drain(s->engine) &&
	    (slot = load_session_slot(s))) {
		h = load_session_head(s, 0);
		if (!load_build_destroy(&slot->req, &h))
			load_call_status(s->engine, slot);
		load_slot_put(s->engine, slot);
	}
	load_session_free(s);
}
