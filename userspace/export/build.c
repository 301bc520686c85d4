// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/build.h"

#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/hist.h"

void exp_put(struct exp_build *b, struct json_object *o, const char *key, struct json_object *v)
{
	const unsigned int flags = JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT;

	/* To json-c a NULL is a null: here it is a failed allocation. */
	if (o && v && !json_object_object_add_ex(o, key, v, flags))
		return;
	json_object_put(v);
	b->err = -ENOMEM;
}

void exp_add(struct exp_build *b, struct json_object *array, struct json_object *v)
{
	if (array && v && !json_object_array_add(array, v))
		return;
	json_object_put(v);
	b->err = -ENOMEM;
}

void exp_put_u64(struct exp_build *b, struct json_object *o, const char *key, uint64_t v)
{
	exp_put(b, o, key, json_object_new_uint64(v));
}

void exp_put_i64(struct exp_build *b, struct json_object *o, const char *key, int64_t v)
{
	exp_put(b, o, key, json_object_new_int64(v));
}

void exp_put_bool(struct exp_build *b, struct json_object *o, const char *key, bool v)
{
	exp_put(b, o, key, json_object_new_boolean(v));
}

void exp_put_ratio(struct exp_build *b, struct json_object *o, const char *key, uint64_t part,
		   uint64_t whole)
{
	char text[48];
	unsigned __int128 millionths;

	if (!whole)
		return;
	millionths = ((unsigned __int128)part * 1000000 + whole / 2) / whole;
	/* Integers only: printf would follow the locale's decimal point. */
	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(millionths / 1000000),
		 (unsigned long long)(millionths % 1000000));
	exp_put(b, o, key, json_object_new_double_s((double)part / (double)whole, text));
}

/* Bytes of the UTF-8 sequence at @p of at most @left bytes (RFC 3629), 0: none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t len = *p < 0x80   ? 1
		     : *p < 0xc2 ? 0
		     : *p < 0xe0 ? 2
		     : *p < 0xf0 ? 3
		     : *p < 0xf5 ? 4
				 : 0;

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

static struct json_object *new_text(const char *text, size_t size)
{
	size_t len = strnlen(text, size), step;
	_cleanup_free_ char *copy = strndup(text, len);

	if (!copy)
		return NULL;
	for (size_t i = 0; i < len; i += step) {
		step = utf8_length((unsigned char *)copy + i, len - i);
		if (step)
			continue;
		copy[i] = '?';
		step = 1;
	}
	return json_object_new_string_len(copy, (int)len);
}

void exp_put_text(struct exp_build *b, struct json_object *o, const char *key, const char *text,
		  size_t size)
{
	exp_put(b, o, key, new_text(text, size));
}

void exp_add_text(struct exp_build *b, struct json_object *array, const char *text, size_t size)
{
	exp_add(b, array, new_text(text, size));
}

void exp_add_u64(struct exp_build *b, struct json_object *array, uint64_t v)
{
	exp_add(b, array, json_object_new_uint64(v));
}

void exp_put_errno(struct exp_build *b, struct json_object *o, uint32_t err, uint64_t count)
{
	const char *name = strerrorname_np((int)err);
	struct json_object *v = json_object_new_uint64(count);
	char number[24];

	if (err == VQS_ERRNOS - 1) {
		name = "OTHER";
	} else if (!name || !err) {
		snprintf(number, sizeof(number), "ERRNO_%u", err);
		name = number;
	}
	if (o && v && !json_object_object_add(o, name, v))
		return;
	json_object_put(v);
	b->err = -ENOMEM;
}

struct json_object *exp_put_object(struct exp_build *b, struct json_object *o, const char *key)
{
	struct json_object *v = json_object_new_object();

	exp_put(b, o, key, v);
	return b->err ? NULL : v;
}

struct json_object *exp_put_array(struct exp_build *b, struct json_object *o, const char *key)
{
	struct json_object *v = json_object_new_array();

	exp_put(b, o, key, v);
	return b->err ? NULL : v;
}

struct json_object *exp_add_object(struct exp_build *b, struct json_object *array)
{
	struct json_object *v = json_object_new_object();

	exp_add(b, array, v);
	return b->err ? NULL : v;
}

/* ---- histograms ---------------------------------------------------------------------------- */

static void append_u64(struct printbuf *pb, const char *before, uint64_t v)
{
	char text[24], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	printbuf_memappend(pb, before, (int)strlen(before));
	printbuf_memappend(pb, p, (int)(text + sizeof(text) - p));
}

/*
 * Prints a histogram straight from the snapshot. A snapshot of 64 queues has more than a thousand
 * of them with dozens of buckets each: three json-c objects a bucket took most of the time.
 */
static int hist_to_string(struct json_object *o, struct printbuf *pb, int level, int flags)
{
	const struct vqs_hist *h = json_object_get_userdata(o);
	uint64_t count = vqs_hist_count(h);
	const char *before = ",\"buckets\":[[";

	append_u64(pb, "{\"unit\":\"ns\",\"count\":", count);
	append_u64(pb, ",\"sum\":", h->sum);
	append_u64(pb, ",\"max\":", h->max);
	if (count) {
		append_u64(pb, ",\"mean\":", vqs_hist_mean(h));
		append_u64(pb, ",\"p50\":", vqs_hist_percentile(h, 500));
		append_u64(pb, ",\"p90\":", vqs_hist_percentile(h, 900));
		append_u64(pb, ",\"p99\":", vqs_hist_percentile(h, 990));
		append_u64(pb, ",\"p999\":", vqs_hist_percentile(h, 999));
	}
	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		append_u64(pb, before, vqs_hist_low(i));
		append_u64(pb, ",", h->bucket[i]);
		before = "],[";
	}
	if (!strcmp(before, "],["))
		printbuf_memappend(pb, "]]", 2);
	return printbuf_memappend(pb, "}", 1);
}

static bool hist_empty(const struct vqs_hist *h)
{
	uint64_t any = h->sum | h->max;

	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++)
		any |= h->bucket[i];
	return !any;
}

void exp_put_hist(struct exp_build *b, struct json_object *o, const char *key,
		  const struct vqs_hist *h, bool always)
{
	struct json_object *v;

	if (!always && hist_empty(h))
		return;
	v = json_object_new_boolean(false); /* the lightest carrier of a serializer */
	if (v)
		json_object_set_serializer(v, hist_to_string, (void *)h, NULL);
	exp_put(b, o, key, v);
}

int exp_write_line(struct exp_build *b, struct json_object *o, FILE *out)
{
	const char *text = NULL;
	int err = b->err;

	if (!err && o)
		text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								 JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!err && !text)
		err = -ENOMEM;
	errno = 0;
	if (!err && (fputs(text, out) == EOF || fputc('\n', out) == EOF))
		err = errno ? -errno : -EIO;
	json_object_put(o);
	return err;
}
