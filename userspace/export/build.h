/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building JSON objects with json-c, of which every call may fail: the first failure is kept in
 * the builder, later calls do nothing, and the caller looks once, at the end.
 */
#ifndef EXPORT_BUILD_H
#define EXPORT_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "observe/snapshot.h"

struct exp_build {
	int err; /* 0 or -ENOMEM */
};

/* Keys are string constants and distinct within an object; neither is copied nor checked. */
void exp_put(struct exp_build *b, struct json_object *o, const char *key, struct json_object *v);
void exp_put_u64(struct exp_build *b, struct json_object *o, const char *key, uint64_t v);
void exp_put_i64(struct exp_build *b, struct json_object *o, const char *key, int64_t v);
void exp_put_bool(struct exp_build *b, struct json_object *o, const char *key, bool v);
/* Of at most @size bytes, whether it ends with a NUL or not; wrong UTF-8 becomes '?'. */
void exp_put_text(struct exp_build *b, struct json_object *o, const char *key, const char *text,
		  size_t size);
/* @part / @whole with six decimals; left out when @whole is 0. */
void exp_put_ratio(struct exp_build *b, struct json_object *o, const char *key, uint64_t part,
		   uint64_t whole);
/* A histogram; left out when it is empty, unless @always. @h must outlive the writing. */
void exp_put_hist(struct exp_build *b, struct json_object *o, const char *key,
		  const struct vqs_hist *h, bool always);
/* "ENOENT"; "OTHER" for VQS_ERRNOS - 1, "ERRNO_<n>" for numbers without a name. */
void exp_put_errno(struct exp_build *b, struct json_object *o, uint32_t err, uint64_t count);

struct json_object *exp_put_object(struct exp_build *b, struct json_object *o, const char *key);
struct json_object *exp_put_array(struct exp_build *b, struct json_object *o, const char *key);
/* Adds to an array. */
void exp_add(struct exp_build *b, struct json_object *array, struct json_object *v);
struct json_object *exp_add_object(struct exp_build *b, struct json_object *array);
void exp_add_u64(struct exp_build *b, struct json_object *array, uint64_t v);
void exp_add_text(struct exp_build *b, struct json_object *array, const char *text, size_t size);

/* Writes @o and a newline, frees @o (NULL is allowed). b->err, or why @out did not take it. */
int exp_write_line(struct exp_build *b, struct json_object *o, FILE *out);

#endif
