// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues: making rings and eventfds, starting and stopping them, waiting for calls. */
#include "vqload/transport_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "common/cleanup.h"

static int make_queue(struct load_transport *t, uint32_t index)
{
	struct load_queue *q = &t->queue[index];
	const struct load_options *o = &t->opts;
	struct vq_layout l;
	int err;

	vq_driver_layout(o->queue_size, o->table_max, &l);
	q->index = index;
	q->base = o->start;
	q->mem = load_alloc(t, index % o->regions, l.bytes, 4096, &q->gpa);
	if (!q->mem)
		return load_fail(t, -ENOSPC,
				 "no room for the %zu bytes of queue %u in a region of %llu bytes; "
				 "raise the size of regions, or lower that of queues",
				 l.bytes, index, (unsigned long long)t->region[0].size);
	err = vq_driver_init(&q->driver, o->queue_size, o->table_max, t->features, q->mem, q->gpa,
			     o->start);
	if (err)
		return load_fail(t, err, "cannot set up queue %u: %s", index, strerror(-err));
	q->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->err_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->kick_fd < 0 || q->call_fd < 0 || q->err_fd < 0)
		return load_fail(t, -errno,
				 "cannot make eventfds for queue %u: %s; raise ulimit -n", index,
				 strerror(errno));
	return 0;
}

int load_make_queues(struct load_transport *t)
{
	int err = 0;

	if (t->queue)
		return 0;
	t->queue = calloc(t->nr_queues, sizeof(*t->queue));
	if (!t->queue)
		return load_fail(t, -ENOMEM, "no memory for %u queues", t->nr_queues);
	for (uint32_t i = 0; i < t->nr_queues; i++)
		t->queue[i].kick_fd = t->queue[i].call_fd = t->queue[i].err_fd = -1;
	for (uint32_t i = 0; !err && i < t->nr_queues; i++)
		err = make_queue(t, i);
	return err;
}

void load_free_queues(struct load_transport *t)
{
	for (uint32_t i = 0; t->queue && i < t->nr_queues; i++) {
		struct load_queue *q = &t->queue[i];

		vq_driver_free(&q->driver);
		vqs_closep(&q->kick_fd);
		vqs_closep(&q->call_fd);
		vqs_closep(&q->err_fd);
	}
	free(t->queue);
	t->queue = NULL;
	t->nr_queues = 0;
}

/* The first time the daemon makes the region; later it gets it back. */
int load_share_inflight(struct load_transport *t)
{
	struct vhu_msg m = {.request = VHU_GET_INFLIGHT_FD, .size = sizeof(struct vhu_inflight)};
	int err;

	if (!load_has(t, VHU_PROTOCOL_F_INFLIGHT_SHMFD))
		return 0;
	if (t->inflight_fd < 0) {
		m.payload.inflight.nr_queues = (uint16_t)t->nr_queues;
		m.payload.inflight.queue_size = (uint16_t)t->opts.queue_size;
		err = load_ask(t, &m, NULL, 0, &t->inflight_fd);
		if (err)
			return err;
		t->inflight = m.payload.inflight;
		if (t->inflight_fd < 0 || !t->inflight.mmap_size)
			return load_fail(
				t, -EPROTO,
				"daemon at %s: it offers INFLIGHT_SHMFD and gives no region",
				t->opts.socket);
	}
	m = (struct vhu_msg){.request = VHU_SET_INFLIGHT_FD, .size = sizeof(struct vhu_inflight)};
	m.payload.inflight = t->inflight;
	return load_ask(t, &m, &t->inflight_fd, 1, NULL);
}

/* --- starting and stopping ------------------------------------------------------------------- */

static int set_state(struct load_transport *t, uint32_t request, uint32_t index, uint32_t num)
{
	struct vhu_msg m = {.request = request, .size = sizeof(struct vhu_vring_state)};

	m.payload.state.index = index;
	m.payload.state.num = num;
	return load_ask(t, &m, NULL, 0, NULL);
}

static int set_fd(struct load_transport *t, uint32_t request, uint32_t index, int fd)
{
	struct vhu_msg m = {.request = request, .size = sizeof(uint64_t)};

	m.payload.u64 = index;
	return load_ask(t, &m, &fd, 1, NULL);
}

static int set_addr(struct load_transport *t, const struct load_queue *q)
{
	struct vhu_msg m = {.request = VHU_SET_VRING_ADDR, .size = sizeof(struct vhu_vring_addr)};

	m.payload.addr = (struct vhu_vring_addr){
		.index = q->index,
		.desc = (uintptr_t)q->driver.ring.desc,
		.avail = (uintptr_t)q->driver.ring.avail,
		.used = (uintptr_t)q->driver.ring.used,
	};
	return load_ask(t, &m, NULL, 0, NULL);
}

static void drain(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return; /* nothing in it */
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	/* EAGAIN: the counter is at its end, so the other side has been told often enough. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

static struct load_queue *find_queue(struct load_transport *t, uint32_t queue)
{
	if (t->queue && queue < t->nr_queues)
		return &t->queue[queue];
	load_fail(t, -EINVAL, "there is no queue %u", queue);
	return NULL;
}

int load_queue_start(struct load_transport *t, uint32_t queue)
{
	struct load_queue *q = find_queue(t, queue);
	int err;

	if (!q)
		return -EINVAL;
	if (q->started)
		return load_fail(t, -EALREADY, "queue %u runs already", queue);
	drain(q->kick_fd);
	drain(q->err_fd);
	err = set_state(t, VHU_SET_VRING_NUM, queue, q->driver.ring.size);
	if (!err)
		err = set_state(t, VHU_SET_VRING_BASE, queue, q->base);
	if (!err)
		err = set_addr(t, q);
	if (!err)
		err = set_fd(t, VHU_SET_VRING_CALL, queue, q->call_fd);
	if (!err)
		err = set_fd(t, VHU_SET_VRING_ERR, queue, q->err_fd);
	/* Last but one: this, or the first kick, starts the ring. */
	if (!err)
		err = set_fd(t, VHU_SET_VRING_KICK, queue, q->kick_fd);
	if (!err && (t->features & VHU_BIT(VHU_F_PROTOCOL_FEATURES)))
		err = set_state(t, VHU_SET_VRING_ENABLE, queue, 1);
	if (err)
		return err;
	q->started = true;
	signal_fd(q->kick_fd);
	return 0;
}

int load_queue_stop(struct load_transport *t, uint32_t queue)
{
	struct vhu_msg m = {.request = VHU_GET_VRING_BASE, .size = sizeof(struct vhu_vring_state)};
	struct load_queue *q = find_queue(t, queue);
	int err = 0;

	if (!q)
		return -EINVAL;
	if (!q->started)
		return load_fail(t, -EALREADY, "queue %u does not run", queue);
	if (t->features & VHU_BIT(VHU_F_PROTOCOL_FEATURES))
		err = set_state(t, VHU_SET_VRING_ENABLE, queue, 0);
	if (err)
		return err;
	m.payload.state.index = queue;
	err = load_ask(t, &m, NULL, 0, NULL);
	if (err)
		return err;
	if (m.payload.state.index != queue)
		return load_fail(t, -EPROTO,
				 "daemon at %s: asked for queue %u's base, told queue %u's",
				 t->opts.socket, queue, m.payload.state.index);
	q->base = (uint16_t)m.payload.state.num;
	q->started = false;
	return 0;
}

/* --- use ------------------------------------------------------------------------------------- */

bool load_submit(struct load_queue *q)
{
	vq_driver_publish(&q->driver);
	if (!vq_driver_should_kick(&q->driver))
		return false;
	signal_fd(q->kick_fd);
	return true;
}

/* The socket says nothing by itself but that it ended. */
static int check_sock(int sock)
{
	char c;
	ssize_t n = recv(sock, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? -EPROTO : -ECONNRESET;
}

int load_wait_call(const struct load_transport *t, uint32_t queue, int64_t deadline_ns)
{
	const struct load_queue *q = &t->queue[queue];
	struct pollfd p[] = {
		{.fd = q->call_fd, .events = POLLIN},
		{.fd = q->err_fd, .events = POLLIN},
		{.fd = t->sock, .events = POLLIN},
	};

	if (t->sock < 0)
		return -ENOTCONN;
	for (;;) {
		int64_t left = deadline_ns - vhu_deadline(0);
		struct timespec ts = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
		int n, err;

		if (left < 0)
			ts.tv_sec = ts.tv_nsec = 0;
		n = ppoll(p, ARRAY_SIZE(p), &ts, NULL);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -ETIMEDOUT;
		if (n < 0)
			continue;
		if (p[0].revents) {
			drain(q->call_fd);
			return 0;
		}
		if (p[1].revents)
			return -EIO;
		err = check_sock(t->sock);
		if (err)
			return err;
	}
}
