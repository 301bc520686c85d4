/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a command is told to stop, and how it waits without missing that. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <time.h>

/* SIGINT, SIGTERM and SIGHUP set cli_stop; SIGPIPE is ignored. */
void cli_install_signals(void);

/*
 * ppoll() that a signal which sets cli_stop always ends, also one that comes just before. Number
 * of ready descriptors, 0 at @timeout, -EINTR when cli_stop is set, or another -errno.
 */
int cli_poll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout);

/* @p was polled for nothing: a pipe without reader, a terminal that hung up. */
bool cli_reader_gone(const struct pollfd *p);

#endif
