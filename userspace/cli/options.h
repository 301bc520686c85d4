/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one table of commands and options, and what is made from it: the parser, --help, the man
 * pages and bash's completion. A new option is one row in options.c; nothing else lists options.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"

enum cmd_id { CMD_DOCTOR, CMD_STAT, CMD_TOP, CMD_TRACE, CMD_HELP, CMDS };

/* What the command line said: for the subcommand, and for what never leaves main. */
struct cli_args {
	struct cli_opts opts;
	enum cmd_id cmd;
	const char *topic; /* of help: a command; NULL: vqsteer itself */
	bool help;
	bool version;
	bool man;
	bool completion;
	bool commands;
};

enum opt_kind {
	OPT_FLAG,     /* bool */
	OPT_COUNT,    /* uint64_t */
	OPT_U32,      /* uint32_t */
	OPT_INT,      /* int */
	OPT_POWER,    /* uint32_t, a power of two */
	OPT_SECONDS,  /* double; limits in ms */
	OPT_DURATION, /* uint64_t ns; limits in ns; microseconds without a suffix */
	OPT_SIZE,     /* uint64_t bytes */
	OPT_TAG,      /* const char * */
	OPT_FILE,     /* const char * */
	OPT_OP,       /* int, FUSE opcode */
	OPT_RUNGS,    /* uint32_t, bits of enum obs_rung */
};

struct opt_text {
	const char *help; /* one sentence, of --help and the man page */
	const char *man;  /* what the man page adds; NULL: nothing */
};

#define OPT_OWN 3 /* texts of an option for single commands, and the end */

struct opt_spec {
	const char *name;  /* "interval" */
	char letter;       /* 'i'; 0: none */
	bool hidden;       /* for scripts: in no help and no man page */
	const char *arg;   /* "SEC"; NULL: takes no value */
	uint32_t commands; /* bits of 1 << enum cmd_id that take it */
	enum opt_kind kind;
	size_t offset; /* of its field in struct cli_args */
	uint64_t min, max;
	const char *what;     /* a good value is: "a number of seconds" */
	const char *give;     /* remedy: "one from 0.1 to 3600, such as -i 1" */
	const char *range;    /* least and most, as typed: "0.1 to 3600"; NULL: none to tell */
	const char *fallback; /* default, as typed; NULL: none */
	struct opt_text text;
	/* Of commands that take it for something of their own, instead of the above. */
	struct {
		uint32_t commands; /* 0 ends */
		struct opt_text text;
	} own[OPT_OWN];
};

struct cmd_example {
	const char *line; /* NULL ends */
	const char *says;
};

struct cmd_spec {
	const char *name;
	bool hidden;
	const char *summary;  /* NAME line of the man page, list of --help */
	const char *about;    /* paragraphs, separated by empty lines: what it does for you */
	const char *man;      /* further paragraphs, for the man page only; NULL: none */
	const char *overhead; /* NULL: none */
	const char *operand;  /* "[COMMAND]"; NULL: takes none */
	struct cmd_example examples[5];
};

extern const struct cmd_spec cli_commands[CMDS];
extern const struct opt_spec cli_options[];
extern const size_t cli_nr_options;

/* Paragraphs that every page shares. */
extern const char cli_about[];
extern const char cli_privileges[];
extern const char cli_signals[];
struct exit_spec {
	enum cli_exit code;
	bool helps; /* help can end with it too */
	const char *means;
};
extern const struct exit_spec cli_exits[];
extern const size_t cli_nr_exits;

/*
 * Fills @a from @argv (argv[0] is the program); strings in @a point into @argv. 0, or -EINVAL and
 * *err (the caller frees): the whole message, such as "vqsteer stat: --interval: ...". -ENOMEM
 * leaves *err NULL.
 */
int opt_parse(struct cli_args *a, int argc, char *const argv[], char **err);

/* Command called @name, or -1. */
int opt_command(const char *name);

static inline bool opt_takes(const struct opt_spec *o, enum cmd_id cmd)
{
	return o->commands & (1U << cmd);
}

/* What @o means for @cmd. */
const struct opt_text *opt_text(const struct opt_spec *o, enum cmd_id cmd);

/*
 * Parses @text as @o says into @field. 0; -EINVAL: is not what o->what says; -ERANGE: is, but out
 * of range.
 */
int opt_value(const struct opt_spec *o, const char *text, void *field);

/* `vqsteer --help` for cmd < 0, else `vqsteer CMD --help`; at most 80 columns. */
void help_print(FILE *f, int cmd);
/* vqsteer(1) for cmd < 0, else vqsteer-CMD(1), in mdoc(7). */
void man_print(FILE *f, int cmd);
void completion_print(FILE *f);

#endif
