// SPDX-License-Identifier: GPL-2.0-or-later
/* What is made from a program's table for people: --help, mdoc(7), bash's completion. */
#include <ctype.h>
#include <string.h>

#include "common/command.h"
#include "common/prose.h"

#define HELP_COLUMN 25

static bool takes(const struct vqs_option *o, int cmd)
{
	return o->commands >> cmd & 1;
}

/* --- help -------------------------------------------------------------------------------- */

/* "Show x." with range and default becomes "Show x (1 to 9, default 1)." */
static void put_option_help(FILE *f, const struct vqs_option *o)
{
	int column = fprintf(f, "      --%s", o->name);
	char text[256];

	if (o->arg)
		column += fprintf(f, " %s", o->arg);
	if (column >= HELP_COLUMN) {
		fputc('\n', f);
		column = 0;
	}
	if (!o->range && !o->fallback)
		snprintf(text, sizeof(text), "%s", o->help);
	else
		snprintf(text, sizeof(text), "%.*s (%s%s%s%s).", (int)strlen(o->help) - 1, o->help,
			 o->range ? o->range : "", o->range && o->fallback ? ", " : "",
			 o->fallback ? "default " : "", o->fallback ? o->fallback : "");
	vqs_fill(f, text, HELP_COLUMN, column);
}

static void put_overview(const struct vqs_program *p, FILE *f)
{
	fprintf(f, "Usage: %s COMMAND [OPTION]...\n\n", p->name);
	vqs_fill(f, p->about, 0, 0);
	fputs("\nCommands:\n", f);
	for (size_t i = 0; i < p->nr_commands; i++)
		vqs_fill(f, p->command[i].summary, 12, fprintf(f, "  %s", p->command[i].name));
	fputs("\nExit status:\n", f);
	for (size_t i = 0; i < p->nr_exits; i++)
		vqs_fill(f, p->exit[i].means, 6, fprintf(f, "  %d", p->exit[i].code));
	fprintf(f, "\n%s COMMAND --help explains a command; %s --version tells the version.\n",
		p->name, p->name);
}

void vqs_command_help(const struct vqs_program *p, FILE *f, int cmd)
{
	const struct vqs_command *c;

	if (cmd < 0) {
		put_overview(p, f);
		return;
	}
	c = &p->command[cmd];
	fprintf(f, "Usage: %s %s [OPTION]...%s%s%s\n\n", p->name, c->name, c->operand ? " [" : "",
		c->operand ? c->operand : "", c->operand ? "]..." : "");
	vqs_fill(f, c->about, 0, 0);
	if (c->examples[0].line)
		fputs("\nExamples:\n", f);
	for (const struct vqs_example *e = c->examples; e->line; e++) {
		fprintf(f, "  %s\n", e->line);
		vqs_fill(f, e->says, 6, 0);
	}
	fputs("\nOptions:\n", f);
	for (size_t i = 0; i < p->nr_options; i++)
		if (takes(&p->option[i], cmd))
			put_option_help(f, &p->option[i]);
	fputs("      --help", f);
	vqs_fill(f, "Show this.", HELP_COLUMN, 12);
	if (p->more_help)
		p->more_help(f, cmd);
}

/* --- man --------------------------------------------------------------------------------- */

static void put_header(const struct vqs_program *p, FILE *f, const struct vqs_command *c)
{
	char title[48], upper[48];
	const char *summary = c ? c->summary : p->summary;

	snprintf(title, sizeof(title), "%s%s%s", p->name, c ? "-" : "", c ? c->name : "");
	for (size_t i = 0; i < sizeof(title); i++)
		upper[i] = (char)toupper((unsigned char)title[i]);
	fprintf(f, ".\\\" Made by %s help --man from its table of options; do not edit.\n",
		p->name);
	fprintf(f, ".Dd %s\n.Dt %s 1\n.Os Linux\n.Sh NAME\n.Nm %s\n.Nd ", p->man_date, upper,
		title);
	vqs_mdoc_text(f, summary, strlen(summary));
	fputc('\n', f);
}

static void put_synopsis(const struct vqs_program *p, FILE *f, int cmd)
{
	const struct vqs_command *c = &p->command[cmd];

	fprintf(f, ".Sh SYNOPSIS\n.Nm %s %s\n", p->name, c->name);
	for (size_t i = 0; i < p->nr_options; i++)
		if (takes(&p->option[i], cmd))
			fprintf(f, ".Op Fl \\-%s%s%s\n", p->option[i].name,
				p->option[i].arg ? " Ar " : "",
				p->option[i].arg ? p->option[i].arg : "");
	if (c->operand)
		fprintf(f, ".Op Ar %s ...\n", c->operand);
}

static void put_options(const struct vqs_program *p, FILE *f, int cmd)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < p->nr_options; i++) {
		const struct vqs_option *o = &p->option[i];

		if (!takes(o, cmd))
			continue;
		fprintf(f, ".It Fl \\-%s%s%s\n", o->name, o->arg ? " Ar " : "",
			o->arg ? o->arg : "");
		vqs_mdoc_prose(f, o->help);
		if (o->man)
			vqs_mdoc_prose(f, o->man);
		if (o->range)
			fprintf(f, "The range is %s.\n", o->range);
		if (o->fallback)
			fprintf(f, "The default is %s.\n", o->fallback);
	}
	fputs(".It Fl \\-help\nShow the options.\n.El\n", f);
}

static void put_command_list(const struct vqs_program *p, FILE *f)
{
	fputs(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Sh DESCRIPTION\n", f);
	vqs_mdoc_prose(f, p->about);
	fputs(".Pp\nThe commands are:\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < p->nr_commands; i++) {
		fprintf(f, ".It Cm %s\n", p->command[i].name);
		vqs_mdoc_prose(f, p->command[i].summary);
	}
	fputs(".El\n", f);
}

static void put_exits(const struct vqs_program *p, FILE *f)
{
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < p->nr_exits; i++) {
		fprintf(f, ".It %d\n", p->exit[i].code);
		vqs_mdoc_prose(f, p->exit[i].means);
	}
	fputs(".El\n.Pp\n", f);
	vqs_mdoc_prose(f, p->signals);
}

static void put_examples(FILE *f, const struct vqs_command *c)
{
	if (!c->examples[0].line)
		return;
	fputs(".Sh EXAMPLES\n", f);
	for (const struct vqs_example *e = c->examples; e->line; e++) {
		vqs_mdoc_prose(f, e->says);
		fputs(".Pp\n.Dl ", f);
		vqs_mdoc_text(f, e->line, strlen(e->line));
		fputs(e[1].line ? "\n.Pp\n" : "\n", f);
	}
}

/* The command whose name comes next after @last, or NULL. */
static const char *next_name(const struct vqs_program *p, const char *last)
{
	const char *next = NULL;

	for (size_t i = 0; i < p->nr_commands; i++) {
		const char *name = p->command[i].name;

		if (strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0))
			next = name;
	}
	return next;
}

/* In order of their names, as mandoc wants them. */
static void put_see_also(const struct vqs_program *p, FILE *f, int cmd)
{
	fputs(".Sh SEE ALSO\n", f);
	if (cmd >= 0)
		fprintf(f, ".Xr %s 1 ,\n", p->name);
	for (const char *name = ""; cmd < 0 && (name = next_name(p, name));)
		fprintf(f, ".Xr %s-%s 1 ,\n", p->name, name);
	fprintf(f, ".Xr %s\n", p->see_also);
}

void vqs_command_man(const struct vqs_program *p, FILE *f, int cmd)
{
	const struct vqs_command *c = cmd < 0 ? NULL : &p->command[cmd];

	put_header(p, f, c);
	if (c) {
		put_synopsis(p, f, cmd);
		fputs(".Sh DESCRIPTION\n", f);
		vqs_mdoc_prose(f, c->about);
		if (c->man) {
			fputs(".Pp\n", f);
			vqs_mdoc_prose(f, c->man);
		}
		put_options(p, f, cmd);
	} else {
		put_command_list(p, f);
	}
	put_exits(p, f);
	if (c)
		put_examples(f, c);
	put_see_also(p, f, cmd);
}

/* --- completion -------------------------------------------------------------------------- */

void vqs_command_completion(const struct vqs_program *p, FILE *f)
{
	fprintf(f,
		"# shellcheck shell=bash\n"
		"# Made by %s help --completion from its table of options; do not edit.\n"
		"_%s() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n\n"
		"\tCOMPREPLY=()\n"
		"\tif ((COMP_CWORD == 1)); then\n\t\twords=\"",
		p->name, p->name);
	for (size_t i = 0; i < p->nr_commands; i++)
		fprintf(f, "%s ", p->command[i].name);
	fputs("--help --version\"\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n", f);
	for (size_t c = 0; c < p->nr_commands; c++) {
		fprintf(f, "\t\t%s) words=\"", p->command[c].name);
		for (size_t i = 0; i < p->nr_options; i++)
			if (takes(&p->option[i], (int)c))
				fprintf(f, "--%s ", p->option[i].name);
		fputs("--help\" ;;\n", f);
	}
	fprintf(f,
		"\t\t*) return ;;\n\t\tesac\n\tfi\n"
		"\tif [[ $cur == -* ]] || ((COMP_CWORD == 1)); then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\telse\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
		"\tfi\n"
		"}\n"
		"complete -F _%s %s\n",
		p->name, p->name);
}
