// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of keys: text in, checked field out. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "common/cleanup.h"
#include "common/words.h"
#include "vqload/job_priv.h"

struct unit {
	const char *suffix;
	uint64_t scale;
};

/* As fio with its kb_base of 1024. */
static const struct unit units_size[] = {
	{"", 1},           {"k", 1ULL << 10}, {"m", 1ULL << 20},
	{"g", 1ULL << 30}, {"t", 1ULL << 40}, {NULL, 0},
};
static const struct unit units_time[] = {
	{"", 1000000000},   {"s", 1000000000},    {"us", 1000},          {"ms", 1000000},
	{"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}, {NULL, 0},
};
static const struct unit units_none[] = {{"", 1}, {NULL, 0}};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * DIGITS[SUFFIX], all of the @len bytes of @text; no sign, no fraction. Too large a number
 * saturates, so that it is out of any range.
 */
static int parse_scaled(const char *text, size_t len, const struct unit *units, uint64_t *out)
{
	uint64_t v = 0;
	bool huge = false;
	size_t i = 0;

	for (; i < len && digit(text[i]); i++)
		huge |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v);
	if (!i)
		return -EINVAL;
	for (; units->suffix; units++)
		if (strlen(units->suffix) == len - i &&
		    !strncasecmp(units->suffix, text + i, len - i))
			break;
	if (!units->suffix)
		return -EINVAL;
	huge |= __builtin_mul_overflow(v, units->scale, &v);
	*out = huge ? UINT64_MAX : v;
	return huge ? -ERANGE : 0;
}

static int parse_ranged(const struct load_key *key, const char *text, size_t len,
			const struct unit *units, uint64_t *out)
{
	int r = parse_scaled(text, len, units, out);

	if (r)
		return r;
	return *out < key->min || *out > key->max ? -ERANGE : 0;
}

static const struct unit *units_of(enum load_key_kind kind)
{
	return kind == LOAD_KEY_TIME ? units_time : units_size;
}

static int store_number(const struct load_key *key, const char *text, void *field)
{
	uint64_t v;
	uint32_t narrow;
	int r = parse_ranged(key, text, strlen(text), units_of(key->kind), &v);

	if (r)
		return r;
	narrow = (uint32_t)v;
	if (key->width == sizeof(v))
		memcpy(field, &v, sizeof(v));
	else
		memcpy(field, &narrow, sizeof(narrow));
	return 0;
}

/* fio's flags are 0 and 1, and 1 when the word stands alone. */
static int store_flag(const char *text, bool *field)
{
	if (strcmp(text, "0") && strcmp(text, "1") && *text)
		return -EINVAL;
	*field = strcmp(text, "0");
	return 0;
}

static const char *enum_name(const struct load_key *key, size_t i)
{
	if (key->names)
		return key->names[i];
	return i < LOAD_RWS ? load_rws[i].name : NULL;
}

static int store_enum(const struct load_key *key, const char *text, int *field)
{
	for (size_t i = 0; enum_name(key, i); i++) {
		bool alias = !key->names && load_rws[i].alias && !strcmp(load_rws[i].alias, text);

		if (!alias && strcmp(enum_name(key, i), text))
			continue;
		*field = (int)i;
		return 0;
	}
	return -EINVAL;
}

/* Below the share's root, and staying there. */
static int store_path(const struct load_key *key, const char *text, char *field)
{
	size_t len = strlen(text);

	if (len >= key->width)
		return -ERANGE;
	if (!len)
		return -EINVAL;
	for (const char *p = text; *p;) {
		size_t part = strcspn(p, "/");

		if (!part || (part <= 2 && !strncmp(p, "..", part)))
			return -EINVAL;
		p += part;
		if (*p && !*++p)
			return -EINVAL;
	}
	memcpy(field, text, len + 1);
	return 0;
}

/* The next of a list's items, up to a comma; false: there is none. */
struct items {
	const char *next;
	const char *item;
	size_t len;
};

static bool next_item(struct items *l)
{
	if (!l->next)
		return false;
	l->item = l->next;
	l->len = strcspn(l->item, ",");
	l->next = l->item[l->len] ? l->item + l->len + 1 : NULL;
	return true;
}

static int parse_queue(const char *text, size_t len, uint32_t *queue)
{
	uint64_t v;
	int r = parse_scaled(text, len, units_none, &v);

	if (r)
		return r;
	if (!v || v >= LOAD_QUEUES)
		return -ERANGE;
	*queue = (uint32_t)v;
	return 0;
}

static int parse_queues(const char *text, uint32_t weight[LOAD_QUEUES])
{
	struct items l = {.next = text};

	while (next_item(&l)) {
		const char *dash = memchr(l.item, '-', l.len);
		size_t first = dash ? (size_t)(dash - l.item) : l.len;
		uint32_t from, to;
		int r = parse_queue(l.item, first, &from);

		to = from;
		if (!r && dash)
			r = parse_queue(dash + 1, l.len - first - 1, &to);
		if (r)
			return r;
		if (from > to)
			return -EINVAL;
		while (from <= to)
			weight[from++] = 1;
	}
	return 0;
}

/* "Q:N,..." into @value and @given. */
static int parse_pairs(const struct load_key *key, const char *text, uint64_t value[LOAD_QUEUES],
		       bool given[LOAD_QUEUES])
{
	struct items l = {.next = text};

	while (next_item(&l)) {
		const char *colon = memchr(l.item, ':', l.len);
		uint32_t q;
		int r;

		if (!colon)
			return -EINVAL;
		r = parse_queue(l.item, (size_t)(colon - l.item), &q);
		if (!r)
			r = parse_ranged(key, colon + 1, (size_t)(l.item + l.len - colon - 1),
					 units_size, &value[q]);
		if (r)
			return r;
		/* The same queue twice is a slip of the pen. */
		if (given[q])
			return -EINVAL;
		given[q] = true;
	}
	return 0;
}

static int store_weights(const struct load_key *key, const char *text, uint32_t *weight)
{
	uint64_t value[LOAD_QUEUES];
	bool given[LOAD_QUEUES] = {false};
	int r = parse_pairs(key, text, value, given);

	for (uint32_t q = 0; !r && q < LOAD_QUEUES; q++)
		if (given[q])
			weight[q] = (uint32_t)value[q];
	return r;
}

static int store_queues(const char *text, struct load_job *job)
{
	uint32_t weight[LOAD_QUEUES] = {0};
	int r = parse_queues(text, weight);

	if (r)
		return r;
	memcpy(job->weight, weight, sizeof(weight));
	job->queues_all = false;
	return 0;
}

static int store_rates(const struct load_key *key, const char *text, struct load_job *job)
{
	uint64_t value[LOAD_QUEUES] = {0}, each = 0;
	bool given[LOAD_QUEUES] = {false};
	int r;

	if (strchr(text, ':'))
		r = parse_pairs(key, text, value, given);
	else
		r = parse_ranged(key, text, strlen(text), units_size, &each);
	if (r)
		return r;
	memcpy(job->queue_rate, value, sizeof(value));
	job->queue_rate_each = each;
	return 0;
}

int load_value(const struct load_key *key, const char *text, void *owner)
{
	void *field = (char *)owner + key->offset;
	int r;

	switch (key->kind) {
	case LOAD_KEY_FLAG:
		return store_flag(text, field);
	case LOAD_KEY_ENUM:
		return store_enum(key, text, field);
	case LOAD_KEY_PATH:
		return store_path(key, text, field);
	case LOAD_KEY_QUEUES:
		return store_queues(text, owner);
	case LOAD_KEY_WEIGHTS:
		r = store_weights(key, text, field);
		if (!r && key->job)
			((struct load_job *)owner)->queues_all = false;
		return r;
	case LOAD_KEY_RATES:
		return store_rates(key, text, owner);
	default:
		return store_number(key, text, field);
	}
}

/* "4m" rather than 4194304. */
static void put_number(FILE *f, const struct load_key *key, uint64_t v)
{
	const struct unit *best = units_none;

	if (key->kind == LOAD_KEY_SIZE || key->kind == LOAD_KEY_TIME)
		for (const struct unit *u = units_of(key->kind); u->suffix; u++)
			if (*u->suffix && v && !(v % u->scale) && u->scale >= best->scale)
				best = u;
	fprintf(f, "%" PRIu64 "%s", v / best->scale, best->suffix);
}

static void put_names(FILE *f, const struct load_key *key, const char *text)
{
	struct vqs_nearest near = {.typed = text, .best = UINT32_MAX};

	for (size_t i = 0; enum_name(key, i); i++)
		vqs_consider(&near, enum_name(key, i));
	if (near.name) {
		fprintf(f, "did you mean %s?", near.name);
		return;
	}
	fputs("give", f);
	for (size_t i = 0; enum_name(key, i); i++)
		fprintf(f, "%s %s", i ? "," : "", enum_name(key, i));
}

static const char *what_of(enum load_key_kind kind)
{
	switch (kind) {
	case LOAD_KEY_FLAG:
		return "0 or 1";
	case LOAD_KEY_SIZE:
		return "a size";
	case LOAD_KEY_TIME:
		return "a time";
	case LOAD_KEY_ENUM:
		return "one of its words";
	case LOAD_KEY_PATH:
		return "a path below the share's root";
	case LOAD_KEY_QUEUES:
		return "a list of queues";
	case LOAD_KEY_WEIGHTS:
		return "a list of queues with weights";
	case LOAD_KEY_RATES:
		return "a rate, or a list of queues with rates";
	default:
		return "a number";
	}
}

static void put_remedy(FILE *f, const struct load_key *key, const char *text)
{
	switch (key->kind) {
	case LOAD_KEY_FLAG:
		fprintf(f, "give 0 or 1, or nothing, which is 1");
		return;
	case LOAD_KEY_ENUM:
		put_names(f, key, text);
		return;
	case LOAD_KEY_PATH:
		fprintf(f, "give one of less than %zu bytes, without . and ..", key->width);
		return;
	case LOAD_KEY_QUEUES:
		fprintf(f, "give queues from 1 to %d, such as 1-4,6", LOAD_QUEUES - 1);
		return;
	case LOAD_KEY_WEIGHTS:
	case LOAD_KEY_RATES:
		fprintf(f, "give queues from 1 to %d, each once, with numbers ", LOAD_QUEUES - 1);
		break;
	case LOAD_KEY_TIME:
		fprintf(f, "give seconds, or with us, ms, s, m, h or d, ");
		break;
	case LOAD_KEY_SIZE:
		fprintf(f, "give bytes, or with k, m, g or t, ");
		break;
	default:
		fprintf(f, "give one ");
	}
	fprintf(f, "from ");
	put_number(f, key, key->min);
	fprintf(f, " to ");
	put_number(f, key, key->max);
	if (key->kind == LOAD_KEY_WEIGHTS || key->kind == LOAD_KEY_RATES)
		fprintf(f, ", such as 1:5,2:1");
}

void load_value_explain(const struct load_key *key, const char *text, int why, char *msg,
			size_t size)
{
	_cleanup_fclose_ FILE *f = fmemopen(msg, size - 1, "w");

	/* What does not fit is cut, and there is always an end. */
	memset(msg, 0, size);
	if (!f)
		return;
	if (why == -ERANGE)
		fprintf(f, "%s is out of range; ", vqs_quote(text).text);
	else
		fprintf(f, "%s is not %s; ", vqs_quote(text).text, what_of(key->kind));
	put_remedy(f, key, text);
}
