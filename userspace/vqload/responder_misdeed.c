// SPDX-License-Identifier: GPL-2.0-or-later
/* What a daemon may do wrong, done on purpose. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>

#include "common/cleanup.h"
#include "common/fuse_abi.h"
#include "vqload/responder_priv.h"

#define REPLY     sizeof(struct fuse_out_header)
#define ASLEEP_MS 10

static const char *const names[] = {
	[LOAD_DO_NONE] = "none",
	[LOAD_DO_LENGTH] = "length",
	[LOAD_DO_DUPLICATE] = "duplicate",
	[LOAD_DO_UNKNOWN] = "unknown",
	[LOAD_DO_LOST] = "lost",
	[LOAD_DO_REORDER] = "reorder",
	[LOAD_DO_LATE] = "late",
	[LOAD_DO_UNIQUE] = "unique",
	[LOAD_DO_ERROR_LOW] = "error_low",
	[LOAD_DO_ERROR_HIGH] = "error_high",
	[LOAD_DO_ERROR_LONG] = "error_long",
	[LOAD_DO_TRUNCATED] = "truncated",
	[LOAD_DO_TOO_LONG] = "too_long",
	[LOAD_DO_TOO_SHORT] = "too_short",
	[LOAD_DO_GUARD] = "guard",
	[LOAD_DO_NO_CALL] = "no_call",
	[LOAD_DO_SPURIOUS] = "spurious",
	[LOAD_DO_USED_JUMP] = "used_jump",
};
_Static_assert(ARRAY_SIZE(names) == LOAD_MISDEEDS, "every misdeed has a name");

const char *load_misdeed_name(enum load_misdeed m)
{
	return m >= 0 && m < LOAD_MISDEEDS ? names[m] : "none";
}

enum load_misdeed load_misdeed_named(const char *name)
{
	int m = 0;

	while (m < LOAD_MISDEEDS && strcasecmp(names[m], name))
		m++;
	return (enum load_misdeed)m;
}

/* Sixteen bytes around @at, where they are memory of the guest. */
static void overwrite(const struct load_responder *r, const char *at)
{
	for (uint32_t i = 0; i < r->mem.nr; i++) {
		char *addr = r->mem.region[i].addr;
		uint64_t size = r->mem.region[i].size;

		if (at >= addr && (uint64_t)(at - addr) < size && size - (uint64_t)(at - addr) >= 8)
			memset((char *)(uintptr_t)at, 0xee, 8);
	}
}

static void spoil_header(const struct iovec *iov, uint32_t nr, uint32_t len, int error,
			 uint64_t unique_by)
{
	struct fuse_out_header h;

	rsp_gather(&h, iov, nr, 0, REPLY);
	h.len = len;
	h.error = error ? error : h.error;
	h.unique += unique_by;
	rsp_scatter(&h, iov, nr, 0, REPLY);
}

uint32_t rsp_spoil(struct load_responder *r, const struct vq_chain *c, uint32_t len)
{
	const struct iovec *iov = c->iov + c->nr_read;
	uint32_t nr = c->nr_write;

	if (len < REPLY)
		return len;
	switch (r->opts.misdeed) {
	case LOAD_DO_LENGTH:
		spoil_header(iov, nr, len + 8, 0, 0);
		return len;
	case LOAD_DO_UNIQUE:
		spoil_header(iov, nr, len, 0, 2);
		return len;
	case LOAD_DO_ERROR_LOW:
		spoil_header(iov, nr, REPLY, -600, 0);
		return REPLY;
	case LOAD_DO_ERROR_HIGH:
		spoil_header(iov, nr, REPLY, 5, 0);
		return REPLY;
	case LOAD_DO_ERROR_LONG:
		len = len > REPLY ? len : REPLY + 8;
		spoil_header(iov, nr, len, -EIO, 0);
		return len;
	case LOAD_DO_TRUNCATED:
		return REPLY - 1;
	case LOAD_DO_TOO_LONG:
		len = c->write_bytes + 8;
		spoil_header(iov, nr, len, 0, 0);
		return len;
	case LOAD_DO_TOO_SHORT:
		spoil_header(iov, nr, REPLY, 0, 0);
		return REPLY;
	case LOAD_DO_GUARD:
		overwrite(r, (char *)iov[nr - 1].iov_base + iov[nr - 1].iov_len);
		overwrite(r, (char *)iov[0].iov_base - 8);
		return len;
	default:
		return len;
	}
}

static void push(struct load_responder *r, struct rsp_queue *q, struct vq_used u)
{
	if (!vq_device_push(&q->dev, &u, 1))
		rsp_count(&r->stats.replies);
}

static bool defer(struct load_responder *r, uint32_t queue, struct vq_used u)
{
	if (r->nr_late == RSP_LATE_MAX)
		return false;
	r->late[r->nr_late++] = (struct rsp_late){
		.queue = queue, .used = u, .due_ns = vhu_deadline(r->opts.late_ms)};
	return true;
}

static void call(const struct rsp_queue *q)
{
	uint64_t one = 1;

	if (q->call_fd >= 0 && write(q->call_fd, &one, sizeof(one)) < 0)
		return; /* as often as it holds: the other side has been told */
}

/* Both indices as a device that lost count would have them. */
static void jump(struct rsp_queue *q)
{
	uint16_t to = (uint16_t)(q->dev.push.published + q->dev.ring.size + 7);

	vq_store_release(&q->dev.ring.used->idx, to);
	q->dev.push.used = q->dev.push.published = to;
	call(q);
}

void rsp_push(struct load_responder *r, uint32_t queue, struct vq_used u, bool wrong)
{
	struct rsp_queue *q = &r->queue[queue];
	enum load_misdeed m = wrong ? r->opts.misdeed : LOAD_DO_NONE;
	struct vq_used other = u;

	switch (m) {
	case LOAD_DO_LOST:
		return;
	case LOAD_DO_LATE:
		if (defer(r, queue, u))
			return;
		break;
	case LOAD_DO_REORDER:
		if (!q->held) {
			q->held = true;
			q->hold = u;
			return;
		}
		break;
	case LOAD_DO_UNKNOWN:
		/* Not in flight, unless more than half of the ring is. */
		other.head = (uint16_t)(u.head ^ (q->dev.ring.size / 2));
		push(r, q, other);
		break;
	case LOAD_DO_NO_CALL:
		/* Until the other side sleeps: it sees a reply that comes before without a call. */
		poll(NULL, 0, ASLEEP_MS);
		q->mute = true;
		break;
	case LOAD_DO_SPURIOUS:
		call(q);
		break;
	default:
		break;
	}
	push(r, q, u);
	if (q->held) {
		q->held = false;
		push(r, q, q->hold);
	}
	if (m == LOAD_DO_DUPLICATE)
		push(r, q, u);
	if (m == LOAD_DO_USED_JUMP)
		jump(q);
}
