// SPDX-License-Identifier: GPL-2.0-or-later
/* The responder's rings: starting, serving, stopping. */
#include <errno.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fuse_abi.h"
#include "vqload/responder_priv.h"

/* Requests of one ring before others have their turn. */
#define FAIR_SHARE 64u

static int map_ring(const struct load_responder *r, const struct rsp_queue *q, struct vq_ring *ring)
{
	*ring = (struct vq_ring){
		.desc = rsp_user_at(r, q->addr.desc, vq_desc_bytes(q->num)),
		.avail = rsp_user_at(r, q->addr.avail, vq_avail_bytes(q->num)),
		.used = rsp_user_at(r, q->addr.used, vq_used_bytes(q->num)),
		.size = q->num,
	};
	return ring->desc && ring->avail && ring->used ? 0 : -EFAULT;
}

int rsp_queue_start(struct load_responder *r, uint32_t i)
{
	struct rsp_queue *q = &r->queue[i];
	struct vq_ring ring;

	if (!vq_size_valid(q->num) || !q->has_addr) {
		rsp_complain(r, "queue %u starts without %s", i,
			     q->has_addr ? "size" : "addresses");
		return -EINVAL;
	}
	if (!r->has_features) {
		rsp_complain(r, "queue %u starts before features were chosen", i);
		return -EINVAL;
	}
	if (map_ring(r, q, &ring) ||
	    vq_device_start(&q->dev, &ring, &r->mem, r->features, q->base)) {
		rsp_complain(r, "queue %u: its areas are not in memory, or not aligned", i);
		return -EFAULT;
	}
	if (r->opts.poll)
		vq_device_disable_kicks(&q->dev);
	q->started = true;
	q->held = q->mute = false;
	return 0;
}

static void tell(struct load_responder *r, struct rsp_queue *q)
{
	uint64_t one = 1;

	if (!vq_device_publish(&q->dev) || !vq_device_should_call(&q->dev))
		return;
	if (q->mute) {
		q->mute = false;
		return;
	}
	if (q->call_fd < 0)
		return;
	rsp_count(&r->stats.calls);
	/* EAGAIN: the counter is at its end, so the other side was told often enough. */
	if (write(q->call_fd, &one, sizeof(one)) < 0)
		return;
}

static void push_held(struct load_responder *r, struct rsp_queue *q)
{
	if (!q->held)
		return;
	q->held = false;
	if (!vq_device_push(&q->dev, &q->hold, 1))
		rsp_count(&r->stats.replies);
}

/* Late replies of queue @i, or of all (VHU_MAX_VRINGS), that are due at @now_ns. */
static int64_t push_late(struct load_responder *r, uint32_t i, int64_t now_ns)
{
	int64_t next = VHU_NO_DEADLINE;
	uint32_t kept = 0;

	for (uint32_t k = 0; k < r->nr_late; k++) {
		struct rsp_late l = r->late[k];
		struct rsp_queue *q = &r->queue[l.queue];

		if ((i != VHU_MAX_VRINGS && l.queue != i) || l.due_ns > now_ns) {
			next = l.due_ns < next ? l.due_ns : next;
			r->late[kept++] = l;
			continue;
		}
		if (q->started && !vq_device_push(&q->dev, &l.used, 1))
			rsp_count(&r->stats.replies);
		if (q->started)
			tell(r, q);
	}
	r->nr_late = kept;
	return next;
}

int64_t rsp_late_push(struct load_responder *r, int64_t now_ns)
{
	return r->nr_late ? push_late(r, VHU_MAX_VRINGS, now_ns) : VHU_NO_DEADLINE;
}

void rsp_queue_stop(struct load_responder *r, uint32_t i)
{
	struct rsp_queue *q = &r->queue[i];

	if (!q->started)
		return;
	push_late(r, i, VHU_NO_DEADLINE);
	push_held(r, q);
	tell(r, q);
	q->base = vq_device_base(&q->dev);
	q->started = false;
}

static void break_queue(struct load_responder *r, uint32_t i)
{
	struct rsp_queue *q = &r->queue[i];
	uint64_t one = 1;

	rsp_count(&r->stats.broken);
	rsp_complain(r, "queue %u breaks: %s", i, vq_fault_text(q->dev.pop.fault));
	if (q->err_fd >= 0 && write(q->err_fd, &one, sizeof(one)) < 0)
		return;
}

/* Whether this is the one in so many that goes wrong. */
static bool is_turn(struct load_responder *r, uint32_t opcode)
{
	if (!r->opts.every || opcode == FUSE_INIT || opcode == FUSE_FORGET ||
	    opcode == FUSE_BATCH_FORGET)
		return false;
	if (++r->count % r->opts.every)
		return false;
	rsp_count(&r->stats.misdeeds);
	return true;
}

bool rsp_queue_serve(struct load_responder *r, uint32_t i, uint32_t *done)
{
	struct rsp_queue *q = &r->queue[i];
	struct vq_chain c = {.iov = r->iov, .max_iov = RSP_IOV_MAX};
	uint32_t n = 0;
	int found = 0;

	while (n < FAIR_SHARE && (found = vq_device_pop(&q->dev, &c)) > 0) {
		struct vq_used u = {.head = c.head};
		uint32_t opcode;
		bool wrong;

		n++;
		rsp_count(&r->stats.requests);
		u.len = rsp_fuse(r, i, &c, &opcode);
		wrong = is_turn(r, opcode);
		if (wrong)
			u.len = rsp_spoil(r, &c, u.len);
		rsp_push(r, i, u, wrong);
	}
	if (found <= 0)
		push_held(r, q);
	tell(r, q);
	if (found < 0)
		break_queue(r, i);
	*done += n;
	return found > 0;
}
