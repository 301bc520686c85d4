// SPDX-License-Identifier: GPL-2.0-or-later
/* A command line against its program's table. */
#include "common/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/words.h"

struct line {
	const struct vqs_program *p;
	void *args;
	int argc;
	char *const *argv;
	int next;
	struct vqs_parsed *out;
	char **err;
};

static __attribute__((format(printf, 2, 3))) int fail(const struct line *l, const char *fmt, ...)
{
	const char *cmd = l->out->cmd < 0 ? NULL : l->p->command[l->out->cmd].name;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vqs_verror(l->err, -EINVAL, l->p->name, cmd, fmt, ap);
	va_end(ap);
	return ret;
}

int vqs_command_named(const struct vqs_program *p, const char *name)
{
	for (size_t i = 0; i < p->nr_commands; i++)
		if (!strcmp(p->command[i].name, name))
			return (int)i;
	return -1;
}

static int fail_command(const struct line *l, const char *typed)
{
	struct vqs_nearest n = {.typed = typed, .best = UINT32_MAX};

	for (size_t i = 0; i < l->p->nr_commands; i++)
		vqs_consider(&n, l->p->command[i].name);
	if (n.name)
		return fail(l, "%s is no command; did you mean %s? %s --help lists them all",
			    vqs_quote(typed).text, n.name, l->p->name);
	return fail(l, "%s is no command; %s --help lists them all", vqs_quote(typed).text,
		    l->p->name);
}

static bool takes(const struct line *l, const struct vqs_option *o)
{
	return l->out->cmd >= 0 && o->commands >> l->out->cmd & 1;
}

static int fail_option(const struct line *l, const char *word)
{
	struct vqs_nearest n = {.typed = word + strspn(word, "-"), .best = UINT32_MAX};
	const char *cmd = l->out->cmd < 0 ? "" : l->p->command[l->out->cmd].name;

	for (size_t i = 0; i < l->p->nr_options; i++)
		if (takes(l, &l->p->option[i]))
			vqs_consider(&n, l->p->option[i].name);
	if (n.name)
		return fail(l, "%s is no option here; did you mean --%s? %s %s --help lists them",
			    vqs_quote(word).text, n.name, l->p->name, cmd);
	return fail(l, "%s is no option here; %s %s --help lists them", vqs_quote(word).text,
		    l->p->name, cmd);
}

/* --- values ------------------------------------------------------------------------------ */

static int parse_number(const char *text, uint64_t *v)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*v = strtoull(text, &end, 10);
	return *end ? -EINVAL : errno ? -ERANGE : 0;
}

/* Seconds with at most three decimals count, in ms. */
static int parse_seconds(const char *text, uint64_t *ms)
{
	uint64_t whole = 0, part = 0, unit = 100;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			return -ERANGE;
	if (p == text)
		return -EINVAL;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
			part += (uint64_t)(*p - '0') * unit;
	if (*p)
		return -EINVAL;
	return __builtin_mul_overflow(whole, 1000, ms) || __builtin_add_overflow(*ms, part, ms)
		       ? -ERANGE
		       : 0;
}

static int store_number(const struct vqs_option *o, const char *text, void *field)
{
	uint64_t v, ns;
	uint32_t narrow;
	int r = o->kind == VQS_SECONDS ? parse_seconds(text, &v) : parse_number(text, &v);

	if (r)
		return r;
	if (v < o->min || v > o->max)
		return -ERANGE;
	if (o->kind == VQS_POWER && (v & (v - 1)))
		return -EINVAL;
	narrow = (uint32_t)v;
	ns = v * 1000000;
	if (o->kind == VQS_SECONDS)
		memcpy(field, &ns, sizeof(ns));
	else if (o->kind == VQS_U64)
		memcpy(field, &v, sizeof(v));
	else
		memcpy(field, &narrow, sizeof(narrow));
	return 0;
}

static int store(const struct line *l, const struct vqs_option *o, const char *text)
{
	void *field = (char *)l->args + o->offset;
	int r = 0;

	if (o->kind == VQS_FLAG)
		*(bool *)field = true;
	else if (o->kind != VQS_TEXT)
		r = store_number(o, text, field);
	else if (*text)
		*(const char **)field = text;
	else
		r = -EINVAL;
	if (r == -ERANGE)
		return fail(l, "--%s: %s is out of range; give %s", o->name, vqs_quote(text).text,
			    o->give);
	if (r)
		return fail(l, "--%s: %s is not %s; give %s", o->name, vqs_quote(text).text,
			    o->what, o->give);
	return 0;
}

/* --- words ------------------------------------------------------------------------------- */

/* The program's own words. */
static int take_other(const struct line *l, const char *word)
{
	_cleanup_free_ char *why = NULL;
	int r = l->p->word && l->out->cmd >= 0 ? l->p->word(l->args, l->out->cmd, word, &why)
					       : -ENOENT;

	if (r == -EINVAL)
		return fail(l, "%s", why);
	/* A near key of the program's own is a better hint than an option. */
	if (r == -ENOENT && why && strstr(why, "did you mean"))
		return fail(l, "%s", why);
	return r;
}

static int take_option(struct line *l, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	const char *value = word[2 + len] ? word + 3 + len : NULL;
	int r;

	for (size_t i = 0; i < l->p->nr_options; i++) {
		const struct vqs_option *o = &l->p->option[i];

		if (!takes(l, o) || strlen(o->name) != len || strncmp(o->name, word + 2, len))
			continue;
		if (!o->arg && value)
			return fail(l, "--%s takes no value; leave out %s", o->name,
				    vqs_quote(value - 1).text);
		if (o->arg && !value && l->next >= l->argc)
			return fail(l, "--%s needs %s after it; give %s", o->name, o->what,
				    o->give);
		if (o->arg && !value)
			value = l->argv[l->next++];
		return store(l, o, value ? value : "");
	}
	r = take_other(l, word);
	return r == -ENOENT ? fail_option(l, word) : r;
}

static int take_operand(struct line *l, const char *word)
{
	int r;

	if (l->out->cmd < 0) {
		l->out->cmd = vqs_command_named(l->p, word);
		return l->out->cmd < 0 ? fail_command(l, word) : 0;
	}
	r = l->p->command[l->out->cmd].operand ? take_other(l, word) : -ENOENT;
	if (r == -ENOENT)
		return fail(l, "%s is one word too many; options begin with --, see %s %s --help",
			    vqs_quote(word).text, l->p->name, l->p->command[l->out->cmd].name);
	return r;
}

static int take_word(struct line *l, const char *word)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		l->out->help = true;
	else if (!strcmp(word, "--version"))
		l->out->version = true;
	else if (word[0] == '-' && word[1] == '-' && word[2])
		return take_option(l, word);
	else if (word[0] == '-' && word[1])
		return fail_option(l, word);
	else
		return take_operand(l, word);
	return 0;
}

static int defaults(const struct line *l)
{
	int r = 0;

	for (size_t i = 0; !r && i < l->p->nr_options; i++)
		if (l->p->option[i].fallback)
			r = store(l, &l->p->option[i], l->p->option[i].fallback);
	return r;
}

int vqs_command_parse(const struct vqs_program *p, void *args, int argc, char *const argv[],
		      struct vqs_parsed *out, char **err)
{
	struct line l = {p, args, argc, argv, 1, out, err};
	int r;

	*out = (struct vqs_parsed){.cmd = -1};
	*err = NULL;
	r = defaults(&l);
	while (!r && l.next < argc && !out->help && !out->version)
		r = take_word(&l, argv[l.next++]);
	if (r || out->help || out->version || out->cmd >= 0)
		return r;
	return fail(&l, "a command is missing; %s --help lists them", p->name);
}
