// SPDX-License-Identifier: GPL-2.0-or-later
/* The responder's thread: waits for messages, kicks, late replies, the next connection. */
#include "vqload/responder.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/cleanup.h"
#include "vqload/responder_priv.h"

/* While polling: rounds over the rings between looks at sockets; idle ones until it yields. */
#define ROUNDS     256
#define IDLE_YIELD 1024

void rsp_complain(struct load_responder *r, const char *format, ...)
{
	char complaint[256];
	va_list args;

	va_start(args, format);
	vsnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
	rsp_count(&r->stats.complaints);
	if (r->opts.complain)
		r->opts.complain(r->opts.context, complaint);
}

/* --- life ------------------------------------------------------------------------------------ */

static int listen_at(struct load_responder *r, const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	strcpy(sa.sun_path, path);
	r->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->listen_fd < 0 || bind(r->listen_fd, (struct sockaddr *)&sa, sizeof(sa)))
		return -errno;
	strcpy(r->path, path);
	return listen(r->listen_fd, 8) ? -errno : 0;
}

int load_responder_new(const struct load_responder_options *o, struct load_responder **out)
{
	_cleanup_(load_responder_freep) struct load_responder *r = NULL;
	int err = 0;

	if (!o->queues || o->queues >= VHU_MAX_VRINGS || (!o->socket && o->fd < 0))
		return -EINVAL;
	r = aligned_alloc(_Alignof(struct load_responder),
			  (sizeof(*r) + _Alignof(struct load_responder) - 1) /
				  _Alignof(struct load_responder) *
				  _Alignof(struct load_responder));
	if (!r)
		return -ENOMEM;
	memset(r, 0, sizeof(*r));
	r->opts = *o;
	r->listen_fd = -1;
	r->sock = o->socket ? -1 : o->fd;
	r->nr_queues = o->queues + 1;
	for (uint32_t i = 0; i < VHU_MAX_VRINGS; i++)
		r->queue[i] = (struct rsp_queue){.kick_fd = -1, .call_fd = -1, .err_fd = -1};
	r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->fs = load_fs_new();
	if (r->stop_fd < 0 || !r->fs)
		return -ENOMEM;
	if (o->socket)
		err = listen_at(r, o->socket);
	if (err)
		return err;
	*out = TAKE_PTR(r);
	return 0;
}

void load_responder_free(struct load_responder *r)
{
	if (!r)
		return;
	load_responder_halt(r);
	if (r->fs)
		rsp_disconnect(r);
	load_fs_free(r->fs);
	vqs_closep(&r->listen_fd);
	vqs_closep(&r->stop_fd);
	if (r->path[0])
		unlink(r->path);
	free(r);
}

/* --- serving --------------------------------------------------------------------------------- */

static void set_sock(struct load_responder *r)
{
	int sock = accept4(r->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (sock < 0)
		return;
	r->sock = sock;
	rsp_count(&r->stats.connections);
}

static void serve_queue(struct load_responder *r, uint32_t i, uint32_t *done)
{
	struct rsp_queue *q = &r->queue[i];

	for (;;) {
		if (!r->opts.poll)
			vq_device_disable_kicks(&q->dev);
		if (rsp_queue_serve(r, i, done)) {
			r->hurry = true;
			return;
		}
		if (r->opts.poll || !rsp_queue_runs(q) || !vq_device_enable_kicks(&q->dev))
			return;
	}
}

uint32_t load_responder_serve(struct load_responder *r)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < r->nr_queues; i++)
		if (rsp_queue_runs(&r->queue[i]))
			serve_queue(r, i, &done);
	return done;
}

/* --- waiting --------------------------------------------------------------------------------- */

struct wait {
	struct pollfd p[2 + VHU_MAX_VRINGS];
	uint32_t queue[2 + VHU_MAX_VRINGS]; /* of the pollfd, from 2 on */
	uint32_t nr;
};

static void gather_fds(const struct load_responder *r, struct wait *w)
{
	w->p[0] = (struct pollfd){.fd = r->stop_fd, .events = POLLIN};
	/* One connection at a time; the next waits in the backlog. */
	w->p[1] = (struct pollfd){.fd = r->sock >= 0 ? r->sock : r->listen_fd, .events = POLLIN};
	w->nr = 2;
	for (uint32_t i = 0; i < r->nr_queues && !r->opts.poll; i++) {
		if (!rsp_queue_runs(&r->queue[i]) || r->queue[i].kick_fd < 0)
			continue;
		w->p[w->nr] = (struct pollfd){.fd = r->queue[i].kick_fd, .events = POLLIN};
		w->queue[w->nr++] = i;
	}
}

static int wait_for(struct wait *w, int64_t until_ns, bool now)
{
	int64_t left = until_ns == VHU_NO_DEADLINE ? 0 : until_ns - vhu_deadline(0);
	struct timespec ts;

	left = now || left < 0 ? 0 : left;
	ts = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
	return ppoll(w->p, w->nr, !now && until_ns == VHU_NO_DEADLINE ? NULL : &ts, NULL);
}

static void take_kick(struct load_responder *r, struct rsp_queue *q, short revents)
{
	uint64_t n;

	if (read(q->kick_fd, &n, sizeof(n)) == sizeof(n)) {
		rsp_count(&r->stats.kicks);
		return;
	}
	if (errno == EAGAIN && !(revents & (POLLERR | POLLHUP | POLLNVAL)))
		return;
	/* No eventfd: it would never be quiet. */
	rsp_complain(r, "a kick descriptor that cannot be read");
	vqs_closep(&q->kick_fd);
	q->kick_fd = -1;
}

/* Sockets first: a message may change the queues that follow. */
static bool handle(struct load_responder *r, const struct wait *w)
{
	uint32_t done = 0;

	if (w->p[0].revents)
		return false;
	if (w->p[1].revents) {
		if (r->sock < 0)
			set_sock(r);
		else if (!rsp_message(r))
			rsp_disconnect(r);
	}
	for (uint32_t k = 2; k < w->nr; k++) {
		struct rsp_queue *q = &r->queue[w->queue[k]];

		if (!w->p[k].revents || !rsp_queue_runs(q) || q->kick_fd != w->p[k].fd)
			continue;
		take_kick(r, q, w->p[k].revents);
		serve_queue(r, w->queue[k], &done);
	}
	return true;
}

static bool step_waiting(struct load_responder *r)
{
	int64_t due = rsp_late_push(r, vhu_deadline(0));
	bool hurry = r->hurry;
	struct wait w;
	int n;

	if (hurry) {
		r->hurry = false;
		load_responder_serve(r);
	}
	gather_fds(r, &w);
	n = wait_for(&w, due, r->hurry);
	return n > 0 ? handle(r, &w) : n == 0 || errno == EINTR;
}

static bool step_polling(struct load_responder *r, uint32_t *idle)
{
	struct wait w;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (load_responder_serve(r))
			*idle = 0;
		else if (++*idle >= IDLE_YIELD)
			sched_yield();
	}
	rsp_late_push(r, vhu_deadline(0));
	gather_fds(r, &w);
	/* A connection that waits for nothing but its end need not spin. */
	return wait_for(&w, vhu_deadline(10), r->sock >= 0) > 0 ? handle(r, &w) : true;
}

static void *run(void *context)
{
	struct load_responder *r = context;
	uint32_t idle = 0;
	uint64_t n;

	if (r->opts.cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(r->opts.cpu, &set);
		pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	}
	r->hurry = true;
	while (r->opts.poll ? step_polling(r, &idle) : step_waiting(r))
		;
	if (read(r->stop_fd, &n, sizeof(n)) < 0)
		return NULL;
	return NULL;
}

int load_responder_start(struct load_responder *r)
{
	sigset_t all, old;
	int err;

	if (r->running)
		return -EALREADY;
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	r->running = !err;
	return -err;
}

void load_responder_halt(struct load_responder *r)
{
	uint64_t one = 1;

	if (!r->running)
		return;
	if (write(r->stop_fd, &one, sizeof(one)) < 0)
		return;
	pthread_join(r->thread, NULL);
	r->running = false;
}

/* --- what it says ---------------------------------------------------------------------------- */

void load_responder_stats(const struct load_responder *r, struct load_responder_stats *out)
{
	const uint64_t *from = (const uint64_t *)&r->stats;
	uint64_t *to = (uint64_t *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

uint64_t load_responder_cpu_ns(const struct load_responder *r)
{
	struct timespec t = {0};
	clockid_t clock;

	if (!r->running || pthread_getcpuclockid(r->thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
