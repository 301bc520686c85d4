/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading values out of JSON that may come from anywhere: each is checked, here and once, against
 * the bounds that the rest of the program relies on, and memory is charged before it is taken.
 * All readers return false after a complaint; an absent value leaves what is there and is true.
 */
#ifndef EXPORT_PARSE_H
#define EXPORT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "observe/snapshot.h"

/* The deepest is root, devices, device, queues, queue, ops, op, hops, histogram, buckets, pair. */
#define EXP_DEPTH_MAX  16
#define EXP_MEMORY_MAX (256u << 20)

struct exp_parse {
	char *msg;     /* the first complaint; owned */
	size_t memory; /* bytes taken so far */
	bool refused;  /* would have needed more than EXP_MEMORY_MAX */
	bool no_memory;
};

/* Keeps the first complaint; always false. */
bool exp_fail(struct exp_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* *(void **)@array = @n zeroed elements of @size bytes. */
bool exp_take(struct exp_parse *p, void *array, size_t n, size_t size);

bool exp_to_u64(struct exp_parse *p, struct json_object *v, const char *key, uint64_t max,
		uint64_t *out);
bool exp_get_u64(struct exp_parse *p, struct json_object *o, const char *key, uint64_t *out);
bool exp_get_u32(struct exp_parse *p, struct json_object *o, const char *key, uint32_t *out);
bool exp_get_bool(struct exp_parse *p, struct json_object *o, const char *key, bool *out);
/* Longer than @size - 1 bytes, or a NUL inside, is an error. */
bool exp_to_text(struct exp_parse *p, struct json_object *v, const char *key, char *out,
		 size_t size);
bool exp_get_text(struct exp_parse *p, struct json_object *o, const char *key, char *out,
		  size_t size);
/* *@v is NULL when absent, else an object or an array as asked. */
bool exp_get_part(struct exp_parse *p, struct json_object *o, const char *key, enum json_type type,
		  struct json_object **v);
/* Of an array, 0 for NULL. */
size_t exp_length(struct json_object *array);
/* Element @i, of @type; NULL after a complaint. */
struct json_object *exp_element(struct exp_parse *p, struct json_object *array, size_t i,
				enum json_type type, const char *what);
/* Element @i, [a, b]. */
bool exp_get_pair(struct exp_parse *p, struct json_object *array, size_t i, const char *what,
		  uint64_t *a, uint64_t *b);
bool exp_get_hist(struct exp_parse *p, struct json_object *o, const char *key, struct vqs_hist *h);
/* @hops: VQS_HOPS histograms. */
bool exp_get_hops(struct exp_parse *p, struct json_object *o, struct vqs_hist *hops);
/* "lock": a lock's name. */
bool exp_get_kind(struct exp_parse *p, struct json_object *o, enum vqs_lock_kind *kind);
/* "locks": of kinds @first .. @first + @n - 1, each at its place in @locks. */
bool exp_get_locks(struct exp_parse *p, struct json_object *o, struct vqs_snap_lock *locks,
		   int first, int n);
bool exp_get_queue(struct exp_parse *p, struct json_object *o, struct vqs_snap_queue *q);

#endif
