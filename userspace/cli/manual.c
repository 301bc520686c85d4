// SPDX-License-Identifier: GPL-2.0-or-later
/* Man pages in mdoc(7), from the same table as the parser. */
#include "cli/options.h"

#include <ctype.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/prose.h"

/* The day the text last changed; pages must not differ from one build to the next. */
#define MAN_DATE "November 30, 2026"
static void put_header(FILE *f, const char *cmd, const char *summary)
{
	char title[32] = "vqsteer", upper[32];

	if (cmd)
		snprintf(title, sizeof(title), "vqsteer-%s", cmd);
	for (size_t i = 0; i < sizeof(title); i++)
		upper[i] = (char)toupper((unsigned char)title[i]);
	fprintf(f, ".\\\" Made by vqsteer help --man from its table of options; do not edit.\n");
	fprintf(f, ".Dd %s\n.Dt %s 1\n.Os Linux\n", MAN_DATE, upper);
	fprintf(f, ".Sh NAME\n.Nm %s\n.Nd ", title);
	vqs_mdoc_text(f, summary, strlen(summary));
	fputc('\n', f);
}

static void put_option_line(FILE *f, const char *macro, const struct opt_spec *o)
{
	fprintf(f, "%s", macro);
	if (o->letter)
		fprintf(f, " Fl %c%s%s ,", o->letter, o->arg ? " Ar " : "", o->arg ? o->arg : "");
	fprintf(f, " Fl \\-%s%s%s\n", o->name, o->arg ? " Ar " : "", o->arg ? o->arg : "");
}

static void put_synopsis(FILE *f, enum cmd_id cmd)
{
	const struct cmd_spec *c = &cli_commands[cmd];

	fprintf(f, ".Sh SYNOPSIS\n.Nm vqsteer %s\n", c->name);
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];

		if (!opt_takes(o, cmd) || o->hidden)
			continue;
		if (o->letter)
			fprintf(f, ".Op Fl %c", o->letter);
		else
			fprintf(f, ".Op Fl \\-%s", o->name);
		fprintf(f, "%s%s\n", o->arg ? " Ar " : "", o->arg ? o->arg : "");
	}
	if (c->operand)
		fputs(".Op Ar COMMAND\n", f);
}

static void put_options(FILE *f, enum cmd_id cmd)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];

		if (!opt_takes(o, cmd) || o->hidden)
			continue;
		put_option_line(f, ".It", o);
		vqs_mdoc_prose(f, opt_text(o, cmd)->help);
		if (opt_text(o, cmd)->man)
			vqs_mdoc_prose(f, opt_text(o, cmd)->man);
		if (o->range)
			fprintf(f, "The range is %s.\n", o->range);
		if (o->fallback)
			fprintf(f, "The default is %s.\n", o->fallback);
	}
	fputs(".El\n", f);
}

static void put_examples(FILE *f, const struct cmd_spec *c)
{
	if (!c->examples[0].line)
		return;
	fputs(".Sh EXAMPLES\n", f);
	for (const struct cmd_example *e = c->examples; e->line; e++) {
		vqs_mdoc_prose(f, e->says);
		fputs(".Pp\n.Dl ", f);
		vqs_mdoc_text(f, e->line, strlen(e->line));
		fputs(e[1].line ? "\n.Pp\n" : "\n", f);
	}
}

static void put_exits(FILE *f, int cmd)
{
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < cli_nr_exits; i++) {
		if (cmd == CMD_HELP && !cli_exits[i].helps)
			continue;
		fprintf(f, ".It %d\n", cli_exits[i].code);
		vqs_mdoc_prose(f, cli_exits[i].means);
	}
	fputs(".El\n", f);
	if (cmd == CMD_HELP)
		return;
	fputs(".Pp\n", f);
	vqs_mdoc_prose(f, cli_signals);
}

static void put_files(FILE *f)
{
	static const char *const files[][2] = {
		{"/sys/kernel/btf/vmlinux", "The kernel's own types."},
		{"/sys/fs/virtiofs/*/tag", "Tags of the devices (Linux 6.9 and newer)."},
		{"/sys/fs/virtiofs/*/mqs/*/cpu_list", "Which CPU uses which queue."},
		{"/proc/self/mountinfo", "The mounts of virtio-fs."},
		{"/sys/kernel/tracing", "Where kprobes are made on kernels that need it."},
	};

	fputs(".Sh FILES\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		fprintf(f, ".It Pa %s\n%s\n", files[i][0], files[i][1]);
	fputs(".El\n", f);
}

/* The other pages, in order of their names, as mandoc wants them. */
static void put_see_also(FILE *f, int self)
{
	fputs(".Sh SEE ALSO\n", f);
	if (self >= 0)
		fputs(".Xr vqsteer 1 ,\n", f);
	for (int i = 0; i < CMDS; i++)
		if (i != self && i != CMD_HELP)
			fprintf(f, ".Xr vqsteer-%s 1 ,\n", cli_commands[i].name);
	fputs(".Xr capabilities 7\n", f);
}

static void put_overview(FILE *f)
{
	put_header(f, NULL, "see where the time of virtio-fs requests goes");
	fputs(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Nm\n.Fl \\-help\n"
	      ".Nm\n.Fl \\-version\n.Sh DESCRIPTION\n",
	      f);
	vqs_mdoc_prose(f, cli_about);
	fputs(".Pp\nThe commands are:\n.Bl -tag -width Ds\n", f);
	for (int i = 0; i < CMDS; i++) {
		fprintf(f, ".It Cm %s\n", cli_commands[i].name);
		vqs_mdoc_prose(f, cli_commands[i].summary);
	}
	fputs(".El\n", f);
}

static void put_environment(FILE *f)
{
	fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\n"
	      "If set and not empty, nothing is printed in colour.\n.El\n",
	      f);
}

static void put_command(FILE *f, enum cmd_id cmd)
{
	const struct cmd_spec *c = &cli_commands[cmd];

	put_header(f, c->name, c->summary);
	put_synopsis(f, cmd);
	fputs(".Sh DESCRIPTION\n", f);
	vqs_mdoc_prose(f, c->about);
	if (c->man) {
		fputs(".Pp\n", f);
		vqs_mdoc_prose(f, c->man);
	}
	put_options(f, cmd);
}

void man_print(FILE *f, int cmd)
{
	if (cmd < 0)
		put_overview(f);
	else
		put_command(f, (enum cmd_id)cmd);
	/* help opens no file and needs no right. */
	if (cmd != CMD_HELP) {
		put_environment(f);
		put_files(f);
	}
	put_exits(f, cmd);
	if (cmd >= 0)
		put_examples(f, &cli_commands[cmd]);
	if (cmd != CMD_HELP) {
		fputs(".Sh PRIVILEGES\n", f);
		vqs_mdoc_prose(f, cli_privileges);
	}
	if (cmd >= 0 && cli_commands[cmd].overhead) {
		fputs(".Sh OVERHEAD\n", f);
		vqs_mdoc_prose(f, cli_commands[cmd].overhead);
	}
	put_see_also(f, cmd);
}
