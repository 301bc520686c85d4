// SPDX-License-Identifier: GPL-2.0-or-later
/* What messages do: one table, one function each. Those about rings are in vhost_vring.c. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_fs.h>
#include <linux/virtio_ring.h>

#include "common/cleanup.h"
#include "vqfsd/vhost_priv.h"

#define PROTOCOL                                                                 \
	(VHU_BIT(VHU_PROTOCOL_F_MQ) | VHU_BIT(VHU_PROTOCOL_F_REPLY_ACK) |        \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIG) | VHU_BIT(VHU_PROTOCOL_F_RESET_DEVICE) | \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS) | VHU_BIT(VHU_PROTOCOL_F_STATUS))

/* --- features -------------------------------------------------------------------------------- */

static int reply_u64(struct vhu_msg *m, uint64_t v)
{
	vhu_make_reply(m, sizeof(v));
	m->payload.u64 = v;
	return 0;
}

static int get_features(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			const char **why)
{
	return reply_u64(m, VHU_DEVICE_FEATURES);
}

static bool any_started(const struct fsd_device *dev)
{
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		if (fsd_queue_state(&dev->queue[i]) & VQS_FSD_STARTED)
			return true;
	return false;
}

static int set_features(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			const char **why)
{
	if (m->payload.u64 & ~VHU_DEVICE_FEATURES) {
		*why = "features that were not offered";
		return -EINVAL;
	}
	if (m->payload.u64 != v->features && any_started(v->dev)) {
		*why = "features cannot change while rings run";
		return -EBUSY;
	}
	v->features = m->payload.u64;
	return 0;
}

static int get_protocol_features(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
				 const char **why)
{
	return reply_u64(m, PROTOCOL);
}

static int set_protocol_features(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
				 const char **why)
{
	if (m->payload.u64 & ~PROTOCOL) {
		*why = "protocol features that were not offered";
		return -EINVAL;
	}
	v->protocol = m->payload.u64;
	return 0;
}

static int get_queue_num(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			 const char **why)
{
	return reply_u64(m, v->dev->nr_queues);
}

/* --- the device ------------------------------------------------------------------------------ */

/* There is one front-end at a time, and it owns the device. */
static int set_owner(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	return 0;
}

/* Deprecated: what it once meant is that rings stop. */
static int reset_owner(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	fsd_device_stop(v->dev);
	return 0;
}

static int reset(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	fsd_vhost_reset(v);
	return 0;
}

static int set_status(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	if (m->payload.u64 > 0xff) {
		*why = "a status of more than a byte";
		return -EINVAL;
	}
	/* QEMU says so whenever it pauses the VM: the guest goes on later, and keeps its files. A
	 * guest that begins anew says INIT, which resets the file system. */
	if (!m->payload.u64)
		fsd_device_stop(v->dev);
	v->status = (uint8_t)m->payload.u64;
	return 0;
}

static int get_status(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	return reply_u64(m, v->status);
}

/* What is beyond the config space reads as zeros. */
static int get_config(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	struct virtio_fs_config c = {
		.num_request_queues = htole32(v->dev->nr_queues - 1),
	};
	uint32_t offset = m->payload.config.offset, size = m->payload.config.size;

	_Static_assert(sizeof(c.tag) == FSD_TAG_BYTES, "as the options check it");
	memcpy(c.tag, v->dev->opts.tag, strnlen(v->dev->opts.tag, sizeof(c.tag)));
	memset(m->payload.config.data, 0, sizeof(m->payload.config.data));
	if (offset < sizeof(c))
		memcpy(m->payload.config.data, (const char *)&c + offset,
		       size < sizeof(c) - offset ? size : sizeof(c) - offset);
	vhu_make_reply(m, m->size);
	return 0;
}

/* --- memory ---------------------------------------------------------------------------------- */

static int set_mem_table(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			 const char **why)
{
	struct fsd_device *dev = v->dev;
	int err = 0;

	fsd_device_quiesce(dev, true);
	fsd_memory_clear(&dev->memory);
	for (uint32_t i = 0; i < m->payload.memory.nr && !err; i++) {
		struct vhu_mem_region r = m->payload.memory.region[i];

		err = fsd_memory_add(&dev->memory, &r, fds->fd[i], why);
	}
	if (err)
		fsd_memory_clear(&dev->memory);
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		fsd_queue_remap(&dev->queue[i]);
	fsd_device_resume(dev);
	return err;
}

static int get_max_mem_slots(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			     const char **why)
{
	return reply_u64(m, VQ_MEM_REGIONS);
}

/* What is there stays where it is: requests in progress need not be waited for. */
static int add_mem_reg(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct vhu_mem_region r = m->payload.mem_reg.region;
	int err;

	fsd_device_quiesce(v->dev, false);
	err = fsd_memory_add(&v->dev->memory, &r, fds->fd[0], why);
	fsd_device_resume(v->dev);
	return err;
}

static int rem_mem_reg(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
		       const char **why)
{
	struct vhu_mem_region r = m->payload.mem_reg.region;
	int err;

	fsd_device_quiesce(v->dev, true);
	err = fsd_memory_remove(&v->dev->memory, &r);
	for (uint32_t i = 0; i < v->dev->nr_queues; i++)
		fsd_queue_remap(&v->dev->queue[i]);
	fsd_device_resume(v->dev);
	if (err)
		*why = "there is no such region";
	return err;
}

/* --- the table ------------------------------------------------------------------------------- */

static fsd_vhost_handler *const handlers[VHU_REQUESTS] = {
	[VHU_GET_FEATURES] = get_features,
	[VHU_SET_FEATURES] = set_features,
	[VHU_SET_OWNER] = set_owner,
	[VHU_RESET_OWNER] = reset_owner,
	[VHU_SET_MEM_TABLE] = set_mem_table,
	[VHU_SET_VRING_NUM] = fsd_vhost_set_num,
	[VHU_SET_VRING_ADDR] = fsd_vhost_set_addr,
	[VHU_SET_VRING_BASE] = fsd_vhost_set_base,
	[VHU_GET_VRING_BASE] = fsd_vhost_get_base,
	[VHU_SET_VRING_KICK] = fsd_vhost_set_kick,
	[VHU_SET_VRING_CALL] = fsd_vhost_set_call,
	[VHU_SET_VRING_ERR] = fsd_vhost_set_err,
	[VHU_GET_PROTOCOL_FEATURES] = get_protocol_features,
	[VHU_SET_PROTOCOL_FEATURES] = set_protocol_features,
	[VHU_GET_QUEUE_NUM] = get_queue_num,
	[VHU_SET_VRING_ENABLE] = fsd_vhost_set_enable,
	[VHU_GET_CONFIG] = get_config,
	[VHU_RESET_DEVICE] = reset,
	[VHU_GET_MAX_MEM_SLOTS] = get_max_mem_slots,
	[VHU_ADD_MEM_REG] = add_mem_reg,
	[VHU_REM_MEM_REG] = rem_mem_reg,
	[VHU_SET_STATUS] = set_status,
	[VHU_GET_STATUS] = get_status,
};

int fsd_vhost_obey(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why)
{
	fsd_vhost_handler *h = m->request < VHU_REQUESTS ? handlers[m->request] : NULL;

	if (h)
		return h(v, m, fds, why);
	*why = "this back-end does not do it";
	return -EOPNOTSUPP;
}
