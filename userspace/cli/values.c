// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of options: text in, checked field out. Whatever the text is, nothing but 0 stores. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/cleanup.h"

/* The tag field of the device's configuration, virtio 1.2, 5.11.4. */
#define TAG_MAX 36

struct unit {
	const char *suffix;
	uint64_t scale;
};

static const struct unit unit_none[] = {{"", 1}, {NULL, 0}};
static const struct unit unit_ms[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {NULL, 0}};
static const struct unit unit_ns[] = {{"", 1000},      {"ns", 1},         {"us", 1000},
				      {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
static const struct unit unit_bytes[] = {
	{"", 1},
	{"K", 1ULL << 10},
	{"KiB", 1ULL << 10},
	{"M", 1ULL << 20},
	{"MiB", 1ULL << 20},
	{"G", 1ULL << 30},
	{"GiB", 1ULL << 30},
	{NULL, 0},
};

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++)
		if (!strcasecmp(units->suffix, suffix))
			return units;
	return NULL;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * DIGITS[.DIGITS][SUFFIX] times the suffix's scale, rounded down; no sign, no exponent, no blanks.
 * Too large a number saturates, so that it is out of any range instead of wrong.
 */
static int parse_scaled(const char *text, const struct unit *units, uint64_t *out)
{
	const char *frac, *p = text;
	const struct unit *unit;
	uint64_t whole = 0, scale, add, value;
	bool huge = false;

	if (!digit(*p))
		return -EINVAL;
	for (; digit(*p); p++)
		huge |= __builtin_mul_overflow(whole, 10, &whole) ||
			__builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole);
	frac = p;
	if (*p == '.' && !digit(*++p))
		return -EINVAL;
	while (digit(*p))
		p++;
	unit = find_unit(units, p);
	if (!unit)
		return -EINVAL;
	huge |= __builtin_mul_overflow(whole, unit->scale, &value);
	/* Each further digit is worth a tenth of the one before, until that is nothing. */
	for (scale = unit->scale; *frac == '.' || digit(*frac); frac++) {
		if (*frac == '.')
			continue;
		add = scale * (uint64_t)(*frac - '0') / 10;
		huge |= __builtin_add_overflow(value, add, &value);
		scale /= 10;
	}
	*out = huge ? UINT64_MAX : value;
	return 0;
}

static int parse_ranged(const struct opt_spec *o, const struct unit *units, const char *text,
			uint64_t *out)
{
	uint64_t v;
	int r;

	if (units == unit_none && strchr(text, '.'))
		return -EINVAL;
	r = parse_scaled(text, units, &v);
	if (r)
		return r;
	if (v < o->min || v > o->max)
		return -ERANGE;
	*out = v;
	return 0;
}

static const struct unit *units_of(enum opt_kind kind)
{
	switch (kind) {
	case OPT_SECONDS:
		return unit_ms;
	case OPT_DURATION:
		return unit_ns;
	case OPT_SIZE:
		return unit_bytes;
	default:
		return unit_none;
	}
}

static int store_number(const struct opt_spec *o, const char *text, void *field)
{
	uint64_t v;
	int r = parse_ranged(o, units_of(o->kind), text, &v);

	if (r)
		return r;
	switch (o->kind) {
	case OPT_SECONDS:
		*(double *)field = (double)v / 1000;
		return 0;
	case OPT_INT:
		*(int *)field = (int)v;
		return 0;
	case OPT_POWER:
		if (v & (v - 1))
			return -EINVAL;
		*(uint32_t *)field = (uint32_t)v;
		return 0;
	case OPT_U32:
		*(uint32_t *)field = (uint32_t)v;
		return 0;
	default:
		*(uint64_t *)field = v;
		return 0;
	}
}

static int store_op(const char *text, int *field)
{
	int op = obs_op_parse(text);

	if (op < 0)
		return op;
	*field = op;
	return 0;
}

static int store_rungs(const char *text, uint32_t *field)
{
	static const char *const names[OBS_RUNGS] = {
		[OBS_RUNG_FENTRY] = "fentry",
		[OBS_RUNG_KPROBE] = "kprobe",
		[OBS_RUNG_TRACEPOINT] = "tracepoint",
	};
	uint32_t rungs = 0;

	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		int found = 0;

		for (int i = 1; i < OBS_RUNGS; i++)
			if (strlen(names[i]) == len && !strncmp(names[i], p, len))
				found = i;
		if (!found)
			return -EINVAL;
		rungs |= 1U << found;
		p += len;
		if (!*p)
			break;
	}
	*field = rungs;
	return 0;
}

int opt_value(const struct opt_spec *o, const char *text, void *field)
{
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_TAG:
		if (!*text || strlen(text) > TAG_MAX)
			return -EINVAL;
		*(const char **)field = text;
		return 0;
	case OPT_FILE:
		if (!*text)
			return -EINVAL;
		*(const char **)field = text;
		return 0;
	case OPT_OP:
		return store_op(text, field);
	case OPT_RUNGS:
		return store_rungs(text, field);
	default:
		return store_number(o, text, field);
	}
}
