// SPDX-License-Identifier: GPL-2.0-or-later
/* A line of a client: parsed, checked against the table of commands, executed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/words.h"
#include "vqfsd/control_priv.h"

#define DEPTH 4 /* of JSON: objects in objects mean nothing here */

static struct json_object *new_reply(bool ok)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ok", json_object_new_boolean(ok));
	return o;
}

static void vfail(struct fsd_client *c, const char *format, va_list args)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, args);
	json_object_put(c->reply);
	c->reply = new_reply(false);
	json_object_object_add(c->reply, "error", json_object_new_string(text));
}

void fsd_control_fail(struct fsd_client *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(c, format, args);
	va_end(args);
}

int fsd_command_fail(const struct fsd_call *k, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(k->c, format, args);
	va_end(args);
	return FSD_FAILED;
}

const char *fsd_command_text(const struct fsd_call *k, const char *key)
{
	struct json_object *o;

	if (!json_object_object_get_ex(k->args, key, &o) ||
	    !json_object_is_type(o, json_type_string))
		return NULL;
	return strlen(json_object_get_string(o)) == (size_t)json_object_get_string_len(o)
		       ? json_object_get_string(o)
		       : NULL;
}

static const struct fsd_command *find(const char *name)
{
	for (size_t i = 0; i < fsd_nr_commands; i++)
		if (!strcmp(fsd_commands[i].name, name))
			return &fsd_commands[i];
	return NULL;
}

static int fail_unknown(const struct fsd_call *k, const char *name)
{
	struct vqs_nearest n = {.typed = name, .best = UINT32_MAX};

	for (size_t i = 0; i < fsd_nr_commands; i++)
		vqs_consider(&n, fsd_commands[i].name);
	return n.name ? fsd_command_fail(k, "%s is no command; did you mean %s?",
					 vqs_quote(name).text, n.name)
		      : fsd_command_fail(k, "%s is no command; vqfsd(1) lists them",
					 vqs_quote(name).text);
}

static bool takes(const struct fsd_command *d, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->keys) && d->keys[i]; i++)
		if (!strcmp(d->keys[i], key))
			return true;
	return !strcmp(key, "command") || !strcmp(key, "id") ||
	       (d->changes && !strcmp(key, "generation"));
}

static int check_lease(const struct fsd_call *k)
{
	struct json_object *o;

	if (k->x->holder != k->c)
		return fsd_command_fail(k,
					"this needs the lease; send {\"command\":\"lease\"} first");
	if (json_object_object_get_ex(k->args, "generation", &o) &&
	    (!json_object_is_type(o, json_type_int) ||
	     json_object_get_uint64(o) != k->x->generation))
		return fsd_command_fail(k,
					"\"generation\" is not that of this lease, which is %llu",
					(unsigned long long)k->x->generation);
	return FSD_DONE;
}

static int run(const struct fsd_call *k)
{
	const char *name = fsd_command_text(k, "command");
	const struct fsd_command *d;

	if (!name)
		return fsd_command_fail(
			k, "\"command\" is missing; give its name, such as \"status\"");
	d = find(name);
	if (!d)
		return fail_unknown(k, name);
	json_object_object_foreach (k->args, key, value) {
		(void)value;
		if (!takes(d, key))
			return fsd_command_fail(k, "%s takes no %s", d->name, vqs_quote(key).text);
	}
	if (d->changes && check_lease(k))
		return FSD_FAILED;
	k->c->reply = new_reply(true);
	json_object_object_add(k->c->reply, "command", json_object_new_string(d->name));
	return d->run(k);
}

static struct json_object *parse(const char *line, size_t len)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH);
	struct json_object *o = NULL;

	if (!t)
		return NULL;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(t, line, (int)len);
	if (json_tokener_get_error(t) != json_tokener_success ||
	    json_tokener_get_parse_end(t) != len || !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(t);
	return o;
}

void fsd_control_line(struct fsd_control *x, struct fsd_client *c, const char *line, size_t len)
{
	struct fsd_call k = {.x = x, .c = c};
	struct json_object *id;

	if (len && line[len - 1] == '\r')
		len--;
	if (!len)
		return;
	k.args = parse(line, len);
	if (!k.args) {
		fsd_control_fail(c, "not a JSON object; send one a line, such as "
				    "{\"command\":\"status\"}");
		return;
	}
	if (run(&k) == FSD_FAILED)
		c->waits = FSD_NOTHING;
	if (json_object_object_get_ex(k.args, "id", &id))
		json_object_object_add(c->reply, "id", json_object_get(id));
	json_object_put(k.args);
	if (c->waits)
		fsd_control_look(x, c);
}
