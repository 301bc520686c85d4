// SPDX-License-Identifier: GPL-2.0-or-later
/* vqsteer: dispatch to the subcommands. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "common/cleanup.h"

/*
 * Whoever closed 0, 1 or 2 would make a BPF object take that number, and output go into it. What
 * takes their place fails on the access that matters: standard input on reads, the rest on writes.
 */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int cmd_help(const struct cli_args *a)
{
	int topic = a->topic ? opt_command(a->topic) : -1;

	if (a->man)
		man_print(stdout, topic);
	else if (a->completion)
		completion_print(stdout);
	else if (a->commands)
		for (int i = 0; i < CMDS; i++)
			puts(cli_commands[i].name);
	else
		help_print(stdout, topic);
	return CLI_OK;
}

static int run(const struct cli_args *a)
{
	switch (a->cmd) {
	case CMD_DOCTOR:
		return cmd_doctor(&a->opts);
	case CMD_STAT:
		return cmd_stat(&a->opts);
	case CMD_TOP:
		return cmd_top(&a->opts);
	case CMD_TRACE:
		return cmd_trace(&a->opts);
	default:
		return cmd_help(a);
	}
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *err = NULL;
	struct cli_args args = {0};
	int code;

	fill_standard_fds();
	cli_install_signals();
	if (opt_parse(&args, argc, argv, &err)) {
		fprintf(stderr, "%s\n", err ? err : "vqsteer: out of memory");
		return err ? CLI_USAGE : CLI_MEMORY;
	}
	code = CLI_OK;
	if (args.version)
		puts("vqsteer " VQS_VERSION);
	else if (args.help)
		help_print(stdout, args.opts.command ? (int)args.cmd : -1);
	else
		code = run(&args);
	/* A command that could not write has said so. */
	return code ? code : cli_flush();
}
