/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vhost-user side: one socket, one front-end at a time, messages one after the other on a
 * thread of their own. What a front-end says is checked here and in vhost_user.h; a message that
 * cannot be obeyed is refused (REPLY_ACK) or ends the connection, never the daemon.
 */
#ifndef VQFSD_VHOST_H
#define VQFSD_VHOST_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "vqfsd/device.h"

struct fsd_vhost {
	struct fsd_device *dev;
	int listen_fd; /* -1: @sock was given, and is all there will be */
	bool once;     /* end with the first connection */
	int sock;
	int stop_fd; /* eventfd: end */
	int over_fd; /* eventfd, written when the thread ended by itself */
	pthread_t thread;
	bool running;
	/* of the connection */
	uint64_t features, protocol;
	uint8_t status;
};

/*
 * Listens at @path, made with @mode; an old socket that nobody listens on is replaced. Changes the
 * process's umask for a moment: before there are threads. The descriptor, or -errno: -EADDRINUSE
 * when somebody listens, -ENOTSOCK when something else is there.
 */
int fsd_listen(const char *path, mode_t mode);

/*
 * Serves @fd, a listening or a connected UNIX socket, taken over. 0 or -errno: -ENOTSOCK.
 */
int fsd_vhost_start(struct fsd_vhost *v, struct fsd_device *dev, int fd, bool once);
/* Ends the connection and the thread. */
void fsd_vhost_stop(struct fsd_vhost *v);

#endif
