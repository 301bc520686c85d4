// SPDX-License-Identifier: GPL-2.0-or-later
/* bash's completion, from the table: commands, their options, and the values that are known. */
#include "cli/options.h"

#include "common/cleanup.h"

static void put_commands(FILE *f)
{
	for (int i = 0; i < CMDS; i++)
		fprintf(f, "%s%s", i ? " " : "", cli_commands[i].name);
}

static void put_values(FILE *f, const struct opt_spec *o)
{
	switch (o->kind) {
	case OPT_FILE:
		fputs("\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n", f);
		return;
	case OPT_TAG:
		/* A tag is the host's text: compgen -W would run what is inside. */
		fputs("\t\tlocal tag\n"
		      "\t\twhile IFS= read -r tag; do\n"
		      "\t\t\t[[ $tag != \"$cur\"* ]] || COMPREPLY+=(\"$(printf %q \"$tag\")\")\n"
		      "\t\tdone < <(cat /sys/fs/virtiofs/*/tag 2>/dev/null)\n",
		      f);
		return;
	case OPT_RUNGS:
		fputs("\t\tmapfile -t COMPREPLY < <(compgen -W \"fentry kprobe tracepoint\" "
		      "-- \"$cur\")\n",
		      f);
		return;
	case OPT_OP:
		fputs("\t\tmapfile -t COMPREPLY < <(compgen -W \"", f);
		for (uint32_t op = 1; op < VQS_OP_OTHER; op++)
			if (obs_op_name(op) != obs_op_name(VQS_OP_OTHER))
				fprintf(f, "%s%s", op > 1 ? " " : "", obs_op_name(op));
		fputs("\" -- \"${cur^^}\")\n", f);
		return;
	default:
		/* A number: nothing to offer, but no file names either. */
		fputs("\t\tCOMPREPLY=()\n", f);
	}
}

static void put_value_cases(FILE *f)
{
	fputs("\tcase $prev in\n", f);
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];

		if (!o->arg || o->hidden)
			continue;
		fprintf(f, "\t--%s", o->name);
		if (o->letter)
			fprintf(f, " | -%c", o->letter);
		fputs(")\n", f);
		put_values(f, o);
		fputs("\t\treturn\n\t\t;;\n", f);
	}
	fputs("\tesac\n", f);
}

static void put_option_cases(FILE *f)
{
	fputs("\tcase ${COMP_WORDS[1]} in\n", f);
	for (int cmd = 0; cmd < CMDS; cmd++) {
		const char *blank = "";

		fprintf(f, "\t%s) words=\"", cli_commands[cmd].name);
		for (size_t i = 0; i < cli_nr_options; i++) {
			const struct opt_spec *o = &cli_options[i];

			if (!opt_takes(o, (enum cmd_id)cmd) || o->hidden)
				continue;
			fprintf(f, "%s--%s", blank, o->name);
			blank = " ";
		}
		if (cmd == CMD_HELP) {
			fputs(" ", f);
			put_commands(f);
		}
		fputs("\" ;;\n", f);
	}
	fputs("\t*) return ;;\n\tesac\n", f);
}

void completion_print(FILE *f)
{
	fputs("# shellcheck shell=bash\n"
	      "# Made by vqsteer help --completion from its table of options; do not edit.\n"
	      "_vqsteer() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n"
	      "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"",
	      f);
	put_commands(f);
	fputs(" --help --version\" -- \"$cur\")\n\t\treturn\n\tfi\n", f);
	put_value_cases(f);
	put_option_cases(f);
	fputs("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	      "}\n"
	      "complete -F _vqsteer vqsteer\n",
	      f);
}
