// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* The tables of 64 queues take 10 KiB. */
#define BUFFER (128 << 10)

void cli_buffer_output(void)
{
	/* glibc heeds the size only of a buffer that it is given. */
	static char buffer[BUFFER];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int cli_json_written(int r)
{
	switch (r) {
	case 0:
		return cli_flush();
	case -ENOMEM:
		cli_error("out of memory");
		return CLI_MEMORY;
	case -EPIPE: /* whoever closed the pipe knows */
		return CLI_OUTPUT;
	default:
		cli_error("cannot write the output: %s; free some space or write it elsewhere",
			  strerror(-r));
		return CLI_OUTPUT;
	}
}
