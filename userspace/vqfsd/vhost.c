// SPDX-License-Identifier: GPL-2.0-or-later
/* The socket: who connects, one message after the other, and what is left when they go. */
#include "vqfsd/vhost.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/cleanup.h"
#include "vqfsd/vhost_priv.h"

/* For a message to come in whole, and for an answer to be taken. */
#define PATIENCE_MS 5000

/* --- listening ------------------------------------------------------------------------------- */

static int bind_at(int sock, const struct sockaddr_un *sa, mode_t mode)
{
	mode_t before = umask(0777 & ~mode);
	int err = bind(sock, (const struct sockaddr *)sa, sizeof(*sa)) ? -errno : 0;

	umask(before);
	return err;
}

/* Whether nobody listens on the socket that is there. */
static bool is_old(const struct sockaddr_un *sa)
{
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return sock >= 0 && connect(sock, (const struct sockaddr *)sa, sizeof(*sa)) &&
	       errno == ECONNREFUSED;
}

int fsd_listen(const char *path, mode_t mode)
{
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct stat st;
	int err;

	if (sock < 0)
		return -errno;
	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	strcpy(sa.sun_path, path);
	if (!lstat(path, &st) && !S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	err = bind_at(sock, &sa, mode);
	if (err == -EADDRINUSE && is_old(&sa) && !unlink(path))
		err = bind_at(sock, &sa, mode);
	if (err)
		return err;
	return listen(sock, 16) ? -errno : TAKE_FD(sock);
}

/* --- a connection ---------------------------------------------------------------------------- */

static bool answer(struct fsd_vhost *v, struct vhu_msg *m)
{
	const int none = -1;
	int err = vhu_send(v->sock, m, &none, 0, vhu_deadline(PATIENCE_MS));

	if (err)
		fsd_say(v->dev->log, FSD_LOG_WARN, "front-end: cannot answer %s: %s; disconnecting",
			vhu_request_name(m->request), strerrordesc_np(-err));
	return !err;
}

static bool refuse(struct fsd_vhost *v, struct vhu_msg *m, bool ack, const char *why)
{
	bool last = !ack || vhu_has_reply(m->request);

	fsd_say(v->dev->log, FSD_LOG_WARN, "front-end: refused %s: %s%s",
		vhu_request_name(m->request), why, last ? "; disconnecting" : "");
	if (last)
		return false;
	vhu_make_ack(m, 1);
	return answer(v, m);
}

/* False: the connection is over. */
static bool take_message(struct fsd_vhost *v)
{
	_cleanup_(vhu_fds_close) struct vhu_fds fds = {0};
	struct vhu_msg m = {0};
	const char *why = NULL;
	bool ack;
	int err;

	err = vhu_recv(v->sock, VHU_FROM_FRONTEND, &m, &fds, vhu_deadline(PATIENCE_MS), &why);
	if (err == -ETIMEDOUT)
		return true;
	ack = m.flags & VHU_NEED_REPLY && v->protocol & VHU_BIT(VHU_PROTOCOL_F_REPLY_ACK);
	if (err == -EOPNOTSUPP)
		return refuse(v, &m, ack, "this back-end does not know it");
	if (err) {
		if (err != -ENODATA)
			fsd_say(v->dev->log, FSD_LOG_WARN, "front-end: %s; disconnecting",
				why ? why : strerrordesc_np(-err));
		return false;
	}
	fsd_say(v->dev->log, FSD_LOG_DEBUG, "front-end: %s", vhu_request_name(m.request));
	err = fsd_vhost_obey(v, &m, &fds, &why);
	if (err)
		return refuse(v, &m, ack, why ? why : strerrordesc_np(-err));
	if (vhu_has_reply(m.request))
		return answer(v, &m);
	if (!ack)
		return true;
	vhu_make_ack(&m, 0);
	return answer(v, &m);
}

void fsd_vhost_reset(struct fsd_vhost *v)
{
	fsd_device_stop(v->dev);
	fsd_fs_reset(v->dev->fs);
	v->status = 0;
}

static void connected(struct fsd_vhost *v, int sock)
{
	struct vqs_fsd_header *h = v->dev->stats.header;

	v->sock = sock;
	v->features = v->protocol = 0;
	v->status = 0;
	fsd_set32(&h->connected, 1);
	fsd_add(&h->connections, 1);
	fsd_say(v->dev->log, FSD_LOG_INFO, "a front-end connected");
}

static void disconnect(struct fsd_vhost *v)
{
	fsd_vhost_reset(v);
	for (uint32_t i = 0; i < v->dev->nr_queues; i++) {
		struct fsd_queue *q = &v->dev->queue[i];

		fsd_queue_set_call(q, -1);
		fsd_queue_set_err(q, -1);
		vqs_closep(&q->kick_next);
		q->kick_next = -1;
		q->has_addr = false;
		q->size = 0;
		q->base = 0;
	}
	fsd_memory_clear(&v->dev->memory);
	vqs_closep(&v->sock);
	v->sock = -1;
	fsd_set32(&v->dev->stats.header->connected, 0);
	fsd_say(v->dev->log, FSD_LOG_INFO, "the front-end is gone");
}

static bool may_accept(int err)
{
	return err == EAGAIN || err == EINTR || err == ECONNABORTED || err == EMFILE ||
	       err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

/* False: nobody else will come. */
static bool accept_one(struct fsd_vhost *v)
{
	int sock = accept4(v->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (sock >= 0) {
		connected(v, sock);
		return true;
	}
	fsd_say(v->dev->log, FSD_LOG_ERROR, "cannot accept a front-end: %s",
		strerrordesc_np(errno));
	if (!may_accept(errno))
		return false;
	/* Descriptors or memory come back, or not: no reason to spin. */
	poll(NULL, 0, 100);
	return true;
}

static void *serve(void *arg)
{
	struct fsd_vhost *v = arg;
	uint64_t one = 1;
	bool more = true;

	pthread_setname_np(pthread_self(), "vqfsd-vhost");
	while (more) {
		struct pollfd p[] = {
			{.fd = v->stop_fd, .events = POLLIN},
			{.fd = v->sock >= 0 ? v->sock : v->listen_fd, .events = POLLIN},
		};

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		if (!p[1].revents)
			continue;
		if (v->sock < 0) {
			more = accept_one(v);
		} else if (!take_message(v)) {
			disconnect(v);
			more = !v->once && v->listen_fd >= 0;
		}
	}
	if (v->sock >= 0)
		disconnect(v);
	if (write(v->over_fd, &one, sizeof(one)) < 0)
		return NULL;
	return NULL;
}

int fsd_vhost_start(struct fsd_vhost *v, struct fsd_device *dev, int fd, bool once)
{
	int listens, err;
	socklen_t len = sizeof(listens);
	sigset_t all, before;

	*v = (struct fsd_vhost){.dev = dev, .listen_fd = -1, .once = once, .sock = -1};
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len))
		return -errno;
	v->stop_fd = eventfd(0, EFD_CLOEXEC);
	v->over_fd = eventfd(0, EFD_CLOEXEC);
	if (v->stop_fd < 0 || v->over_fd < 0)
		return -errno;
	if (listens)
		v->listen_fd = fd;
	else
		connected(v, fd);
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&v->thread, NULL, serve, v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	v->running = !err;
	return err;
}

void fsd_vhost_stop(struct fsd_vhost *v)
{
	uint64_t one = 1;

	if (v->running && write(v->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(v->thread, NULL);
	v->running = false;
	vqs_closep(&v->listen_fd);
	vqs_closep(&v->stop_fd);
	vqs_closep(&v->over_fd);
	v->listen_fd = v->stop_fd = v->over_fd = -1;
}
