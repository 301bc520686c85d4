// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool exp_fail(struct exp_parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!p->msg && vasprintf(&p->msg, fmt, ap) < 0)
		p->msg = NULL;
	va_end(ap);
	return false;
}

bool exp_take(struct exp_parse *p, void *array, size_t n, size_t size)
{
	void *memory;

	if (n > (EXP_MEMORY_MAX - p->memory) / size) {
		p->refused = true;
		return exp_fail(p, "it would take more than %u MiB of memory",
				EXP_MEMORY_MAX >> 20);
	}
	p->memory += n * size;
	memory = calloc(n, size);
	memcpy(array, &memory, sizeof(memory));
	p->no_memory |= !memory;
	return memory || exp_fail(p, "out of memory");
}

/* ---- values: absent ones leave the 0 that is there ----------------------------------------- */

bool exp_to_u64(struct exp_parse *p, struct json_object *v, const char *key, uint64_t max,
		uint64_t *out)
{
	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 0)
		return exp_fail(p, "\"%s\" holds something else than a whole number from 0 up",
				key);
	*out = json_object_get_uint64(v);
	if (*out > max)
		return exp_fail(p, "\"%s\" is more than %llu", key, (unsigned long long)max);
	return true;
}

bool exp_get_u64(struct exp_parse *p, struct json_object *o, const char *key, uint64_t *out)
{
	struct json_object *v;

	return !json_object_object_get_ex(o, key, &v) || exp_to_u64(p, v, key, UINT64_MAX, out);
}

bool exp_get_u32(struct exp_parse *p, struct json_object *o, const char *key, uint32_t *out)
{
	struct json_object *v;
	uint64_t n;

	if (!json_object_object_get_ex(o, key, &v))
		return true;
	if (!exp_to_u64(p, v, key, UINT32_MAX, &n))
		return false;
	*out = (uint32_t)n;
	return true;
}

bool exp_get_bool(struct exp_parse *p, struct json_object *o, const char *key, bool *out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return true;
	if (!json_object_is_type(v, json_type_boolean))
		return exp_fail(p, "\"%s\" is neither true nor false", key);
	*out = json_object_get_boolean(v);
	return true;
}

bool exp_to_text(struct exp_parse *p, struct json_object *v, const char *key, char *out,
		 size_t size)
{
	size_t len;

	if (!json_object_is_type(v, json_type_string))
		return exp_fail(p, "\"%s\" is not a string", key);
	len = (size_t)json_object_get_string_len(v);
	if (len >= size || memchr(json_object_get_string(v), '\0', len))
		return exp_fail(p, "\"%s\" is longer than %zu bytes or contains a NUL", key,
				size - 1);
	memcpy(out, json_object_get_string(v), len);
	out[len] = '\0';
	return true;
}

bool exp_get_text(struct exp_parse *p, struct json_object *o, const char *key, char *out,
		  size_t size)
{
	struct json_object *v;

	return !json_object_object_get_ex(o, key, &v) || exp_to_text(p, v, key, out, size);
}

/* *v is NULL when absent, else an object or array as asked. */
bool exp_get_part(struct exp_parse *p, struct json_object *o, const char *key, enum json_type type,
		  struct json_object **v)
{
	*v = NULL;
	if (!json_object_object_get_ex(o, key, v))
		return true;
	return json_object_is_type(*v, type) ||
	       exp_fail(p, "\"%s\" is not an %s", key, json_type_to_name(type));
}

size_t exp_length(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

/* Element @i, an object or an array as asked; NULL and a complaint otherwise. */
struct json_object *exp_element(struct exp_parse *p, struct json_object *array, size_t i,
				enum json_type type, const char *what)
{
	struct json_object *v = json_object_array_get_idx(array, i);

	if (json_object_is_type(v, type))
		return v;
	exp_fail(p, "element %zu of \"%s\" is not an %s", i, what, json_type_to_name(type));
	return NULL;
}

/* [a, b], as CPUs and buckets are. */
bool exp_get_pair(struct exp_parse *p, struct json_object *array, size_t i, const char *what,
		  uint64_t *a, uint64_t *b)
{
	struct json_object *pair = exp_element(p, array, i, json_type_array, what);

	if (!pair)
		return false;
	if (json_object_array_length(pair) != 2)
		return exp_fail(p, "element %zu of \"%s\" is not a pair", i, what);
	return exp_to_u64(p, json_object_array_get_idx(pair, 0), what, UINT64_MAX, a) &&
	       exp_to_u64(p, json_object_array_get_idx(pair, 1), what, UINT64_MAX, b);
}

bool exp_get_hist(struct exp_parse *p, struct json_object *o, const char *key, struct vqs_hist *h)
{
	struct json_object *v, *buckets;
	uint64_t sum = 0, max = 0;
	uint32_t next = 0;

	if (!exp_get_part(p, o, key, json_type_object, &v))
		return false;
	if (!v)
		return true;
	if (!exp_get_u64(p, v, "sum", &sum) || !exp_get_u64(p, v, "max", &max) ||
	    !exp_get_part(p, v, "buckets", json_type_array, &buckets))
		return false;
	h->sum = sum;
	h->max = max;
	for (size_t i = 0; i < exp_length(buckets); i++) {
		uint64_t low, count;
		uint32_t bucket;

		if (!exp_get_pair(p, buckets, i, "buckets", &low, &count))
			return false;
		bucket = vqs_hist_bucket(low);
		if (vqs_hist_low(bucket) != low || bucket < next)
			return exp_fail(p,
					"bucket %zu of \"%s\" does not begin where one does, or is "
					"out of order",
					i, key);
		h->bucket[bucket] = count;
		next = bucket + 1;
	}
	return true;
}

bool exp_get_hops(struct exp_parse *p, struct json_object *o, struct vqs_hist *hops)
{
	for (int i = 0; i < VQS_HOPS; i++)
		if (!exp_get_hist(p, o, obs_hop_name((enum vqs_hop)i), &hops[i]))
			return false;
	return true;
}
