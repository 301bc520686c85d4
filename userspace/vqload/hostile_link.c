// SPDX-License-Identifier: GPL-2.0-or-later
/* The hostile guest's way to the daemon, and the daemon itself, when a command starts it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "vqload/hostile_priv.h"

#define QUEUE_SIZE   64u
#define REGION_BYTES (1u << 20)
/* How long a daemon that we started is given to end by itself, to learn how it ended. */
#define END_MS       20u
/* Rings of hiprio and of queue 1 are in the first two; the third can be taken away. */
#define REGIONS      3u

static int give_up(struct host *h, int err, const char *text)
{
	snprintf(h->r->error, sizeof(h->r->error), "%s", text);
	return err;
}

/* --- the daemon ------------------------------------------------------------------------------ */

/* A socket that a daemon before left: some do not bind over it. */
static void remove_socket(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
}

static int start(struct host *h)
{
	pid_t self = getpid(), pid;

	remove_socket(h->o->socket);
	pid = fork();
	if (pid < 0)
		return give_up(h, -errno, "cannot start a process for the daemon");
	if (!pid) {
		/* A group of its own, so that all of it can be ended; and with us. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(127);
		execl("/bin/sh", "sh", "-c", h->o->restart, (char *)NULL);
		_exit(127);
	}
	setpgid(pid, pid);
	h->child = pid;
	h->r->starts++;
	return 0;
}

bool host_ended(struct host *h)
{
	int status;

	if (!h->child)
		return true;
	if (waitpid(h->child, &status, WNOHANG) != h->child)
		return false;
	/* What the shell left behind. */
	kill(-h->child, SIGKILL);
	h->child = 0;
	/* Of two in one case the worse one counts. */
	if (h->exit_status == -1 || WIFSIGNALED(status) || WEXITSTATUS(status) > 100)
		h->exit_status = status;
	return true;
}

void host_await_end(struct host *h)
{
	int64_t deadline = vhu_deadline(END_MS);

	while (h->child && !host_ended(h) && vhu_deadline(0) < deadline)
		usleep(500);
}

int host_ensure(struct host *h)
{
	return h->o->restart && host_ended(h) ? start(h) : 0;
}

void host_kill(struct host *h)
{
	if (!h->child)
		return;
	kill(-h->child, SIGKILL);
	waitpid(h->child, NULL, 0);
	h->child = 0;
}

/* --- the connection -------------------------------------------------------------------------- */

void host_close(struct host *h)
{
	load_destroy(&h->t);
	h->up = false;
}

static int areas(struct host *h)
{
	struct load_transport *t = &h->t;

	h->in.at = load_alloc(t, 0, HOST_IN_BYTES, 4096, &h->in.gpa);
	h->out.at = load_alloc(t, 0, HOST_OUT_BYTES, 4096, &h->out.gpa);
	h->table.at = load_alloc(t, 0, HOST_TABLE_BYTES, 4096, &h->table.gpa);
	h->spare.at = load_alloc(t, 2, HOST_OUT_BYTES, 4096, &h->spare.gpa);
	return h->in.at && h->out.at && h->table.at && h->spare.at ? 0 : -ENOMEM;
}

static int attempt(struct host *h)
{
	struct load_options o = LOAD_OPTIONS_DEFAULT;
	int err;

	o.socket = h->o->socket;
	o.queue_size = QUEUE_SIZE;
	o.regions = REGIONS;
	o.region_bytes = REGION_BYTES;
	o.timeout_ms = h->o->timeout_ms;
	o.features_off = h->o->features_off;
	load_init(&h->t, &o);
	err = load_connect(&h->t);
	if (!err)
		err = load_start(&h->t);
	if (!err)
		err = areas(h);
	if (err)
		give_up(h, err, h->t.error);
	if (!err) {
		err = host_mount(h);
		if (err)
			snprintf(h->r->error, sizeof(h->r->error),
				 "daemon at %s: cannot mount and make " HOST_SCRATCH ": %s",
				 h->o->socket, strerror(-err));
	}
	h->up = !err;
	h->was_up |= h->up;
	if (err)
		host_close(h);
	return err;
}

/* The daemon may not listen yet, or be about to end and take this connection with it. */
static bool may_come(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -ECONNRESET || err == -EAGAIN ||
	       err == -EPIPE;
}

int host_open(struct host *h)
{
	int64_t deadline = vhu_deadline(h->o->timeout_ms);
	uint64_t before = h->r->starts;
	int err;

	h->must_reopen = false;
	for (;;) {
		/* One that ends again and again at the start is not to be started for ever. */
		if (h->o->restart && host_ended(h)) {
			if (h->r->starts - before > 3)
				return give_up(h, -ECONNREFUSED,
					       "the command of --restart ends at once");
			err = start(h);
			if (err)
				return err;
			deadline = vhu_deadline(h->o->timeout_ms);
		}
		err = attempt(h);
		if (!err || !may_come(err))
			return err;
		/* Nobody was ever there, and nobody is to be waited for. */
		if (!h->o->restart && !h->o->wait && !h->was_up)
			return err;
		if (vhu_deadline(0) > deadline)
			return h->o->restart ? -ETIMEDOUT : err;
		poll(NULL, 0, 2);
	}
}

int host_restart_queue(struct host *h)
{
	struct load_queue *q = &h->t.queue[HOST_QUEUE];
	int err = q->started ? load_queue_stop(&h->t, HOST_QUEUE) : 0;

	if (err)
		return err;
	vq_driver_reset(&q->driver, 0);
	q->base = 0;
	return load_queue_start(&h->t, HOST_QUEUE);
}
