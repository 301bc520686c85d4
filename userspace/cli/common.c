// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages, output and sleeping, as cli.h promises them. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"
#include "common/clock.h"

static void say(const char *fmt, va_list ap)
{
	/* One line, one write: messages of several processes do not mix. */
	flockfile(stderr);
	fputs("vqsteer: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	fflush(stderr);
	funlockfile(stderr);
}

void cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void cli_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

static bool stdout_closed(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO};

	return poll(&p, 1, 0) == 1 && cli_reader_gone(&p);
}

int cli_flush(void)
{
	int err = 0;

	if (fflush(stdout))
		err = errno;
	if (stdout_closed())
		return CLI_OUTPUT;
	if (!err && !ferror(stdout))
		return CLI_OK;
	cli_error("cannot write the output: %s; free some space or write it elsewhere",
		  err ? strerror(err) : "an earlier write failed");
	return CLI_OUTPUT;
}

static struct timespec until(uint64_t deadline_ns)
{
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC),
		 left = deadline_ns > now ? deadline_ns - now : 0;

	return (struct timespec){
		.tv_sec = (time_t)(left / VQS_SECOND_NS),
		.tv_nsec = (long)(left % VQS_SECOND_NS),
	};
}

bool cli_sleep_until(uint64_t deadline_ns)
{
	struct pollfd p = {.fd = STDOUT_FILENO};
	struct timespec left;

	for (;;) {
		int n;

		left = until(deadline_ns);
		n = cli_poll(&p, 1, &left);
		if (cli_stop || (n > 0 && cli_reader_gone(&p)))
			return false;
		/* 0 is the deadline; anything else (EINTR of a foreign signal, POLLNVAL of a closed
		 * stdout) leaves plain sleeping, which the next round does. */
		if (!left.tv_sec && !left.tv_nsec)
			return true;
		if (n > 0)
			p.fd = -1;
	}
}
