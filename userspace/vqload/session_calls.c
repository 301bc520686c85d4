// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls that set-up and conformance need: one request, one reply. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "vqload/fuse_reply.h"
#include "vqload/session.h"

/* Sends what was built with result @err. Returns the reply's error. */
static int send(struct load_session *s, struct load_slot *slot, int err)
{
	return err ? err : load_call_status(s->engine, slot);
}

static int end(struct load_session *s, struct load_slot *slot, int err)
{
	load_slot_put(s->engine, slot);
	return err;
}

static int no_slot(struct load_session *s)
{
	int err = load_engine_status(s->engine);

	return err ? err : -EIO;
}

/* Of a reply with an entry. */
static int end_entry(struct load_session *s, struct load_slot *slot, int err,
		     struct fuse_entry_out *entry)
{
	if (!err)
		err = load_read_entry(slot->out, load_slot_out_len(slot), entry);
	if (!err && !entry->nodeid)
		err = -ENOENT;
	if (!err)
		err = load_session_know(s, entry->nodeid, 1);
	return end(s, slot, err);
}

int load_do_lookup(struct load_session *s, uint64_t dir, const char *name,
		   struct fuse_entry_out *entry)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, dir);
	return end_entry(s, slot, send(s, slot, load_build_lookup(&slot->req, &h, name)), entry);
}

int load_do_mkdir(struct load_session *s, uint64_t dir, const char *name, uint32_t mode,
		  struct fuse_entry_out *entry)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, dir);
	return end_entry(s, slot, send(s, slot, load_build_mkdir(&slot->req, &h, name, mode, 022)),
			 entry);
}

int load_do_getattr(struct load_session *s, uint64_t nodeid, struct fuse_attr *attr)
{
	struct load_slot *slot = load_session_slot(s);
	struct fuse_attr_out out;
	struct load_head h;
	int err;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, nodeid);
	err = send(s, slot, load_build_getattr(&slot->req, &h, NULL));
	if (!err)
		err = load_read_attr(slot->out, load_slot_out_len(slot), &out);
	if (!err)
		*attr = out.attr;
	return end(s, slot, err);
}

int load_do_create(struct load_session *s, uint64_t dir, const char *name, uint32_t flags,
		   uint32_t mode, struct fuse_entry_out *entry, uint64_t *fh)
{
	struct load_slot *slot = load_session_slot(s);
	struct fuse_open_out open;
	struct load_head h;
	int err;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, dir);
	err = send(s, slot, load_build_create(&slot->req, &h, name, O_RDWR | flags, mode, 022));
	if (!err)
		err = load_read_create(slot->out, load_slot_out_len(slot), entry, &open);
	if (!err)
		*fh = open.fh;
	return end_entry(s, slot, err, entry);
}

static int open_node(struct load_session *s, uint64_t nodeid, uint32_t flags, bool dir,
		     uint64_t *fh)
{
	struct load_slot *slot = load_session_slot(s);
	struct fuse_open_out open;
	struct load_head h;
	int err;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, nodeid);
	err = send(s, slot,
		   dir ? load_build_opendir(&slot->req, &h, flags)
		       : load_build_open(&slot->req, &h, flags));
	if (!err)
		err = load_read_open(slot->out, load_slot_out_len(slot), &open);
	if (!err)
		*fh = open.fh;
	return end(s, slot, err);
}

static int release_node(struct load_session *s, uint64_t nodeid, uint64_t fh, uint32_t flags,
			bool dir)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, nodeid);
	return end(s, slot,
		   send(s, slot,
			dir ? load_build_releasedir(&slot->req, &h, fh, flags)
			    : load_build_release(&slot->req, &h, fh, flags)));
}

int load_do_open(struct load_session *s, uint64_t nodeid, uint32_t flags, uint64_t *fh)
{
	return open_node(s, nodeid, flags, false, fh);
}

int load_do_release(struct load_session *s, uint64_t nodeid, uint64_t fh, uint32_t flags)
{
	return release_node(s, nodeid, fh, flags, false);
}

int load_do_opendir(struct load_session *s, uint64_t nodeid, uint64_t *fh)
{
	return open_node(s, nodeid, O_RDONLY | O_DIRECTORY, true, fh);
}

int load_do_releasedir(struct load_session *s, uint64_t nodeid, uint64_t fh)
{
	return release_node(s, nodeid, fh, O_RDONLY | O_DIRECTORY, true);
}

static int remove_name(struct load_session *s, uint64_t dir, const char *name, bool is_dir)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, dir);
	return end(s, slot,
		   send(s, slot,
			is_dir ? load_build_rmdir(&slot->req, &h, name)
			       : load_build_unlink(&slot->req, &h, name)));
}

int load_do_unlink(struct load_session *s, uint64_t dir, const char *name)
{
	return remove_name(s, dir, name, false);
}

int load_do_rmdir(struct load_session *s, uint64_t dir, const char *name)
{
	return remove_name(s, dir, name, true);
}

int load_do_write(struct load_session *s, uint64_t nodeid, uint64_t fh, uint64_t offset,
		  const void *data, uint32_t size, uint32_t *done)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;
	int err;

	if (!slot)
		return no_slot(s);
	if (size > s->max_write)
		size = s->max_write;
	if (size > slot->data_cap)
		size = slot->data_cap;
	memcpy(slot->data, data, size);
	h = load_session_head(s, nodeid);
	err = send(s, slot, load_build_write(&slot->req, &h, fh, offset, size));
	if (!err)
		err = load_read_count(slot->out, load_slot_out_len(slot), done);
	return end(s, slot, err);
}

int load_do_read(struct load_session *s, uint64_t nodeid, uint64_t fh, uint64_t offset, void *data,
		 uint32_t size, uint32_t *done)
{
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;
	int err;

	if (!slot)
		return no_slot(s);
	if (size > s->max_read)
		size = s->max_read;
	if (size > slot->data_cap)
		size = slot->data_cap;
	h = load_session_head(s, nodeid);
	err = send(s, slot, load_build_read(&slot->req, &h, fh, offset, size));
	*done = err ? 0 : load_reply_data_len(&slot->req, slot->used);
	if (*done)
		memcpy(data, slot->data, *done);
	return end(s, slot, err);
}

int load_do_truncate(struct load_session *s, uint64_t nodeid, uint64_t size)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE, .size = size};
	struct load_slot *slot = load_session_slot(s);
	struct load_head h;

	if (!slot)
		return no_slot(s);
	h = load_session_head(s, nodeid);
	return end(s, slot, send(s, slot, load_build_setattr(&slot->req, &h, &in)));
}
