// SPDX-License-Identifier: GPL-2.0-or-later
/* The responder's side of vhost-user: one handler per message. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <linux/virtio_fs.h>

#include "common/cleanup.h"
#include "vqload/responder_priv.h"

/* A message that stops in its midst stops all queues: not for long. */
#define MESSAGE_MS 200

#define PROTOCOL                                                                 \
	(VHU_BIT(VHU_PROTOCOL_F_MQ) | VHU_BIT(VHU_PROTOCOL_F_REPLY_ACK) |        \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIG) | VHU_BIT(VHU_PROTOCOL_F_RESET_DEVICE) | \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS))

static bool has(const struct load_responder *r, enum vhu_protocol_feature bit)
{
	return r->protocol & VHU_BIT(bit);
}

static uint64_t features_offered(const struct load_responder *r)
{
	return VHU_DEVICE_FEATURES & ~r->opts.features_off;
}

static uint64_t protocol_offered(const struct load_responder *r)
{
	return PROTOCOL & ~r->opts.protocol_off;
}

static void reset_queue(struct load_responder *r, uint32_t i)
{
	struct rsp_queue *q = &r->queue[i];

	rsp_queue_stop(r, i);
	vqs_closep(&q->kick_fd);
	vqs_closep(&q->call_fd);
	vqs_closep(&q->err_fd);
	*q = (struct rsp_queue){.kick_fd = -1, .call_fd = -1, .err_fd = -1};
}

void rsp_disconnect(struct load_responder *r)
{
	for (uint32_t i = 0; i < r->nr_queues; i++)
		reset_queue(r, i);
	rsp_unmap_all(r);
	vqs_closep(&r->sock);
	r->sock = -1;
	r->features = r->protocol = 0;
	r->owner = r->has_features = r->mounted = false;
	r->nr_late = 0;
	load_fs_forget_all(r->fs);
}

/* --- handlers: 0, or -errno after a complaint ------------------------------------------------ */

struct call {
	struct load_responder *r;
	struct vhu_msg *m;
	struct vhu_fds *fds;
};

static int get_features(struct call *c)
{
	c->m->payload.u64 = features_offered(c->r);
	return 0;
}

static int set_features(struct call *c)
{
	struct load_responder *r = c->r;
	uint64_t v = c->m->payload.u64;

	if (v & ~features_offered(r)) {
		rsp_complain(r, "features that were not offered: %#llx",
			     (unsigned long long)(v & ~features_offered(r)));
		return -EINVAL;
	}
	r->features = v;
	r->has_features = true;
	/* Without protocol features rings are enabled from the start. */
	for (uint32_t i = 0; i < r->nr_queues; i++)
		if (!(v & VHU_BIT(VHU_F_PROTOCOL_FEATURES)))
			r->queue[i].enabled = true;
	return 0;
}

static int set_owner(struct call *c)
{
	if (c->r->owner)
		rsp_complain(c->r, "SET_OWNER a second time");
	c->r->owner = true;
	return 0;
}

static int get_protocol(struct call *c)
{
	c->m->payload.u64 = protocol_offered(c->r);
	return 0;
}

static int set_protocol(struct call *c)
{
	uint64_t v = c->m->payload.u64, more = v & ~protocol_offered(c->r);

	if (more) {
		rsp_complain(c->r, "protocol features that were not offered: %#llx",
			     (unsigned long long)more);
		return -EINVAL;
	}
	c->r->protocol = v;
	return 0;
}

static int get_queue_num(struct call *c)
{
	c->m->payload.u64 = c->r->nr_queues;
	return 0;
}

static int get_slots(struct call *c)
{
	c->m->payload.u64 = VQ_MEM_REGIONS;
	return 0;
}

static int set_table(struct call *c)
{
	struct vhu_memory m = c->m->payload.memory;

	return rsp_set_table(c->r, &m, c->fds);
}

static int change_region(struct call *c)
{
	struct vhu_mem_region m = c->m->payload.mem_reg.region;

	if (!has(c->r, VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS)) {
		rsp_complain(c->r, "%s without CONFIGURE_MEM_SLOTS",
			     vhu_request_name(c->m->request));
		return -EINVAL;
	}
	if (c->m->request == VHU_REM_MEM_REG)
		return rsp_remove_region(c->r, &m);
	return rsp_add_region(c->r, &m, c->fds->fd[0]);
}

/* The ring that a message is about, which is to be stopped. */
static struct rsp_queue *still(struct call *c, uint32_t i)
{
	if (i >= c->r->nr_queues) {
		rsp_complain(c->r, "%s of queue %u, of %u", vhu_request_name(c->m->request), i,
			     c->r->nr_queues);
		return NULL;
	}
	if (c->r->queue[i].started) {
		rsp_complain(c->r, "%s of queue %u while it runs", vhu_request_name(c->m->request),
			     i);
		return NULL;
	}
	return &c->r->queue[i];
}

static int set_num(struct call *c)
{
	struct rsp_queue *q = still(c, c->m->payload.state.index);
	uint32_t num = c->m->payload.state.num;

	if (!q)
		return -EINVAL;
	if (!vq_size_valid(num)) {
		rsp_complain(c->r, "a queue of size %u", num);
		return -EINVAL;
	}
	q->num = num;
	return 0;
}

static int set_base(struct call *c)
{
	struct rsp_queue *q = still(c, c->m->payload.state.index);

	if (!q)
		return -EINVAL;
	if (c->m->payload.state.num > UINT16_MAX) {
		rsp_complain(c->r, "a base beyond 16 bits");
		return -EINVAL;
	}
	q->base = (uint16_t)c->m->payload.state.num;
	return 0;
}

static int set_addr(struct call *c)
{
	struct vhu_vring_addr a = c->m->payload.addr;
	struct rsp_queue *q = still(c, a.index);

	if (!q)
		return -EINVAL;
	if (!rsp_user_at(c->r, a.desc, 1) || !rsp_user_at(c->r, a.avail, 1) ||
	    !rsp_user_at(c->r, a.used, 1)) {
		rsp_complain(c->r, "queue %u: addresses outside of memory", a.index);
		return -EFAULT;
	}
	q->addr = a;
	q->has_addr = true;
	return 0;
}

static int get_base(struct call *c)
{
	uint32_t i = c->m->payload.state.index;

	if (i >= c->r->nr_queues) {
		rsp_complain(c->r, "GET_VRING_BASE of queue %u", i);
		return -EINVAL;
	}
	rsp_queue_stop(c->r, i);
	vqs_closep(&c->r->queue[i].kick_fd);
	c->r->queue[i].kick_fd = -1;
	c->m->payload.state.num = c->r->queue[i].base;
	return 0;
}

static int set_enable(struct call *c)
{
	uint32_t i = c->m->payload.state.index, on = c->m->payload.state.num;

	if (i >= c->r->nr_queues || on > 1) {
		rsp_complain(c->r, "SET_VRING_ENABLE of queue %u to %u", i, on);
		return -EINVAL;
	}
	c->r->queue[i].enabled = on;
	c->r->hurry = true;
	return 0;
}

static int set_fd(struct call *c)
{
	uint32_t i = (uint32_t)(c->m->payload.u64 & VHU_VRING_IDX_MASK);
	struct rsp_queue *q;
	int *at, fd;

	if (c->m->payload.u64 & ~(uint64_t)(VHU_VRING_IDX_MASK | VHU_VRING_NOFD) ||
	    i >= c->r->nr_queues) {
		rsp_complain(c->r, "%s of queue %u, of %u", vhu_request_name(c->m->request), i,
			     c->r->nr_queues);
		return -EINVAL;
	}
	q = &c->r->queue[i];
	at = c->m->request == VHU_SET_VRING_KICK   ? &q->kick_fd
	     : c->m->request == VHU_SET_VRING_CALL ? &q->call_fd
						   : &q->err_fd;
	fd = c->fds->nr ? TAKE_FD(c->fds->fd[0]) : -1;
	/* Writing and reading must not wait, whatever was passed. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	vqs_closep(at);
	*at = fd;
	c->r->hurry = true;
	return c->m->request != VHU_SET_VRING_KICK || q->started ? 0 : rsp_queue_start(c->r, i);
}

static int get_config(struct call *c)
{
	struct virtio_fs_config conf = {.tag = "vqload",
					.num_request_queues = htole32(c->r->nr_queues - 1)};
	struct vhu_config *p = (void *)&c->m->payload;
	uint32_t offset = c->m->payload.config.offset, size = c->m->payload.config.size;
	uint8_t bytes[VHU_MAX_CONFIG] = {0};

	memcpy(bytes, &conf, sizeof(conf));
	if (offset + size > sizeof(conf)) {
		rsp_complain(c->r, "config space of %u bytes from %u", size, offset);
		c->m->size = 0;
		return 0;
	}
	memcpy((uint8_t *)p + offsetof(struct vhu_config, data), bytes + offset, size);
	return 0;
}

static int reset_device(struct call *c)
{
	if (!has(c->r, VHU_PROTOCOL_F_RESET_DEVICE)) {
		rsp_complain(c->r, "RESET_DEVICE without the feature");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < c->r->nr_queues; i++)
		reset_queue(c->r, i);
	load_fs_forget_all(c->r->fs);
	c->r->mounted = false;
	return 0;
}

static int (*const handlers[VHU_REQUESTS])(struct call *) = {
	[VHU_GET_FEATURES] = get_features,
	[VHU_SET_FEATURES] = set_features,
	[VHU_SET_OWNER] = set_owner,
	[VHU_SET_MEM_TABLE] = set_table,
	[VHU_SET_VRING_NUM] = set_num,
	[VHU_SET_VRING_ADDR] = set_addr,
	[VHU_SET_VRING_BASE] = set_base,
	[VHU_GET_VRING_BASE] = get_base,
	[VHU_SET_VRING_KICK] = set_fd,
	[VHU_SET_VRING_CALL] = set_fd,
	[VHU_SET_VRING_ERR] = set_fd,
	[VHU_GET_PROTOCOL_FEATURES] = get_protocol,
	[VHU_SET_PROTOCOL_FEATURES] = set_protocol,
	[VHU_GET_QUEUE_NUM] = get_queue_num,
	[VHU_SET_VRING_ENABLE] = set_enable,
	[VHU_GET_CONFIG] = get_config,
	[VHU_RESET_DEVICE] = reset_device,
	[VHU_GET_MAX_MEM_SLOTS] = get_slots,
	[VHU_ADD_MEM_REG] = change_region,
	[VHU_REM_MEM_REG] = change_region,
};

/* --- one message ----------------------------------------------------------------------------- */

static bool respond(struct load_responder *r, struct vhu_msg *m, int err)
{
	bool want_ack = m->flags & VHU_NEED_REPLY;
	const int none = -1;

	if (want_ack && !has(r, VHU_PROTOCOL_F_REPLY_ACK)) {
		rsp_complain(r, "%s asks for an ack without REPLY_ACK",
			     vhu_request_name(m->request));
		want_ack = false;
	}
	if (vhu_has_reply(m->request)) {
		/* Nothing can be said in a reply of another kind. */
		if (err)
			return false;
		vhu_make_reply(m, m->size && m->request == VHU_GET_CONFIG ? m->size
				  : m->request == VHU_GET_CONFIG          ? 0
									  : 8);
	} else if (want_ack) {
		vhu_make_ack(m, err ? 1 : 0);
	} else {
		return !err || err == -EOPNOTSUPP;
	}
	return !vhu_send(r->sock, m, &none, 0, vhu_deadline(MESSAGE_MS));
}

bool rsp_message(struct load_responder *r)
{
	_cleanup_(vhu_fds_close) struct vhu_fds fds = {0};
	struct vhu_msg m;
	struct call c = {.r = r, .m = &m, .fds = &fds};
	const char *why;
	int err = vhu_recv(r->sock, VHU_FROM_FRONTEND, &m, &fds, vhu_deadline(MESSAGE_MS), &why);

	if (err == -ETIMEDOUT)
		return true;
	if (err == -EPROTO)
		rsp_complain(r, "a message that breaks the protocol: %s", why);
	if (err && err != -EOPNOTSUPP) {
		if (err == -ECONNRESET)
			rsp_complain(r, "the connection ends within a message");
		return false;
	}
	rsp_count(&r->stats.messages);
	if (!err && handlers[m.request])
		return respond(r, &m, handlers[m.request](&c));
	rsp_complain(r, "request %u, which was not offered", m.request);
	return respond(r, &m, -EOPNOTSUPP);
}
