/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vhost-user messages, as QEMU's docs/interop/vhost-user.rst defines them, and sending and
 * receiving them over a UNIX stream socket. What was received has been checked for its type: a
 * payload of the size that the request has, counts within bounds, as many file descriptors as the
 * request may carry. Numbers are in the machine's byte order.
 */
#ifndef VIRTQUEUE_VHOST_USER_H
#define VIRTQUEUE_VHOST_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

/* From the front-end to the back-end. */
enum vhu_request {
	VHU_GET_FEATURES = 1,
	VHU_SET_FEATURES = 2,
	VHU_SET_OWNER = 3,
	VHU_RESET_OWNER = 4,
	VHU_SET_MEM_TABLE = 5,
	VHU_SET_VRING_NUM = 8,
	VHU_SET_VRING_ADDR = 9,
	VHU_SET_VRING_BASE = 10,
	VHU_GET_VRING_BASE = 11,
	VHU_SET_VRING_KICK = 12,
	VHU_SET_VRING_CALL = 13,
	VHU_SET_VRING_ERR = 14,
	VHU_GET_PROTOCOL_FEATURES = 15,
	VHU_SET_PROTOCOL_FEATURES = 16,
	VHU_GET_QUEUE_NUM = 17,
	VHU_SET_VRING_ENABLE = 18,
	VHU_SET_BACKEND_REQ_FD = 21,
	VHU_GET_CONFIG = 24,
	VHU_SET_CONFIG = 25,
	VHU_GET_INFLIGHT_FD = 31,
	VHU_SET_INFLIGHT_FD = 32,
	VHU_RESET_DEVICE = 34,
	VHU_GET_MAX_MEM_SLOTS = 36,
	VHU_ADD_MEM_REG = 37,
	VHU_REM_MEM_REG = 38,
	VHU_SET_STATUS = 39,
	VHU_GET_STATUS = 40,
	VHU_REQUESTS, /* one more than the last */
};

/* From the back-end to the front-end, over the socket of VHU_SET_BACKEND_REQ_FD. */
enum vhu_backend_request {
	VHU_BACKEND_CONFIG_CHANGE_MSG = 2,
};

/* Bits of vhu_msg.flags. */
#define VHU_VERSION      0x1u
#define VHU_VERSION_MASK 0x3u
#define VHU_REPLY        (1u << 2)
#define VHU_NEED_REPLY   (1u << 3)

/* The one bit of the device features that belongs to vhost-user. */
#define VHU_F_PROTOCOL_FEATURES 30

/* Bits of the protocol features. */
enum vhu_protocol_feature {
	VHU_PROTOCOL_F_MQ = 0,
	VHU_PROTOCOL_F_LOG_SHMFD = 1,
	VHU_PROTOCOL_F_REPLY_ACK = 3,
	VHU_PROTOCOL_F_BACKEND_REQ = 5,
	VHU_PROTOCOL_F_CONFIG = 9,
	VHU_PROTOCOL_F_BACKEND_SEND_FD = 10,
	VHU_PROTOCOL_F_HOST_NOTIFIER = 11,
	VHU_PROTOCOL_F_INFLIGHT_SHMFD = 12,
	VHU_PROTOCOL_F_RESET_DEVICE = 13,
	VHU_PROTOCOL_F_INBAND_NOTIFICATIONS = 14,
	VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS = 15,
	VHU_PROTOCOL_F_STATUS = 16,
};

#define VHU_BIT(n) (1ULL << (n))

/* Device features that both sides of the rings here implement, and all our programs speak. */
#define VHU_DEVICE_FEATURES                                                   \
	(VHU_BIT(VIRTIO_F_VERSION_1) | VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC) | \
	 VHU_BIT(VIRTIO_RING_F_EVENT_IDX) | VHU_BIT(VHU_F_PROTOCOL_FEATURES))

/* Regions in SET_MEM_TABLE, and file descriptors in any message. */
#define VHU_MAX_FDS        8u
/* Bytes of config space in one message (QEMU's limit). */
#define VHU_MAX_CONFIG     256u
/* SET_VRING_KICK, _CALL, _ERR: the ring, and "no file descriptor comes with this". */
#define VHU_VRING_IDX_MASK 0xffu
#define VHU_VRING_NOFD     (1u << 8)
/* Rings that those messages can name. */
#define VHU_MAX_VRINGS     256u

struct vhu_vring_state {
	uint32_t index, num;
};

/* Addresses are the front-end's own (user addresses), to be found in the memory table. */
struct vhu_vring_addr {
	uint32_t index, flags;
	uint64_t desc, used, avail, log;
};

struct vhu_mem_region {
	uint64_t gpa, size, user_addr, mmap_offset;
};

struct vhu_memory {
	uint32_t nr, padding;
	struct vhu_mem_region region[VHU_MAX_FDS];
};

struct vhu_single_region {
	uint64_t padding;
	struct vhu_mem_region region;
};

struct vhu_config {
	uint32_t offset, size, flags;
	uint8_t data[VHU_MAX_CONFIG];
};

/* 20 bytes in the text, 24 as QEMU, libvhost-user and rust-vmm send it; both are received. */
struct vhu_inflight {
	uint64_t mmap_size, mmap_offset;
	uint16_t nr_queues, queue_size;
	uint32_t padding;
};

/* The shared inflight region of GET/SET_INFLIGHT_FD, per queue, split rings. */
struct vhu_inflight_desc {
	uint8_t inflight;
	uint8_t padding[5];
	uint16_t next;
	uint64_t counter;
};

struct vhu_inflight_queue {
	uint64_t features;
	uint16_t version; /* 1; 0: nothing there yet */
	uint16_t desc_num;
	uint16_t last_batch_head;
	uint16_t used_idx;
	struct vhu_inflight_desc desc[];
};

#define VHU_HEADER_BYTES 12u

/*
 * One message. The first fields are what goes over the socket, without a gap; so the payload's
 * 64-bit fields are not aligned: copy them out, take no addresses.
 */
struct vhu_msg {
	uint32_t request, flags, size;
	union {
		uint64_t u64;
		struct vhu_vring_state state;
		struct vhu_vring_addr addr;
		struct vhu_memory memory;
		struct vhu_single_region mem_reg;
		struct vhu_config config;
		struct vhu_inflight inflight;
		uint8_t bytes[272];
	} __attribute__((packed, aligned(4))) payload;
};

/* File descriptors that came with a message, owned by whoever has the struct. */
struct vhu_fds {
	uint32_t nr;
	int fd[VHU_MAX_FDS];
};

/* Closes what is left and leaves it empty; for _cleanup_. Entries of -1 were taken (TAKE_FD). */
void vhu_fds_close(struct vhu_fds *fds);

/* What is expected: requests of the front-end, replies to them, requests of the back-end. */
enum vhu_kind {
	VHU_FROM_FRONTEND,
	VHU_FROM_BACKEND_REPLY,
	VHU_FROM_BACKEND_REQUEST,
};

/* Name without prefix, such as "SET_VRING_KICK"; "unknown request" for others. */
const char *vhu_request_name(uint32_t request);

/* Name of a protocol feature bit, such as "REPLY_ACK"; NULL for one without a name. */
const char *vhu_protocol_feature_name(uint32_t bit);

/* Whether the front-end gets an answer to @request without asking for it by VHU_NEED_REPLY. */
bool vhu_has_reply(uint32_t request);

/* Point of time @ms from now, CLOCK_MONOTONIC in ns, as the deadlines below. */
int64_t vhu_deadline(uint32_t ms);
#define VHU_NO_DEADLINE INT64_MAX

/*
 * Sends one message, @m->size bytes of payload, @nr_fds descriptors, which stay the caller's. Works
 * for blocking and non-blocking sockets. 0; -EINVAL: a size or count that no message has;
 * -ETIMEDOUT; -EPIPE, -ECONNRESET and the like: the other side is gone. After an error the stream
 * may stand in the midst of a message: close it.
 */
int vhu_send(int sock, const struct vhu_msg *m, const int *fds, uint32_t nr_fds,
	     int64_t deadline_ns);

/*
 * Receives one message. Its descriptors come CLOEXEC into @fds, which is empty after an error.
 * 0; -ENODATA: the other side closed between two messages; -ECONNRESET: it closed within one;
 * -ETIMEDOUT: not a byte came, another call may go on; -EPROTO: what came breaks the protocol, *why
 * (which never stays NULL then) says how: wrong version, reply flag where none belongs or missing,
 * a size that is not the request's, too many or too few descriptors, counts out of bounds, a
 * message that stops in its midst. After all of these but -ETIMEDOUT: close it.
 *
 * A request that this code does not know (VHU_FROM_FRONTEND) is received, with a payload of at
 * most sizeof(payload) and its descriptors closed, for the back-end to refuse: -EOPNOTSUPP, and
 * the stream stands at the next message. A reply must be to @m->request as it was before: the
 * caller leaves there what it sent.
 */
int vhu_recv(int sock, enum vhu_kind kind, struct vhu_msg *m, struct vhu_fds *fds,
	     int64_t deadline_ns, const char **why);

/* The reply to @m of @size bytes payload, or a REPLY_ACK of u64 @status (0: done). */
static inline void vhu_make_reply(struct vhu_msg *m, uint32_t size)
{
	m->flags = VHU_VERSION | VHU_REPLY;
	m->size = size;
}

static inline void vhu_make_ack(struct vhu_msg *m, uint64_t status)
{
	vhu_make_reply(m, sizeof(uint64_t));
	m->payload.u64 = status;
}

#endif
