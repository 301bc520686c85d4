/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One declarative table of commands and options per program, and what is made from it: the parser,
 * --help, man pages and bash's completion. Nothing else lists options. Not getopt_long: its
 * messages name neither reason nor remedy, and its state is global.
 */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum vqs_option_kind {
	VQS_FLAG,    /* bool */
	VQS_U32,     /* uint32_t */
	VQS_POWER,   /* uint32_t, a power of two */
	VQS_U64,     /* uint64_t */
	VQS_SECONDS, /* uint64_t ns, from "1.5"; limits in ms */
	VQS_TEXT,    /* const char *, not empty */
};

struct vqs_option {
	const char *name;  /* "socket" */
	const char *arg;   /* "PATH"; NULL: takes no value */
	uint32_t commands; /* bits that take it */
	enum vqs_option_kind kind;
	size_t offset; /* of its field in the program's arguments */
	uint64_t min, max;
	const char *what;     /* a good value is: "a number of seconds" */
	const char *give;     /* remedy: "one from 0.1 to 3600, such as --timeout 5" */
	const char *range;    /* "0.1 to 3600"; NULL: none to tell */
	const char *fallback; /* default, as typed; NULL: none */
	const char *help;     /* one sentence */
	const char *man;      /* what the page adds; NULL: nothing */
};

struct vqs_example {
	const char *line; /* NULL ends */
	const char *says;
};

struct vqs_command {
	const char *name;
	const char *summary; /* NAME line of the page, list of --help */
	const char *about;   /* paragraphs, separated by empty lines */
	const char *man;     /* further ones for the page only; NULL: none */
	const char *operand; /* "JOBFILE"; NULL: takes none */
	struct vqs_example examples[6];
};

struct vqs_exit {
	int code;
	const char *means;
};

struct vqs_program {
	const char *name, *version, *summary, *about, *signals, *see_also;
	const char *man_date; /* pages must not differ from one build to the next */
	const struct vqs_command *command;
	size_t nr_commands;
	const struct vqs_option *option;
	size_t nr_options;
	const struct vqs_exit *exit;
	size_t nr_exits;
	/*
	 * Words that no option is (with their dashes), and operands. 0: taken; -ENOENT: unknown;
	 * -EINVAL and *err: the reason, for the caller to free. NULL: none.
	 */
	int (*word)(void *args, int cmd, const char *word, char **err);
	/* What --help of a command adds behind its options; NULL: nothing. */
	void (*more_help)(FILE *f, int cmd);
};

struct vqs_parsed {
	int cmd; /* -1: none was named */
	bool help, version;
};

/*
 * Fills @args (fields of options; defaults first) from @argv; strings point into @argv. 0; -EINVAL
 * and *err, the whole message; -ENOMEM leaves *err NULL. After --help or --version nothing more is
 * parsed.
 */
int vqs_command_parse(const struct vqs_program *p, void *args, int argc, char *const argv[],
		      struct vqs_parsed *out, char **err);
/* Command called @name, or -1. */
int vqs_command_named(const struct vqs_program *p, const char *name);

/* Of the program for cmd < 0, else of a command. */
void vqs_command_help(const struct vqs_program *p, FILE *f, int cmd);
void vqs_command_man(const struct vqs_program *p, FILE *f, int cmd);
void vqs_command_completion(const struct vqs_program *p, FILE *f);

#endif
