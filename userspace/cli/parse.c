// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line against the table. Not getopt_long: its messages name neither reason nor
 * remedy, and its state is global.
 */
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/error.h"
#include "common/words.h"

/* Where parsing stands. */
struct line {
	int argc;
	char *const *argv;
	int next;
	struct cli_args *args;
	int cmd; /* -1: before the command */
	char **err;
};

static __attribute__((format(printf, 2, 3))) int fail(const struct line *l, const char *fmt, ...)
{
	const char *cmd = l->cmd < 0 ? NULL : cli_commands[l->cmd].name;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vqs_verror(l->err, -EINVAL, "vqsteer", cmd, fmt, ap);
	va_end(ap);
	return ret;
}

int opt_command(const char *name)
{
	for (int i = 0; i < CMDS; i++)
		if (!strcmp(cli_commands[i].name, name))
			return i;
	return -1;
}

static int fail_command(const struct line *l, const char *typed)
{
	struct vqs_nearest n = {.typed = typed, .best = UINT32_MAX};

	for (int i = 0; i < CMDS; i++)
		vqs_consider(&n, cli_commands[i].name);
	if (n.name)
		return fail(l, "%s is no command; did you mean %s? vqsteer --help lists them all",
			    vqs_quote(typed).text, n.name);
	return fail(l, "%s is no command; vqsteer --help lists them all", vqs_quote(typed).text);
}

static bool allowed(const struct line *l, const struct opt_spec *o)
{
	/* Before the command only these two are options: of vqsteer itself. */
	if (l->cmd < 0)
		return !strcmp(o->name, "help") || !strcmp(o->name, "version");
	return opt_takes(o, (enum cmd_id)l->cmd);
}

static const char *help_of(const struct line *l, char *buf, size_t size)
{
	snprintf(buf, size, "vqsteer%s%s --help", l->cmd < 0 ? "" : " ",
		 l->cmd < 0 ? "" : cli_commands[l->cmd].name);
	return buf;
}

/* @name without dashes, as typed with @dashes. */
static int fail_option(const struct line *l, const char *dashes, const char *name)
{
	struct vqs_nearest n = {.typed = name, .best = UINT32_MAX};
	char typed[64], help[64];
	bool elsewhere = false;

	snprintf(typed, sizeof(typed), "%s%s", dashes, name);
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];

		if (allowed(l, o) && !o->hidden)
			vqs_consider(&n, o->name);
		elsewhere = elsewhere || !strcmp(o->name, name) ||
			    (o->letter && !name[1] && o->letter == name[0]);
	}
	help_of(l, help, sizeof(help));
	if (elsewhere && l->cmd >= 0)
		return fail(l,
			    "%s is an option of other commands, not of %s; leave it out, or see %s",
			    vqs_quote(typed).text, cli_commands[l->cmd].name, help);
	if (elsewhere)
		return fail(l, "%s belongs after a command; see %s", vqs_quote(typed).text, help);
	if (n.name)
		return fail(l, "%s is no option; did you mean --%s? %s lists them all",
			    vqs_quote(typed).text, n.name, help);
	return fail(l, "%s is no option; %s lists them all", vqs_quote(typed).text, help);
}

static int store(const struct line *l, const struct opt_spec *o, const char *text)
{
	int r = opt_value(o, text, (char *)l->args + o->offset);

	if (r == -ERANGE)
		return fail(l, "--%s: %s is out of range; give %s", o->name, vqs_quote(text).text,
			    o->give);
	if (r)
		return fail(l, "--%s: %s is not %s; give %s", o->name, vqs_quote(text).text,
			    o->what, o->give);
	return 0;
}

/* @attached: the value in the same word, or NULL. */
static int take(struct line *l, const struct opt_spec *o, const char *attached)
{
	if (!o->arg)
		return store(l, o, "");
	if (attached)
		return store(l, o, attached);
	if (l->next >= l->argc)
		return fail(l, "--%s needs %s after it; give %s", o->name, o->what, o->give);
	return store(l, o, l->argv[l->next++]);
}

static int take_long(struct line *l, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	char name[48];

	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];

		if (strlen(o->name) != len || strncmp(o->name, word, len) || !allowed(l, o))
			continue;
		if (value && !o->arg)
			return fail(l, "--%s takes no value; leave out %s", o->name,
				    vqs_quote(value - 1).text);
		return take(l, o, value);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name)), word);
	return fail_option(l, "--", name);
}

/* -i1, -i 1, and flags together. */
static int take_short(struct line *l, const char *letters)
{
	for (const char *p = letters; *p; p++) {
		const struct opt_spec *found = NULL;
		char name[2] = {*p};
		int r;

		for (size_t i = 0; i < cli_nr_options; i++)
			if (cli_options[i].letter == *p && allowed(l, &cli_options[i]))
				found = &cli_options[i];
		if (!found)
			return fail_option(l, "-", name);
		r = take(l, found, found->arg && p[1] ? p + 1 : NULL);
		if (r || found->arg)
			return r;
	}
	return 0;
}

static int take_operand(struct line *l, const char *word)
{
	char help[64];
	int cmd;

	if (l->cmd < 0) {
		cmd = opt_command(word);
		if (cmd < 0)
			return fail_command(l, word);
		l->cmd = cmd;
		l->args->cmd = (enum cmd_id)cmd;
		l->args->opts.command = cli_commands[cmd].name;
		return 0;
	}
	if (cli_commands[l->cmd].operand && !l->args->topic) {
		if (opt_command(word) < 0)
			return fail_command(l, word);
		l->args->topic = word;
		return 0;
	}
	return fail(l, "%s is one word too many; options begin with -, see %s",
		    vqs_quote(word).text, help_of(l, help, sizeof(help)));
}

static int defaults(struct line *l)
{
	*l->args = (struct cli_args){.opts = {.queue = -1, .op = -1}};
	for (size_t i = 0; i < cli_nr_options; i++) {
		int r = cli_options[i].fallback ? store(l, &cli_options[i], cli_options[i].fallback)
						: 0;

		if (r)
			return r;
	}
	return 0;
}

int opt_parse(struct cli_args *a, int argc, char *const argv[], char **err)
{
	struct line l = {argc, argv, 1, a, -1, err};
	bool options = true;
	int r;

	*err = NULL;
	r = defaults(&l);
	while (!r && l.next < argc) {
		const char *word = argv[l.next++];

		if (!options || word[0] != '-' || !word[1])
			r = take_operand(&l, word);
		else if (!strcmp(word, "--"))
			options = false;
		else if (word[1] == '-')
			r = take_long(&l, word + 2);
		else
			r = take_short(&l, word + 1);
	}
	if (r || a->help || a->version || l.cmd >= 0)
		return r;
	return fail(&l,
		    "a command is missing; vqsteer --help lists them, vqsteer doctor is a start");
}
