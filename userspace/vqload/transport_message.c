// SPDX-License-Identifier: GPL-2.0-or-later
/* One request and its answer, and the words for what went wrong. */
#include "vqload/transport_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"

int load_fail(struct load_transport *t, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->error, sizeof(t->error), format, args);
	va_end(args);
	return err;
}

static int lost(struct load_transport *t, uint32_t request, int err, const char *why)
{
	const char *name = vhu_request_name(request), *path = t->opts.socket;

	switch (err) {
	case -ETIMEDOUT:
		return load_fail(
			t, err,
			"daemon at %s: no answer to %s within %u ms; it hangs, or raise the "
			"time limit",
			path, name, t->opts.timeout_ms);
	case -EPROTO:
		return load_fail(t, err, "daemon at %s: its answer to %s breaks vhost-user: %s",
				 path, name, why);
	case -ENODATA:
	case -ECONNRESET:
	case -EPIPE:
		return load_fail(
			t, -ECONNRESET,
			"daemon at %s: it closed the connection at %s; its own log says why", path,
			name);
	default:
		return load_fail(t, err, "daemon at %s: cannot exchange %s: %s", path, name,
				 strerror(-err));
	}
}

static int await(struct load_transport *t, struct vhu_msg *m, int *reply_fd, int64_t deadline)
{
	_cleanup_(vhu_fds_close) struct vhu_fds fds = {0};
	uint32_t request = m->request;
	const char *why;
	int err;

	err = vhu_recv(t->sock, VHU_FROM_BACKEND_REPLY, m, &fds, deadline, &why);
	if (err)
		return lost(t, request, err, why);
	if (reply_fd && fds.nr)
		*reply_fd = TAKE_FD(fds.fd[0]);
	return 0;
}

int load_ask(struct load_transport *t, struct vhu_msg *m, const int *fds, uint32_t nr_fds,
	     int *reply_fd)
{
	int64_t deadline = vhu_deadline(t->opts.timeout_ms);
	bool reply = vhu_has_reply(m->request),
	     ack = !reply && load_has(t, VHU_PROTOCOL_F_REPLY_ACK);
	int err;

	if (t->sock < 0)
		return load_fail(t, -ENOTCONN, "daemon at %s: not connected", t->opts.socket);
	m->flags = VHU_VERSION | (ack ? VHU_NEED_REPLY : 0);
	err = vhu_send(t->sock, m, fds, nr_fds, deadline);
	if (err)
		return lost(t, m->request, err, "");
	if (!reply && !ack)
		return 0;
	err = await(t, m, reply_fd, deadline);
	if (!err && ack && m->payload.u64)
		err = load_fail(t, -EREMOTEIO,
				"daemon at %s: it refused %s (status %llu); its own log says why",
				t->opts.socket, vhu_request_name(m->request),
				(unsigned long long)m->payload.u64);
	return err;
}

int load_set_u64(struct load_transport *t, uint32_t request, uint64_t v)
{
	struct vhu_msg m = {.request = request, .size = sizeof(v)};

	m.payload.u64 = v;
	return load_ask(t, &m, NULL, 0, NULL);
}

int load_get_u64(struct load_transport *t, uint32_t request, uint64_t *v)
{
	struct vhu_msg m = {.request = request};
	int err = load_ask(t, &m, NULL, 0, NULL);

	*v = err ? 0 : m.payload.u64;
	return err;
}

int load_set_status(struct load_transport *t, uint8_t status)
{
	return load_has(t, VHU_PROTOCOL_F_STATUS) ? load_set_u64(t, VHU_SET_STATUS, status) : 0;
}
