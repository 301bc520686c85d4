// SPDX-License-Identifier: GPL-2.0-or-later
/* --help: what a command does for you, examples, options; never wider than 80 columns. */
#include "cli/options.h"

#include <string.h>

#include "common/cleanup.h"
#include "common/prose.h"

#define HELP_COLUMN 25

/* "Show x." with range and default becomes "Show x (1 to 9, default 1)." */
static void option_sentence(char *out, size_t size, const struct opt_spec *o, enum cmd_id cmd)
{
	const char *help = opt_text(o, cmd)->help;

	if (!o->range && !o->fallback)
		snprintf(out, size, "%s", help);
	else
		snprintf(out, size, "%.*s (%s%s%s%s).", (int)strlen(help) - 1, help,
			 o->range ? o->range : "", o->range && o->fallback ? ", " : "",
			 o->fallback ? "default " : "", o->fallback ? o->fallback : "");
}

static void print_option(FILE *f, const struct opt_spec *o, enum cmd_id cmd)
{
	char text[256];
	int column;

	if (o->letter)
		column = fprintf(f, "  -%c, --%s", o->letter, o->name);
	else
		column = fprintf(f, "      --%s", o->name);
	if (o->arg)
		column += fprintf(f, " %s", o->arg);
	if (column >= HELP_COLUMN) {
		fputc('\n', f);
		column = 0;
	}
	option_sentence(text, sizeof(text), o, cmd);
	vqs_fill(f, text, HELP_COLUMN, column);
}

static void print_options(FILE *f, enum cmd_id cmd)
{
	fputs("\nOptions:\n", f);
	for (size_t i = 0; i < cli_nr_options; i++)
		if (opt_takes(&cli_options[i], cmd) && !cli_options[i].hidden)
			print_option(f, &cli_options[i], cmd);
}

static void print_examples(FILE *f, const struct cmd_spec *c)
{
	if (!c->examples[0].line)
		return;
	fputs("\nExamples:\n", f);
	for (const struct cmd_example *e = c->examples; e->line; e++) {
		fprintf(f, "  %s\n", e->line);
		vqs_fill(f, e->says, 6, 0);
	}
}

static void print_overview(FILE *f)
{
	fputs("Usage: vqsteer COMMAND [OPTION]...\n\n", f);
	vqs_fill(f, cli_about, 0, 0);
	fputs("\nCommands:\n", f);
	for (int i = 0; i < CMDS; i++) {
		int n = fprintf(f, "  %s", cli_commands[i].name);

		vqs_fill(f, cli_commands[i].summary, 12, n);
	}
	fputs("\nStart with:\n"
	      "  vqsteer doctor\n"
	      "      Does it work here? If something is in the way, it says how to remove it.\n"
	      "  vqsteer stat -i 5\n"
	      "      Where does the time of my requests go?\n\n"
	      "vqsteer COMMAND --help explains a command; vqsteer --version tells the version.\n",
	      f);
}

void help_print(FILE *f, int cmd)
{
	const struct cmd_spec *c;

	if (cmd < 0) {
		print_overview(f);
		return;
	}
	c = &cli_commands[cmd];
	fprintf(f, "Usage: vqsteer %s [OPTION]...%s%s\n\n", c->name, c->operand ? " " : "",
		c->operand ? c->operand : "");
	vqs_fill(f, c->about, 0, 0);
	print_examples(f, c);
	print_options(f, (enum cmd_id)cmd);
	if (cmd != CMD_HELP)
		fprintf(f,
			"\nExit status 0 is success; vqsteer-%s(1) lists the others, what rights "
			"it\n"
			"needs and what it costs.\n",
			c->name);
}
