/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front-end of a vhost-user connection to a virtio-fs daemon: guest memory, one hiprio queue
 * and N request queues, without a VM. This module sets up and takes down; what goes over the
 * queues is the caller's, through load_queue.driver and the eventfds.
 *
 * Queues are numbered as everywhere: 0 is hiprio, request queues from 1. Nothing waits longer than
 * the time limit of the options. Functions return 0 or -errno and leave in load_transport.error
 * what went wrong, why and what to do, as one sentence.
 *
 *	struct load_options o = LOAD_OPTIONS_DEFAULT;
 *	struct load_transport t;
 *	o.socket = path;
 *	load_init(&t, &o);
 *	if (load_connect(&t) || load_start(&t))
 *		complain(t.error);
 *	...
 *	load_destroy(&t);
 *
 * One thread at a time uses a transport. A queue's driver and eventfds may be used by a thread of
 * their own while no function here works on that queue.
 */
#ifndef VQLOAD_TRANSPORT_H
#define VQLOAD_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "virtqueue/driver.h"
#include "virtqueue/memory.h"
#include "virtqueue/vhost_user.h"

#define LOAD_TAG_BYTES   36 /* of the config space, not terminated (virtio 1.2, 5.11.4) */
#define LOAD_REGIONS_MAX 8u /* at the start: what SET_MEM_TABLE can carry */

struct load_options {
	const char *socket;      /* path; not owned */
	uint32_t request_queues; /* 1 ..; 0: as many as the daemon has */
	uint32_t queue_size;     /* power of two, 2 .. 32768 */
	uint32_t table_max;      /* entries of an indirect table; 0: queue_size, at most 1024 */
	uint32_t regions;        /* 1 .. LOAD_REGIONS_MAX */
	uint64_t region_bytes;   /* each; rounded up to pages */
	bool adjacent;           /* regions touch in guest-physical addresses, so that one buffer
				  * may cross them; else there are gaps */
	uint16_t start;          /* where the indices of all rings begin */
	bool wait_for_socket;    /* until the time limit, when it is not there or nobody listens */
	uint32_t timeout_ms;     /* for each step: connect, an answer, a queue that stops */
	uint64_t features_off;   /* bits of device features not to use though offered */
	uint64_t protocol_off;   /* the same for protocol features */
};

#define LOAD_OPTIONS_DEFAULT                                                                     \
	{                                                                                        \
		.request_queues = 1, .queue_size = 128, .regions = 2, .region_bytes = 32u << 20, \
		.timeout_ms = 5000,                                                              \
	}

/* Guest memory: a memfd, mapped between two inaccessible pages, so that overruns of ours show. */
struct load_region {
	uint64_t gpa, size;
	void *addr;    /* also the "user address" of the protocol */
	uint64_t next; /* bytes handed out by load_alloc() */
	int fd;        /* memfd, sealed against shrinking */
	bool shared;   /* the daemon has it */
};

struct load_queue {
	uint32_t index; /* 0 hiprio */
	struct vq_driver driver;
	int kick_fd, call_fd, err_fd; /* eventfds, non-blocking; write 8 bytes to kick */
	bool started;
	uint16_t base; /* where the daemon is to take, or took last */
	void *mem;     /* the ring's, from load_alloc(): kept over restarts */
	uint64_t gpa;
};

struct load_transport {
	struct load_options opts;
	int sock;                   /* -1: not connected */
	pid_t pid;                  /* of the daemon, by SO_PEERCRED; 0: in another pid namespace */
	uint64_t offered, features; /* device features: the daemon's, and those in use */
	uint64_t protocol_offered, protocol;
	uint32_t daemon_queues; /* by GET_QUEUE_NUM, hiprio included; 0: it does not say */
	uint32_t mem_slots;     /* by GET_MAX_MEM_SLOTS; 0: it does not say */
	bool has_config;        /* the daemon serves the config space: then the next two */
	char tag[LOAD_TAG_BYTES + 1];
	uint32_t config_queues; /* num_request_queues */
	struct load_region region[VQ_MEM_REGIONS];
	uint32_t nr_regions;
	struct vq_mem mem;            /* the same regions, for translation */
	struct load_queue *queue;     /* 1 + request queues, owned */
	uint32_t nr_queues;           /* hiprio included */
	struct vhu_inflight inflight; /* what the daemon said, when inflight_fd >= 0 */
	int inflight_fd;
	char error[512]; /* of the last call that failed */
};

/* Takes the options over; touches nothing outside. */
void load_init(struct load_transport *t, const struct load_options *o);

/* Disconnects and frees all, queues, memory, descriptors. Harmless twice. */
void load_destroy(struct load_transport *t);

/*
 * Connects, learns who the daemon is, negotiates features, asks for queues and config space. With
 * more request queues wanted than there are: -ENOSPC, and the error says how many there are.
 * -ETIMEDOUT: no answer in time; -EPROTO: an answer that breaks the protocol.
 */
int load_connect(struct load_transport *t);
/* A connected socket that never blocks; -EAGAIN, at once, when the daemon's backlog is full. */
int load_dial(const char *path);

/*
 * Makes memory (the first time), queues, the inflight region, and starts all queues. After it the
 * device is at DRIVER_OK.
 */
int load_start(struct load_transport *t);

/*
 * Stops one queue: disables it, GET_VRING_BASE. The daemon has answered all it popped when this
 * returns, or keeps it for later; replies are still to be taken from the used ring. t->queue[].base
 * is the daemon's answer.
 */
int load_queue_stop(struct load_transport *t, uint32_t queue);

/*
 * Starts a queue that was stopped, at its base, and kicks it, for requests may wait. To begin anew
 * instead, vq_driver_reset() and set base before.
 */
int load_queue_start(struct load_transport *t, uint32_t queue);

/* Stops all queues. */
int load_stop(struct load_transport *t);

/*
 * RESET_DEVICE where it is negotiated, else SET_STATUS 0; -EOPNOTSUPP without either. All queues
 * stop, their requests in flight are forgotten, and load_start() begins anew at opts.start.
 */
int load_reset(struct load_transport *t);

/*
 * Closes the connection as a crash of the guest would, without a word. Memory, queues and their
 * requests in flight stay.
 */
void load_disconnect(struct load_transport *t);

/*
 * After load_disconnect(), or when the daemon went away: connects to the same path, hands back the
 * inflight region, if there is one, and starts all queues where the used rings stand; the daemon
 * then serves again what it had popped and not answered. Without an inflight region requests in
 * flight can be lost or served twice, so: -EBUSY when there are any, unless the caller resets the
 * drivers before. -EPROTO: the daemon no longer offers a feature that is in use.
 */
int load_reconnect(struct load_transport *t);

/*
 * Adds @bytes of memory at an address of this module's choosing, or removes region @index (queues'
 * rings must not be there, nor requests in flight: -EBUSY for the former), while queues run. By
 * ADD_MEM_REG and REM_MEM_REG; -EOPNOTSUPP when they are not negotiated. *index is the region's
 * place in t->region, which others do not change.
 */
int load_add_region(struct load_transport *t, uint64_t bytes, uint32_t *index);
int load_remove_region(struct load_transport *t, uint32_t index);

/*
 * Takes @bytes, aligned to @align (a power of two), from region @index; they are never given
 * back, and zero at first. NULL when there is no room. Any thread may not: before threads start.
 */
void *load_alloc(struct load_transport *t, uint32_t index, uint64_t bytes, uint64_t align,
		 uint64_t *gpa);

/* Publishes what was added to a queue, and kicks if the daemon wants it. Returns whether it did. */
bool load_submit(struct load_queue *q);

/*
 * Waits for a call of a queue, at most until @deadline_ns (vhu_deadline()), and takes it off the
 * eventfd. It may be a call for replies that were taken already: look, and wait again. 0;
 * -ENOTCONN; -ETIMEDOUT; -EIO: the daemon signalled the queue's error eventfd; -ECONNRESET: it
 * closed the connection; -EPROTO: it sent a message that nobody asked for. Writes no t->error, so
 * that a queue's own thread may call it.
 */
int load_wait_call(const struct load_transport *t, uint32_t queue, int64_t deadline_ns);

#endif
