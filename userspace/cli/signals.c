// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>

#include "cli/cli.h"
#include "common/cleanup.h"

volatile sig_atomic_t cli_stop;

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

/*
 * The first asks the command to end in order. The second, while it still loads or tears down, ends
 * it at once: what it has attached goes with it. (top lets signals in only where it waits.)
 */
static void on_stop(int sig)
{
	if (cli_stop) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	cli_stop = 1;
}

void cli_install_signals(void)
{
	/* No SA_RESTART: a sleeping or waiting command is to notice. */
	struct sigaction stop = {.sa_handler = on_stop}, ignore = {.sa_handler = SIG_IGN}, old;

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		/* nohup's wish is respected. */
		if (stops[i] == SIGHUP && !sigaction(SIGHUP, NULL, &old) &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(stops[i], &stop, NULL);
	}
	/* A closed pipe is an error of write(), reported by cli_flush(). */
	sigaction(SIGPIPE, &ignore, NULL);
}

int cli_poll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout)
{
	sigset_t block, old;
	int n = 0;

	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		sigaddset(&block, stops[i]);
	sigprocmask(SIG_BLOCK, &block, &old);
	if (!cli_stop)
		n = ppoll(fds, nr, timeout, &old);
	if (n < 0)
		n = -errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return cli_stop ? -EINTR : n;
}

bool cli_reader_gone(const struct pollfd *p)
{
	return p->revents & (POLLERR | POLLHUP);
}
