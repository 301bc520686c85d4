// SPDX-License-Identifier: GPL-2.0-or-later
/* The hostile guest's own requests: one at a time, also sound ones. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "vqload/fuse_reply.h"
#include "vqload/hostile_priv.h"
#include "vqload/judge.h"

void host_random(struct host *h, void *to, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v = load_rng(&h->rng);

		memcpy((uint8_t *)to + i, &v, len - i < 8 ? len - i : 8);
	}
}

void host_digest(struct host *h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h->r->digest = load_mix64(h->r->digest ^ p[i]) + i;
}

struct load_head host_head(struct host *h, uint64_t nodeid)
{
	h->unique += LOAD_UNIQUE_STEP;
	return (struct load_head){.unique = h->unique, .nodeid = nodeid, .pid = 1};
}

/* --- the reply's place ----------------------------------------------------------------------- */

uint64_t host_lay(struct host *h, uint32_t room)
{
	uint64_t at = HOST_OUT_BYTES / 2;

	h->out_room = room;
	memset(h->out.at + at, 0, room);
	load_guard_fill(h->out.at + at - HOST_GUARD, HOST_GUARD, 1);
	load_guard_fill(h->out.at + at + room, HOST_GUARD, 2);
	return h->out.gpa + at;
}

uint8_t *host_out(struct host *h)
{
	return h->out.at + HOST_OUT_BYTES / 2;
}

bool host_guards(struct host *h)
{
	uint8_t *at = host_out(h);

	return load_guard_check(at - HOST_GUARD, HOST_GUARD, 1) < 0 &&
	       load_guard_check(at + h->out_room, HOST_GUARD, 2) < 0;
}

/* --- one exchange ---------------------------------------------------------------------------- */

/* Until the request with @token is back; others are thrown away. */
static int64_t await(struct host *h, uint32_t queue, uint64_t token, uint32_t wait_ms)
{
	int64_t deadline = vhu_deadline(wait_ms);
	struct vq_driver *d = &h->t.queue[queue].driver;

	for (;;) {
		struct vq_reply r;
		int found = vq_driver_get_used(d, &r), err;

		if (found > 0 || r.fault == VQ_FAULT_USED_LENGTH) {
			if (r.token == token)
				return r.len;
		} else if (found < 0 && d->broken) {
			return -EBADMSG;
		}
		/* Others may come for ever. */
		if (vhu_deadline(0) > deadline)
			return -ETIMEDOUT;
		if (found || vq_driver_enable_calls(d))
			continue;
		err = load_wait_call(&h->t, queue, deadline);
		if (err && !vq_driver_has_used(d))
			return err;
	}
}

int64_t host_exchange(struct host *h, uint32_t queue, uint32_t in_size, uint32_t room,
		      uint32_t wait_ms)
{
	struct load_queue *q = &h->t.queue[queue];
	struct vq_range range[2] = {{h->in.gpa, in_size}, {host_lay(h, room), room}};
	bool table = h->t.features >> VIRTIO_RING_F_INDIRECT_DESC & 1;
	uint64_t token = ++h->unique;
	int head;

	/* unique stays even. */
	h->unique++;
	if (in_size)
		head = vq_driver_add(&q->driver, range, 1, room ? 1 : 0, table && room, token);
	else
		head = vq_driver_add(&q->driver, range + 1, 0, 1, false, token);
	if (head < 0)
		return head;
	load_submit(q);
	return await(h, queue, token, wait_ms);
}

int host_call(struct host *h, const struct load_req *r, uint32_t *used)
{
	uint32_t room = r->out_size + r->out_data_size;
	struct fuse_out_header head;
	int64_t n = host_exchange(h, r->hiprio ? 0 : HOST_QUEUE, r->in_size + r->in_data_size, room,
				  h->o->timeout_ms);

	if (used)
		*used = n > 0 ? (uint32_t)n : 0;
	if (n < 0)
		return (int)n;
	if (!room)
		return 0;
	if (n > room || load_read_header(host_out(h), (size_t)n, &head) || head.len != n ||
	    head.unique != r->unique)
		return -EBADMSG;
	return head.error > 0 || head.error <= -512 ? -EBADMSG : head.error;
}

/* --- sound requests -------------------------------------------------------------------------- */

static struct load_req fresh(struct host *h)
{
	struct load_req r;

	load_req_init(&r, h->in.at, HOST_IN_BYTES);
	return r;
}

int host_health(struct host *h)
{
	struct load_head head = host_head(h, FUSE_ROOT_ID);
	struct load_req r = fresh(h);
	struct fuse_attr_out attr;
	uint32_t used;
	int err;

	load_build_getattr(&r, &head, NULL);
	err = host_call(h, &r, &used);
	/* An error of the reply, as opposed to none at all. */
	if (err < 0 && used)
		return -EBADMSG;
	if (err)
		return err;
	if (load_read_attr(host_out(h), used, &attr))
		return -EBADMSG;
	if (!h->root_ino)
		h->root_ino = attr.attr.ino;
	return attr.attr.ino == h->root_ino && host_guards(h) ? 0 : -EBADMSG;
}

int host_init(struct host *h)
{
	struct load_head head = host_head(h, 0);
	struct load_req r = fresh(h);
	struct load_init init;

	load_init_linux(&init);
	load_build_init(&r, &head, &init);
	return host_call(h, &r, NULL);
}

/* A directory, made or found. */
static int directory(struct host *h, uint64_t parent, const char *name, uint64_t *nodeid)
{
	struct load_head head = host_head(h, parent);
	struct load_req r = fresh(h);
	struct fuse_entry_out entry;
	uint32_t used;
	int err;

	load_build_mkdir(&r, &head, name, 0755, 022);
	err = host_call(h, &r, &used);
	if (err == -EEXIST) {
		head = host_head(h, parent);
		r = fresh(h);
		load_build_lookup(&r, &head, name);
		err = host_call(h, &r, &used);
	}
	if (!err)
		err = load_read_entry(host_out(h), used, &entry);
	if (!err)
		*nodeid = entry.nodeid;
	if (!err && parent == FUSE_ROOT_ID)
		h->scratch_ino = entry.attr.ino;
	return err;
}

static int file(struct host *h)
{
	struct load_head head = host_head(h, h->scratch);
	struct load_req r = fresh(h);
	struct fuse_entry_out entry;
	struct fuse_open_out opened;
	uint32_t used;
	int err;

	load_build_create(&r, &head, "file", O_RDWR, 0644, 022);
	err = host_call(h, &r, &used);
	if (err && err != -EEXIST)
		return err;
	if (!err) {
		err = load_read_create(host_out(h), used, &entry, &opened);
		h->file = entry.nodeid;
		h->fh = opened.fh;
		return err;
	}
	head = host_head(h, h->scratch);
	r = fresh(h);
	load_build_lookup(&r, &head, "file");
	err = host_call(h, &r, &used);
	if (err || load_read_entry(host_out(h), used, &entry))
		return err ? err : -EBADMSG;
	h->file = entry.nodeid;
	head = host_head(h, h->file);
	r = fresh(h);
	load_build_open(&r, &head, O_RDWR);
	err = host_call(h, &r, &used);
	if (!err)
		err = load_read_open(host_out(h), used, &opened);
	h->fh = err ? 0 : opened.fh;
	return err;
}

int host_mount(struct host *h)
{
	uint64_t inner;
	int err = host_init(h);

	if (!err)
		err = host_health(h);
	if (!err)
		err = directory(h, FUSE_ROOT_ID, HOST_SCRATCH, &h->scratch);
	if (!err)
		err = directory(h, h->scratch, "sub", &h->sub);
	if (!err)
		err = directory(h, h->sub, "inner", &inner);
	return err ? err : file(h);
}
