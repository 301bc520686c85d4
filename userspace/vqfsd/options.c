// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line against the table. */
#include "vqfsd/options.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/cpus.h"
#include "common/words.h"
#include "vqfsd/device.h"
#include "vqfsd/log.h"
#include "vqfsd/options_priv.h"

#define OPTION_BYTES 256 /* of one in -o */

struct line {
	struct fsd_options *o;
	char **error;
	bool engine_given;
};

static __attribute__((format(printf, 2, 3))) int fail(const struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(l->error, format, args) < 0)
		*l->error = NULL;
	va_end(args);
	return -EINVAL;
}

/* --- values ---------------------------------------------------------------------------------- */

static int take_number(const struct line *l, const struct fsd_option *p, const char *text)
{
	uint32_t *field = (void *)((char *)l->o + p->offset);
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		return fail(l, "--%s: %s is no number; give one from %u to %u", p->name,
			    vqs_quote(text).text, p->min, p->max);
	if (errno || v < p->min || v > p->max)
		return fail(l, "--%s: %s is out of range; give a number from %u to %u", p->name,
			    vqs_quote(text).text, p->min, p->max);
	*field = (uint32_t)v;
	return 0;
}

static int take_word(struct line *l, const struct fsd_option *p, const char *text)
{
	uint32_t *field = (void *)((char *)l->o + p->offset);
	struct vqs_nearest n = {.typed = text, .best = UINT32_MAX};

	for (uint32_t i = 0; i < ARRAY_SIZE(p->words) && p->words[i]; i++) {
		vqs_consider(&n, p->words[i]);
		if (strcmp(p->words[i], text))
			continue;
		*field = i;
		return 0;
	}
	if (!strcmp(text, "namespace") && !strcmp(p->name, "sandbox"))
		return fail(l, "--sandbox: namespace is not in this version; give chroot or none");
	return fail(l, "--%s: %s is none of its words%s%s; see vqfsd --help", p->name,
		    vqs_quote(text).text, n.name ? "; did you mean " : "", n.name ? n.name : "");
}

static int take_cpus(const struct line *l, const struct fsd_option *p, const char *text)
{
	unsigned long queue;
	char *end;

	queue = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '=' || !queue || queue > FSD_REQUEST_QUEUES_MAX)
		return fail(l,
			    "--%s: %s does not begin with a request queue; give QUEUE=CPUS such "
			    "as 1=0-3",
			    p->name, vqs_quote(text).text);
	if (vqs_cpus_parse(end + 1, &l->o->affinity[queue]))
		return fail(l, "--%s: %s names no CPUs; give QUEUE=CPUS such as 2=5,6,8", p->name,
			    vqs_quote(text).text);
	l->o->has_affinity = true;
	return 0;
}

static int take_value(struct line *l, const struct fsd_option *p, const char *text)
{
	void *field = (char *)l->o + p->offset;

	switch (p->kind) {
	case FSD_FLAG:
		*(bool *)field = true;
		return 0;
	case FSD_NUMBER:
		return take_number(l, p, text);
	case FSD_WORD:
		return take_word(l, p, text);
	case FSD_CPUS:
		return take_cpus(l, p, text);
	case FSD_LEVEL:
		if (!fsd_log_level_named(text, field))
			return 0;
		return fail(l, "--%s: %s is no level; give off, error, warn, info or debug",
			    p->name, vqs_quote(text).text);
	case FSD_TEXT:
		*(const char **)field = text;
		return 0;
	}
	return -EINVAL;
}

/* --- options --------------------------------------------------------------------------------- */

static const struct fsd_option *find(const char *name, size_t len)
{
	for (size_t i = 0; i < fsd_nr_options; i++)
		if (strlen(fsd_option_table[i].name) == len &&
		    !strncmp(fsd_option_table[i].name, name, len))
			return &fsd_option_table[i];
	return NULL;
}

static int fail_unknown(const struct line *l, const char *word)
{
	struct vqs_nearest n = {.typed = word + strspn(word, "-"), .best = UINT32_MAX};

	for (size_t i = 0; i < fsd_nr_options; i++)
		vqs_consider(&n, fsd_option_table[i].name);
	return n.name ? fail(l, "%s is no option; did you mean --%s?", vqs_quote(word).text, n.name)
		      : fail(l, "%s is no option; vqfsd --help lists them", vqs_quote(word).text);
}

/* @value may be in the next word: then *used says so. */
static int take(struct line *l, const struct fsd_option *p, const char *value, const char *next,
		bool *used)
{
	if (!p->arg && value)
		return fail(l, "--%s takes no value; leave out %s", p->name, vqs_quote(value).text);
	if (p->arg && !value) {
		if (!next)
			return fail(l, "--%s needs a value: %s", p->name, p->arg);
		value = next;
		*used = true;
	}
	if (!strcmp(p->name, "engine"))
		l->engine_given = true;
	return take_value(l, p, value);
}

/* What virtiofsd knows, and this daemon does by itself or not at all. */
static bool is_harmless(const char *name)
{
	static const char *const names[] = {
		"readdirplus",    "no_readdirplus",     "no_flock",         "no_posix_lock",
		"no_killpriv_v2", "announce_submounts", "vhost_user_socket"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* One of -o's: text of the command line, which values keep pointing to. */
static int take_small(struct line *l, char *text)
{
	char *value = strchr(text, '=');
	const struct fsd_option *p;
	bool used, off;

	if (value)
		*value++ = '\0';
	if (is_harmless(text))
		return 0;
	off = !strncmp(text, "no_", 3);
	text += off ? 3 : 0;
	for (char *c = text; *c; c++)
		*c = *c == '_' ? '-' : *c;
	p = find(text, strlen(text));
	if (!strcmp(text, "source"))
		p = find("shared-dir", strlen("shared-dir"));
	if (!p || (off && p->kind != FSD_FLAG))
		return fail_unknown(l, text);
	if (p->arg && !value)
		return fail(l, "-o %s needs a value: %s", text, p->arg);
	if (!off)
		return take(l, p, value, NULL, &used);
	*(bool *)((char *)l->o + p->offset) = false;
	return 0;
}

/* Commas separate; the list is cut in place. */
static int take_list(struct line *l, char *list)
{
	char *save, *text;
	int err = 0;

	for (text = strtok_r(list, ",", &save); text && !err; text = strtok_r(NULL, ",", &save))
		err = take_small(l, text);
	return err;
}

static int take_option(struct line *l, char *word, char *next, bool *used)
{
	const struct fsd_option *p;
	const char *value;

	if (!strcmp(word, "-h"))
		return take(l, find("help", 4), NULL, NULL, used);
	if (!strcmp(word, "-V"))
		return take(l, find("version", 7), NULL, NULL, used);
	if (!strcmp(word, "-f")) /* it always stays in the foreground */
		return 0;
	if (!strcmp(word, "-d")) {
		l->o->log_level = FSD_LOG_DEBUG;
		return 0;
	}
	if (!strcmp(word, "-o")) {
		if (!next)
			return fail(l, "-o needs a list of options, such as source=/srv/share");
		*used = true;
		return take_list(l, next);
	}
	if (!strncmp(word, "-o", 2))
		return take_list(l, word + 2);
	if (strncmp(word, "--", 2))
		return word[0] == '-' ? fail_unknown(l, word)
				      : fail(l, "%s is one word too many; options begin with --",
					     vqs_quote(word).text);
	value = strchr(word, '=');
	p = find(word + 2, value ? (size_t)(value - word - 2) : strlen(word + 2));
	return p ? take(l, p, value ? value + 1 : NULL, next, used) : fail_unknown(l, word);
}

/* --- all of it ------------------------------------------------------------------------------- */

static int check(struct line *l)
{
	struct fsd_options *o = l->o;

	if (o->help || o->version || o->capabilities || o->man)
		return 0;
	if (!o->shared_dir || !*o->shared_dir)
		return fail(l, "no directory to share; give --shared-dir DIR");
	if (!o->socket_path && o->fd == UINT32_MAX)
		return fail(l, "no socket to serve; give --socket-path PATH");
	if (o->socket_path && o->fd != UINT32_MAX)
		return fail(l, "both --socket-path and --fd; leave out one");
	if (strlen(o->tag) > FSD_TAG_BYTES)
		return fail(l, "--tag: %s is longer than %u bytes; shorten it",
			    vqs_quote(o->tag).text, FSD_TAG_BYTES);
	if (l->engine_given && o->engine != VQS_FSD_INLINE && !o->pool_size)
		return fail(l, "--engine: there is no pool; give --thread-pool-size as well");
	for (uint32_t i = o->request_queues + 1; i < VHU_MAX_VRINGS; i++)
		if (CPU_COUNT(&o->affinity[i]))
			return fail(l,
				    "--request-queue-cpu-affinity: there is no request queue %u; "
				    "raise --request-queues",
				    i);
	return 0;
}

/* What depends on other options, or on the machine. */
static void derive(struct line *l)
{
	struct fsd_options *o = l->o;
	cpu_set_t cpus;
	uint32_t n = 1;

	if (!l->engine_given && o->pool_size)
		o->engine = VQS_FSD_THRESHOLD;
	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		n = (uint32_t)CPU_COUNT(&cpus);
	if (!o->workers)
		o->workers = o->request_queues < n ? o->request_queues : n;
}

int fsd_options_parse(struct fsd_options *o, int argc, char *const argv[], char **error)
{
	struct line l = {.o = o, .error = error};
	int err = 0;

	memset(o, 0, sizeof(*o));
	*error = NULL;
	o->fd = UINT32_MAX;
	for (size_t i = 0; i < fsd_nr_options && !err; i++)
		if (fsd_option_table[i].fallback)
			err = take_value(&l, &fsd_option_table[i], fsd_option_table[i].fallback);
	for (int i = 1; i < argc && !err; i++) {
		bool used = false;

		err = take_option(&l, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used);
		i += used;
	}
	if (!err)
		err = check(&l);
	if (!err)
		derive(&l);
	return err;
}
