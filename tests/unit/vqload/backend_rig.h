/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vhost-user back-end in a thread, for tests: says what it is told to offer, answers every
 * request by one byte repeated, and can be told to go wrong at a given message.
 */
#ifndef TESTS_UNIT_VQLOAD_BACKEND_RIG_H
#define TESTS_UNIT_VQLOAD_BACKEND_RIG_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/virtio_fs.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/cleanup.h"
#include "virtqueue/device.h"
#include "virtqueue/vhost_user.h"

#define BACKEND_VRINGS 8u
#define BACKEND_BYTE   0x5a

enum backend_fault { FINE, HANG, HANG_UP, REFUSE, TALK_NONSENSE };

struct backend_vring {
	struct vq_device device;
	struct vhu_vring_addr addr;
	uint32_t size, base;
	int kick, call, err;
	bool enabled;
};

struct backend {
	/* told */
	uint64_t features, protocol;
	uint32_t queues, config_queues;
	uint32_t wrong_at; /* a request */
	enum backend_fault wrong;
	bool hold; /* pops, keeps what it popped, and hangs up at once */
	/* its own */
	char dir[32], path[64];
	int listener, sock, stop;
	pthread_t thread;
	struct vq_mem mem;
	struct vhu_mem_region user[VQ_MEM_REGIONS];
	struct backend_vring vring[BACKEND_VRINGS];
	uint64_t chosen, chosen_protocol, status;
	uint32_t connections;
	int inflight_fd; /* empty: requests are popped again from where the used ring stands */
};

static inline void backend_check(bool ok)
{
	if (!ok)
		abort();
}

static inline void *backend_local(struct backend *b, uint64_t user)
{
	for (uint32_t i = 0; i < VQ_MEM_REGIONS; i++)
		if (b->user[i].size && user - b->user[i].user_addr < b->user[i].size)
			return vq_mem_at(&b->mem, NULL,
					 b->user[i].gpa + (user - b->user[i].user_addr), 1);
	return NULL;
}

static inline void backend_add(struct backend *b, struct vhu_mem_region r, int fd)
{
	void *p = mmap(NULL, r.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)r.mmap_offset);
	uint32_t i = 0;

	backend_check(p != MAP_FAILED && !vq_mem_add(&b->mem, r.gpa, r.size, p));
	while (b->user[i].size)
		i++;
	b->user[i] = r;
}

static inline void backend_remove(struct backend *b, struct vhu_mem_region r)
{
	munmap(vq_mem_at(&b->mem, NULL, r.gpa, r.size), r.size);
	backend_check(!vq_mem_remove(&b->mem, r.gpa, r.size));
	for (uint32_t i = 0; i < VQ_MEM_REGIONS; i++)
		if (b->user[i].gpa == r.gpa)
			b->user[i].size = 0;
}

static inline void backend_start(struct backend *b, struct backend_vring *v)
{
	struct vq_ring r = {.desc = backend_local(b, v->addr.desc),
			    .avail = backend_local(b, v->addr.avail),
			    .used = backend_local(b, v->addr.used),
			    .size = v->size};

	backend_check(!vq_device_start(&v->device, &r, &b->mem, b->chosen, (uint16_t)v->base));
}

static inline void backend_take_fd(int *into, struct vhu_fds *fds)
{
	vqs_closep(into);
	*into = fds->nr ? TAKE_FD(fds->fd[0]) : -1;
}

static inline void backend_finish(struct backend *b, uint32_t index, struct vq_chain *c)
{
	struct backend_vring *v = &b->vring[index];
	uint64_t one = 1;

	for (uint32_t i = 0; i < c->nr_write; i++)
		memset(c->iov[c->nr_read + i].iov_base, BACKEND_BYTE,
		       c->iov[c->nr_read + i].iov_len);
	if (vq_device_finish(&v->device, c->head, c->write_bytes) > 0)
		backend_check(write(v->call, &one, sizeof(one)) == sizeof(one));
}

static inline void backend_serve(struct backend *b, uint32_t index)
{
	struct backend_vring *v = &b->vring[index];
	struct iovec iov[64];
	struct vq_chain c = {.iov = iov, .max_iov = 64};
	uint64_t n;

	if (read(v->kick, &n, sizeof(n)) < 0 || !v->enabled)
		return;
	do {
		while (vq_device_pop(&v->device, &c) > 0) {
			if (b->hold) {
				shutdown(b->sock, SHUT_RDWR);
				return;
			}
			backend_finish(b, index, &c);
		}
		n = 1;
		if (v->device.pop.fault)
			backend_check(write(v->err, &n, sizeof(n)) == sizeof(n));
	} while (vq_device_enable_kicks(&v->device));
}

static inline void backend_config(struct vhu_msg *m, const struct backend *b)
{
	struct virtio_fs_config c = {.tag = "tag of the test",
				     .num_request_queues = htole32(b->config_queues)};

	memcpy(m->payload.config.data, &c, sizeof(c));
	vhu_make_reply(m, m->size);
}

/* Returns whether @m is now the reply. */
static inline bool backend_do(struct backend *b, struct vhu_msg *m, struct vhu_fds *fds)
{
	uint32_t index = m->payload.state.index % BACKEND_VRINGS;
	struct backend_vring *v = &b->vring[index];
	uint64_t u64 = 0;

	switch (m->request) {
	case VHU_GET_FEATURES:
		u64 = b->features;
		break;
	case VHU_GET_PROTOCOL_FEATURES:
		u64 = b->protocol;
		break;
	case VHU_GET_QUEUE_NUM:
		u64 = b->queues;
		break;
	case VHU_GET_MAX_MEM_SLOTS:
		u64 = VQ_MEM_REGIONS;
		break;
	case VHU_GET_STATUS:
		u64 = b->status;
		break;
	case VHU_SET_STATUS:
		b->status = m->payload.u64;
		return false;
	case VHU_SET_FEATURES:
		b->chosen = m->payload.u64;
		return false;
	case VHU_SET_PROTOCOL_FEATURES:
		b->chosen_protocol = m->payload.u64;
		return false;
	case VHU_GET_CONFIG:
		backend_config(m, b);
		return true;
	case VHU_SET_MEM_TABLE:
		for (uint32_t i = 0; i < fds->nr; i++)
			backend_add(b, m->payload.memory.region[i], fds->fd[i]);
		return false;
	case VHU_ADD_MEM_REG:
		backend_add(b, m->payload.mem_reg.region, fds->fd[0]);
		return false;
	case VHU_REM_MEM_REG:
		backend_remove(b, m->payload.mem_reg.region);
		return false;
	case VHU_SET_VRING_NUM:
		v->size = m->payload.state.num;
		return false;
	case VHU_SET_VRING_BASE:
		v->base = m->payload.state.num;
		return false;
	case VHU_SET_VRING_ADDR:
		v->addr = m->payload.addr;
		return false;
	case VHU_SET_VRING_KICK:
		backend_take_fd(&v->kick, fds);
		backend_start(b, v);
		return false;
	case VHU_SET_VRING_CALL:
		backend_take_fd(&v->call, fds);
		return false;
	case VHU_SET_VRING_ERR:
		backend_take_fd(&v->err, fds);
		return false;
	case VHU_SET_VRING_ENABLE:
		v->enabled = m->payload.state.num;
		/* A kick that came before was passed by. */
		if (v->enabled && v->kick >= 0)
			backend_check(!eventfd_write(v->kick, 1));
		return false;
	case VHU_GET_VRING_BASE:
		m->payload.state.num = vq_device_base(&v->device);
		backend_take_fd(&v->kick, &(struct vhu_fds){0});
		vhu_make_reply(m, m->size);
		return true;
	case VHU_GET_INFLIGHT_FD:
		backend_take_fd(&b->inflight_fd, &(struct vhu_fds){0});
		b->inflight_fd = memfd_create("inflight", MFD_CLOEXEC);
		m->payload.inflight.mmap_size = 4096;
		backend_check(!ftruncate(b->inflight_fd, 4096));
		vhu_make_reply(m, m->size);
		return true;
	default:
		return false;
	}
	vhu_make_reply(m, sizeof(u64));
	m->payload.u64 = u64;
	return true;
}

/* False: the connection is over. */
static inline bool backend_message(struct backend *b)
{
	_cleanup_(vhu_fds_close) struct vhu_fds fds = {0};
	struct vhu_msg m = {0};
	bool ack, reply;
	const char *why;

	if (vhu_recv(b->sock, VHU_FROM_FRONTEND, &m, &fds, vhu_deadline(1000), &why))
		return false;
	ack = m.flags & VHU_NEED_REPLY;
	if (m.request == b->wrong_at && b->wrong == HANG)
		return true;
	if (m.request == b->wrong_at && b->wrong == HANG_UP)
		return false;
	reply = backend_do(b, &m, &fds);
	if (!reply && ack) {
		vhu_make_ack(&m, m.request == b->wrong_at && b->wrong == REFUSE);
		reply = true;
	}
	if (m.request == b->wrong_at && b->wrong == TALK_NONSENSE)
		m.request++;
	if (reply)
		vhu_send(b->sock, &m, &b->inflight_fd, m.request == VHU_GET_INFLIGHT_FD,
			 vhu_deadline(1000));
	return true;
}

static inline void backend_forget(struct backend *b)
{
	for (uint32_t i = 0; i < BACKEND_VRINGS; i++) {
		struct backend_vring *v = &b->vring[i];

		vqs_closep(&v->kick);
		vqs_closep(&v->call);
		vqs_closep(&v->err);
		v->kick = v->call = v->err = -1;
		v->enabled = false;
	}
	while (b->mem.nr) {
		struct vq_mem_region r = b->mem.region[0];

		munmap(r.addr, r.size);
		vq_mem_remove(&b->mem, r.gpa, r.size);
	}
	memset(b->user, 0, sizeof(b->user));
	vqs_closep(&b->sock);
	b->sock = -1;
}

static inline void backend_connection(struct backend *b)
{
	struct pollfd p[2 + BACKEND_VRINGS];

	for (;;) {
		p[0] = (struct pollfd){.fd = b->stop, .events = POLLIN};
		p[1] = (struct pollfd){.fd = b->sock, .events = POLLIN};
		for (uint32_t i = 0; i < BACKEND_VRINGS; i++)
			p[2 + i] = (struct pollfd){.fd = b->vring[i].kick, .events = POLLIN};
		backend_check(poll(p, 2 + BACKEND_VRINGS, -1) > 0);
		for (uint32_t i = 0; i < BACKEND_VRINGS; i++)
			if (p[2 + i].revents)
				backend_serve(b, i);
		if (p[0].revents || (p[1].revents && !backend_message(b)))
			return;
	}
}

static inline void *backend_thread(void *arg)
{
	struct backend *b = arg;

	for (;;) {
		struct pollfd p[] = {{.fd = b->stop, .events = POLLIN},
				     {.fd = b->listener, .events = POLLIN}};

		backend_check(poll(p, 2, -1) > 0);
		if (p[0].revents)
			return NULL;
		b->sock = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
		backend_check(b->sock >= 0);
		__atomic_fetch_add(&b->connections, 1, __ATOMIC_RELAXED);
		backend_connection(b);
		backend_forget(b);
	}
}

static inline void backend_run(struct backend *b)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	strcpy(b->dir, "/tmp/vqload-test-XXXXXX");
	backend_check(mkdtemp(b->dir));
	snprintf(b->path, sizeof(b->path), "%s/sock", b->dir);
	strcpy(sa.sun_path, b->path);
	b->sock = b->inflight_fd = -1;
	for (uint32_t i = 0; i < BACKEND_VRINGS; i++)
		b->vring[i].kick = b->vring[i].call = b->vring[i].err = -1;
	b->stop = eventfd(0, EFD_CLOEXEC);
	b->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	backend_check(b->stop >= 0 && !bind(b->listener, (void *)&sa, sizeof(sa)) &&
		      !listen(b->listener, 1));
	backend_check(!pthread_create(&b->thread, NULL, backend_thread, b));
}

static inline void backend_end(struct backend *b)
{
	uint64_t one = 1;

	backend_check(write(b->stop, &one, sizeof(one)) == sizeof(one));
	pthread_join(b->thread, NULL);
	close(b->stop);
	close(b->listener);
	vqs_closep(&b->inflight_fd);
	unlink(b->path);
	rmdir(b->dir);
}

#endif
