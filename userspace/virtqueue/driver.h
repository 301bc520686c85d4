/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver's (guest's) side of a split virtqueue: makes chains of guest-physical buffers
 * available, takes used ones back. The device is not trusted either: what it needs to know of a
 * request it keeps in memory of its own, and judges every used entry by that. One thread at a time
 * uses a driver. Memory is allocated by vq_driver_init() only.
 */
#ifndef VIRTQUEUE_DRIVER_H
#define VIRTQUEUE_DRIVER_H

#include "virtqueue/ring.h"

/* A buffer of the guest. */
struct vq_range {
	uint64_t gpa;
	uint32_t len;
};

/* Private state per descriptor; for a request, that of its head. */
struct vq_slot {
	uint64_t token;
	uint32_t write_bytes; /* what the device may write at most */
	uint16_t descs;       /* of the ring, 1 for an indirect one */
	uint16_t next;        /* descriptor after this one: of its chain, or free */
	bool in_flight;
};

/* Where vq_driver_init() put what, relative to the start of the memory it was given. */
struct vq_layout {
	size_t desc, avail, used, tables, bytes;
};

struct vq_driver {
	struct vq_ring ring;
	uint64_t desc_gpa, avail_gpa, used_gpa; /* for the device */
	bool event_idx;
	uint8_t fault;       /* enum vq_fault, the last one seen */
	bool broken;         /* the used idx cannot be: nothing more is taken */
	bool kick_due;       /* more than 2^16 entries since the last decision to kick */
	uint16_t free_head;  /* first free descriptor, when nr_free */
	uint32_t nr_free;    /* descriptors */
	uint32_t in_flight;  /* requests */
	uint16_t avail;      /* entries written to the available ring */
	uint16_t published;  /* of these, how many the device can see: avail idx */
	uint16_t kicked;     /* published as of the last decision to kick or not */
	uint16_t last_used;  /* next entry of the used ring to take */
	uint32_t table_max;  /* entries of each indirect table, 0: none */
	uint64_t tables_gpa; /* one table per descriptor */
	struct vring_desc *tables;
	struct vq_slot *slot; /* size of them, owned */
};

/*
 * Memory that a ring of @size with indirect tables of @table_max entries each (0: none) needs:
 * desc, avail, used, tables, each at a cache line of its own. -EINVAL for a size that no queue has
 * or tables of more than VQ_SIZE_MAX entries.
 */
int vq_driver_layout(uint32_t size, uint32_t table_max, struct vq_layout *l);

/*
 * Lays a ring out at @mem (in this process) = @gpa (in the guest), both aligned to 64, of at least
 * vq_driver_layout() bytes, which are cleared. @features: VIRTIO_RING_F_EVENT_IDX counts. @start:
 * the index at which both rings begin, normally 0 (a test begins shortly before 65536; the device
 * is to be given the same as its base). 0, -EINVAL, -ENOMEM. Freed by vq_driver_free(), which
 * leaves @mem alone.
 */
int vq_driver_init(struct vq_driver *d, uint32_t size, uint32_t table_max, uint64_t features,
		   void *mem, uint64_t gpa, uint16_t start);
void vq_driver_free(struct vq_driver *d);

/*
 * Forgets all requests in flight and begins anew at index @start, as after a reset of the device,
 * which must not be using the ring.
 */
void vq_driver_reset(struct vq_driver *d, uint16_t start);

/*
 * Adds a request: @range[0 .. nr_read) for the device to read, then @nr_write to write. @indirect:
 * through the head's table, which takes one descriptor of the ring. @token comes back with the
 * reply. The device sees it after vq_driver_publish(). Returns the head; -EINVAL: no buffer, or
 * more than 2^32 - 1 bytes in all; -E2BIG: more buffers than the ring (or a table) holds at all;
 * -ENOSPC: no room before some reply is taken.
 */
int vq_driver_add(struct vq_driver *d, const struct vq_range *range, uint32_t nr_read,
		  uint32_t nr_write, bool indirect, uint64_t token);

/* Makes all added requests visible. Returns how many became so. */
uint32_t vq_driver_publish(struct vq_driver *d);

/*
 * Whether the device wants a kick for what was published since this was asked last (2.7.10.1):
 * avail_event with EVENT_IDX, else the used ring's flags. Contains the full barrier.
 */
bool vq_driver_should_kick(struct vq_driver *d);

struct vq_reply {
	uint64_t token;
	uint32_t len;         /* as the device says, also when it is too long */
	uint32_t write_bytes; /* what it had room for */
	uint32_t id;          /* the head as the device says */
	enum vq_fault fault;
};

/*
 * Takes the next used entry. 1: a reply, its request is no longer in flight; 0: none there;
 * -EBADMSG: the device broke a rule, @r->fault says which:
 *	USED_LENGTH: the entry is a reply otherwise (token is right, the request is done);
 *	USED_HEAD, USED_UNKNOWN: the entry is skipped, only id and len say something;
 *	USED_JUMP: nothing more can be taken, now and later (d->broken).
 */
int vq_driver_get_used(struct vq_driver *d, struct vq_reply *r);

/* Whether get_used would find something new; false once d->broken. For polling: one load. */
bool vq_driver_has_used(const struct vq_driver *d);

/* Calls are not needed until enabled again; some may come yet. */
void vq_driver_disable_calls(struct vq_driver *d);

/*
 * Asks for a call for whatever is used after what was taken, and looks once more (2.7.14). True:
 * something came before the device could know, go on taking; false: every later reply calls.
 * Calls are enabled after vq_driver_init().
 */
bool vq_driver_enable_calls(struct vq_driver *d);

/*
 * Walks the requests in flight, in order of heads: @pos starts as 0. True: *head and *token are
 * the next one's; false: no more.
 */
bool vq_driver_next_in_flight(const struct vq_driver *d, uint32_t *pos, uint16_t *head,
			      uint64_t *token);

#endif
