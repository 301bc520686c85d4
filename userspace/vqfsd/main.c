// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vqfsd: opens everything, closes the sandbox, starts the threads, waits for the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "vqfsd/control.h"
#include "vqfsd/device.h"
#include "vqfsd/options.h"
#include "vqfsd/vhost.h"

/* A socket of ours, to be removed at the end, from inside the sandbox as well. */
struct path {
	int dir; /* -1: nothing to remove */
	char *name;
	dev_t dev;
	ino_t ino;
};

struct daemon {
	struct fsd_options o;
	struct fsd_log log;
	struct fsd_fs *fs;
	struct fsd_device *dev;
	struct fsd_vhost vhost;
	struct fsd_control *control;
	int vhost_fd, control_fd, quit_fd, signal_fd;
	struct path vhost_path, control_path;
};

static enum fsd_exit complain(struct daemon *d, enum fsd_exit code, char *error)
{
	fsd_say(&d->log, FSD_LOG_ERROR, "%s", error ? error : "no memory");
	free(error);
	return code;
}

/* --- sockets --------------------------------------------------------------------------------- */

static const char *remedy(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "somebody listens there: end that one, or name another path";
	case -ENOTSOCK:
		return "something that is no socket is there: remove it, or name another path";
	case -ENOENT:
		return "make its directory first";
	case -ENAMETOOLONG:
		return "a socket's path has 107 bytes at most: shorten it";
	default:
		return "name a path that may be written";
	}
}

static int listen_at(struct daemon *d, const char *path, mode_t mode, struct path *p)
{
	_cleanup_free_ char *dir = strdup(path), *name = strdup(path);
	int fd = dir && name ? fsd_listen(path, mode) : -ENOMEM;
	struct stat st;

	if (fd < 0) {
		fsd_say(&d->log, FSD_LOG_ERROR, "cannot listen at %s: %s; %s", path,
			strerrordesc_np(-fd), remedy(fd));
		return fd;
	}
	p->dir = open(dirname(dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
	p->name = strdup(basename(name));
	if (p->dir >= 0 && p->name && !fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW)) {
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
	return fd;
}

static void remove_path(struct path *p)
{
	struct stat st;

	/* Another daemon may have taken the name over. */
	if (p->dir >= 0 && p->name && !fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_dev == p->dev && st.st_ino == p->ino)
		unlinkat(p->dir, p->name, 0);
	vqs_closep(&p->dir);
	free(p->name);
}

static enum fsd_exit open_sockets(struct daemon *d)
{
	if (d->o.socket_path)
		d->vhost_fd = listen_at(d, d->o.socket_path, 0660, &d->vhost_path);
	else
		d->vhost_fd = (int)d->o.fd;
	if (d->vhost_fd < 0)
		return FSD_EXIT_SOCKET;
	if (d->o.control)
		d->control_fd = listen_at(d, d->o.control, 0600, &d->control_path);
	return d->o.control && d->control_fd < 0 ? FSD_EXIT_SOCKET : FSD_EXIT_OK;
}

/* --- limits and sandbox ---------------------------------------------------------------------- */

static void raise_limit(struct daemon *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return;
	if (d->o.rlimit_nofile) {
		r.rlim_cur = d->o.rlimit_nofile;
		r.rlim_max = r.rlim_max < r.rlim_cur ? r.rlim_cur : r.rlim_max;
	} else {
		r.rlim_cur = r.rlim_max;
	}
	if (setrlimit(RLIMIT_NOFILE, &r))
		fsd_say(&d->log, FSD_LOG_WARN,
			"cannot open %llu files: %s; lower --rlimit-nofile, or raise ulimit -Hn",
			(unsigned long long)r.rlim_cur, strerrordesc_np(errno));
}

static enum fsd_exit open_share(struct daemon *d)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;
	char *error = NULL;

	o.shared_dir = d->o.shared_dir;
	o.cache = d->o.cache;
	o.writeback = d->o.writeback;
	o.xattr = d->o.xattr;
	o.readonly = d->o.readonly;
	o.allow_direct_io = d->o.allow_direct_io;
	o.max_background = (uint16_t)d->o.max_background;
	o.keep_creds = geteuid() != 0;
	return fsd_fs_new(&d->fs, &o, &error) ? complain(d, FSD_EXIT_SHARE, error) : FSD_EXIT_OK;
}

static enum fsd_exit close_sandbox(struct daemon *d)
{
	if (d->o.sandbox == FSD_SANDBOX_NONE || (!chroot(d->o.shared_dir) && !chdir("/")))
		return FSD_EXIT_OK;
	fsd_say(&d->log, FSD_LOG_ERROR,
		"cannot close the sandbox in %s: %s; run as root, or give --sandbox none",
		d->o.shared_dir, strerrordesc_np(errno));
	return FSD_EXIT_SHARE;
}

/* --- serving --------------------------------------------------------------------------------- */

static enum fsd_exit make_device(struct daemon *d)
{
	struct fsd_device_options o = {
		.tag = d->o.tag,
		.request_queues = d->o.request_queues,
		.workers = d->o.workers,
		.pool_size = d->o.pool_size,
		.engine = d->o.engine,
		.threshold = d->o.threshold,
		.busy_poll_us = d->o.busy_poll_us,
		.affinity = d->o.has_affinity ? d->o.affinity : NULL,
	};
	char *error = NULL;

	return fsd_device_new(&d->dev, &o, d->fs, &d->log, &error)
		       ? complain(d, FSD_EXIT_FAILED, error)
		       : FSD_EXIT_OK;
}

static enum fsd_exit start(struct daemon *d)
{
	int err;

	d->quit_fd = eventfd(0, EFD_CLOEXEC);
	err = d->quit_fd < 0 ? -errno : 0;
	if (!err && d->control_fd >= 0)
		err = fsd_control_start(&d->control, d->dev, d->control_fd, d->quit_fd);
	if (!err && d->control)
		d->control_fd = -1;
	if (!err)
		err = fsd_vhost_start(&d->vhost, d->dev, d->vhost_fd, d->o.once);
	if (!err)
		return FSD_EXIT_OK;
	fsd_say(&d->log, FSD_LOG_ERROR, "cannot serve the socket: %s; give a UNIX stream socket",
		strerrordesc_np(-err));
	return err == -ENOTSOCK || err == -EBADF ? FSD_EXIT_SOCKET : FSD_EXIT_FAILED;
}

static void wait_for_end(struct daemon *d)
{
	struct pollfd p[] = {
		{.fd = d->signal_fd, .events = POLLIN},
		{.fd = d->quit_fd, .events = POLLIN},
		{.fd = d->vhost.over_fd, .events = POLLIN},
	};

	fsd_say(&d->log, FSD_LOG_INFO, "serving %s, %u request queue%s on %u worker%s",
		d->o.shared_dir, d->o.request_queues, d->o.request_queues == 1 ? "" : "s",
		d->o.workers, d->o.workers == 1 ? "" : "s");
	while (poll(p, ARRAY_SIZE(p), -1) < 0 && errno == EINTR)
		;
}

/* Signals come by a descriptor; threads that are started later have them blocked as well. */
static int block_signals(void)
{
	sigset_t ends;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return signalfd(-1, &ends, SFD_CLOEXEC);
}

static enum fsd_exit serve(struct daemon *d)
{
	enum fsd_exit code;

	d->signal_fd = block_signals();
	raise_limit(d);
	code = open_sockets(d);
	if (!code)
		code = open_share(d);
	if (!code)
		code = close_sandbox(d);
	if (!code)
		code = make_device(d);
	if (!code)
		code = start(d);
	if (!code)
		wait_for_end(d);
	fsd_control_stop(d->control);
	if (d->vhost.running)
		fsd_vhost_stop(&d->vhost);
	fsd_device_free(d->dev);
	fsd_fs_free(d->fs);
	remove_path(&d->vhost_path);
	remove_path(&d->control_path);
	vqs_closep(&d->control_fd);
	vqs_closep(&d->quit_fd);
	vqs_closep(&d->signal_fd);
	return code;
}

/* QEMU's docs/interop/vhost-user.json, VhostUserBackendCapabilities. */
static void print_capabilities(void)
{
	puts("{\n  \"type\": \"fs\",\n  \"features\": [\n    \"separate-options\"\n  ]\n}");
}

int main(int argc, char *argv[])
{
	static struct daemon d = {
		.log = FSD_LOG_DEFAULT,
		.vhost_fd = -1,
		.control_fd = -1,
		.quit_fd = -1,
		.signal_fd = -1,
		.vhost_path = {.dir = -1},
		.control_path = {.dir = -1},
	};
	char *error = NULL;

	if (fsd_options_parse(&d.o, argc, argv, &error))
		return complain(&d, FSD_EXIT_USAGE, error);
	d.log.level = d.o.log_level;
	if (d.o.help)
		fsd_options_help(stdout);
	else if (d.o.man)
		fsd_options_man(stdout);
	else if (d.o.version)
		puts("vqfsd " VQS_VERSION);
	else if (d.o.capabilities)
		print_capabilities();
	else
		return serve(&d);
	return FSD_EXIT_OK;
}
