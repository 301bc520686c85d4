// SPDX-License-Identifier: GPL-2.0-or-later
/* The socket and its clients: lines in, answers out, nobody waits for anybody. */
#include "vqfsd/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "vqfsd/control_priv.h"

/* --- answers --------------------------------------------------------------------------------- */

static void drop(struct fsd_control *x, struct fsd_client *c)
{
	vqs_closep(&c->fd);
	free(c->out);
	json_object_put(c->reply);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	if (x->holder != c)
		return;
	fsd_say(x->dev->log, FSD_LOG_INFO,
		"the lease's holder is gone: mapping, engines and pinning go back");
	x->holder = NULL;
	fsd_control_revert(x);
}

static ssize_t send_some(struct fsd_control *x, struct fsd_client *c)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {.iov_base = c->out + c->out_done, .iov_len = c->out_len - c->out_done};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

	if (c->send_stats) {
		h.msg_control = control.bytes;
		h.msg_controllen = sizeof(control.bytes);
		control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.align), &x->dev->stats.fd, sizeof(int));
	}
	return sendmsg(c->fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* False: the client is gone. */
static bool flush(struct fsd_control *x, struct fsd_client *c)
{
	while (c->out) {
		ssize_t n = send_some(x, c);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!c->stuck_ns)
				c->stuck_ns = vqs_now_ns(CLOCK_MONOTONIC);
			return true;
		}
		if (n < 0)
			return false;
		c->send_stats = false;
		c->stuck_ns = 0;
		c->out_done += (size_t)n;
		if (c->out_done < c->out_len)
			continue;
		free(c->out);
		c->out = NULL;
	}
	return true;
}

/* The reply, when it is whole, becomes what is sent. */
static void finish(struct fsd_control *x, struct fsd_client *c)
{
	const char *text;

	if (!c->reply || c->waits)
		return;
	text = json_object_to_json_string_ext(c->reply, JSON_C_TO_STRING_PLAIN);
	c->out_done = 0;
	c->out_len = text ? strlen(text) + 1 : 0;
	c->out = text ? malloc(c->out_len) : NULL;
	if (c->out) {
		memcpy(c->out, text, c->out_len - 1);
		c->out[c->out_len - 1] = '\n';
	} else {
		c->ended = true;
	}
	json_object_put(c->reply);
	c->reply = NULL;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Executes what lines are there, one answer after the other. False: the client is gone. */
static bool execute(struct fsd_control *x, struct fsd_client *c)
{
	while (!c->out && !c->waits) {
		char *end = memchr(c->in, '\n', c->in_len);
		size_t len = end ? (size_t)(end - c->in) : c->in_len;

		if (!end && c->in_len < sizeof(c->in))
			return true;
		if (!end && !c->skipping)
			fsd_control_fail(c, "a line of more than %u bytes; no command is so long",
					 FSD_CONTROL_LINE);
		else if (end && !c->skipping)
			fsd_control_line(x, c, c->in, len);
		c->skipping = !end;
		if (end)
			len++;
		memmove(c->in, c->in + len, c->in_len - len);
		c->in_len -= len;
		finish(x, c);
		if (!flush(x, c))
			return false;
	}
	return true;
}

static bool receive(struct fsd_control *x, struct fsd_client *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n)
		return false;
	c->in_len += (size_t)n;
	return execute(x, c);
}

/* --- clients --------------------------------------------------------------------------------- */

static void accept_one(struct fsd_control *x)
{
	static const char full[] =
		"{\"ok\":false,\"error\":\"too many clients; close one and try again\"}\n";
	_cleanup_close_ int fd = accept4(x->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		/* No descriptor is free: one may be soon, and until then nobody can be told. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(NULL, 0, 50);
		return;
	}
	for (uint32_t i = 0; i < FSD_CONTROL_CLIENTS; i++) {
		if (x->client[i].fd >= 0)
			continue;
		x->client[i].fd = TAKE_FD(fd);
		return;
	}
	if (send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static bool is_stuck(const struct fsd_client *c, uint64_t now)
{
	return c->stuck_ns && now - c->stuck_ns > FSD_CONTROL_STUCK_MS * 1000000ULL;
}

static void step(struct fsd_control *x, struct fsd_client *c, short events)
{
	bool there = true;

	if (c->waits) {
		fsd_control_look(x, c);
		finish(x, c);
	}
	there = flush(x, c);
	if (there && events & (POLLIN | POLLHUP | POLLERR) && !c->out && !c->waits)
		there = receive(x, c);
	else if (there && events & (POLLHUP | POLLERR))
		there = false;
	if (there)
		there = execute(x, c);
	if (!there || (c->ended && !c->out) || is_stuck(c, vqs_now_ns(CLOCK_MONOTONIC)))
		drop(x, c);
}

enum { STOP, SEEN, LISTEN, FIXED };

static int fill(struct fsd_control *x, struct pollfd *p)
{
	int timeout = -1;

	p[STOP] = (struct pollfd){.fd = x->stop_fd, .events = POLLIN};
	p[SEEN] = (struct pollfd){.fd = x->dev->seen_fd, .events = POLLIN};
	p[LISTEN] = (struct pollfd){.fd = x->listen_fd, .events = POLLIN};
	for (uint32_t i = 0; i < FSD_CONTROL_CLIENTS; i++) {
		const struct fsd_client *c = &x->client[i];
		short events = c->out ? POLLOUT : c->waits ? 0 : POLLIN;

		p[FIXED + i] = (struct pollfd){.fd = c->fd, .events = events};
		/* Looks by itself only while somebody waits, or does not read. */
		if (c->fd >= 0 && c->waits == FSD_DRAINING)
			timeout = 10;
		else if (c->fd >= 0 && c->stuck_ns && timeout < 0)
			timeout = 1000;
	}
	return timeout;
}

static void *serve(void *arg)
{
	struct fsd_control *x = arg;
	struct pollfd p[FIXED + FSD_CONTROL_CLIENTS];
	uint64_t n;

	pthread_setname_np(pthread_self(), "vqfsd-control");
	for (;;) {
		if (poll(p, ARRAY_SIZE(p), fill(x, p)) < 0 && errno != EINTR)
			return NULL;
		if (p[STOP].revents)
			return NULL;
		if (p[SEEN].revents && read(x->dev->seen_fd, &n, sizeof(n)) < 0)
			continue;
		for (uint32_t i = 0; i < FSD_CONTROL_CLIENTS; i++)
			if (x->client[i].fd >= 0)
				step(x, &x->client[i], p[FIXED + i].revents);
		if (p[LISTEN].revents)
			accept_one(x);
		n = 1;
		if (x->quit && write(x->quit_fd, &n, sizeof(n)) == sizeof(n))
			x->quit = false;
	}
}

int fsd_control_start(struct fsd_control **out, struct fsd_device *dev, int listen_fd, int quit_fd)
{
	struct fsd_control *x = calloc(1, sizeof(*x));
	sigset_t all, before;
	int err;

	*out = NULL;
	if (!x)
		return -ENOMEM;
	x->dev = dev;
	x->listen_fd = listen_fd;
	x->quit_fd = quit_fd;
	for (uint32_t i = 0; i < FSD_CONTROL_CLIENTS; i++)
		x->client[i].fd = -1;
	x->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (x->stop_fd < 0) {
		free(x);
		return -errno;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&x->thread, NULL, serve, x);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		vqs_closep(&x->stop_fd);
		free(x);
		return err;
	}
	*out = x;
	return 0;
}

void fsd_control_stop(struct fsd_control *x)
{
	uint64_t one = 1;

	if (!x)
		return;
	if (write(x->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(x->thread, NULL);
	x->holder = NULL; /* nothing to go back to */
	for (uint32_t i = 0; i < FSD_CONTROL_CLIENTS; i++)
		drop(x, &x->client[i]);
	vqs_closep(&x->listen_fd);
	vqs_closep(&x->stop_fd);
	free(x);
}
