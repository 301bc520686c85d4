// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"

typedef unsigned __int128 u128;
typedef unsigned long long ull;

struct unit {
	uint64_t size;
	const char *name;
};

static const struct unit decimal[] = {
	{1, ""},
	{1000, "k"},
	{1000000, "M"},
	{1000000000, "G"},
	{1000000000000, "T"},
	{1000000000000000, "P"},
	{1000000000000000000, "E"},
};

/* Largest whole number shown in the last unit, so that every number fits seven columns. */
#define MOST 9999

/*
 * @n / @d in the largest unit of which there is at least 1, with three significant digits;
 * rounding that reaches the next unit is shown in that one. Below 1 of the first unit, and for
 * the first unit itself, digits after the point only with @fraction.
 */
static const char *scaled(char out[REND_NUM], u128 n, u128 d, const struct unit *units, size_t nr,
			  bool fraction)
{
	const struct unit *u = units;
	u128 size, hundredths, tenths, whole;

	for (;; u++) {
		size = d * u->size;
		whole = (n + size / 2) / size;
		if (u + 1 == units + nr || whole < u[1].size / u->size)
			break;
	}
	hundredths = (n * 100 + size / 2) / size;
	tenths = (n * 10 + size / 2) / size;
	fraction = (fraction || u != units) && n;
	if (whole > MOST)
		snprintf(out, REND_NUM, ">%d%s", MOST, u->name);
	else if (!fraction || tenths >= 1000)
		snprintf(out, REND_NUM, "%llu%s", (ull)whole, u->name);
	else if (!hundredths)
		snprintf(out, REND_NUM, "<.01%s", u->name);
	else if (hundredths >= 1000)
		snprintf(out, REND_NUM, "%llu.%llu%s", (ull)tenths / 10, (ull)tenths % 10, u->name);
	else
		snprintf(out, REND_NUM, "%llu.%02llu%s", (ull)hundredths / 100,
			 (ull)hundredths % 100, u->name);
	return out;
}

static const char *nothing(char out[REND_NUM])
{
	return strcpy(out, "-");
}

const char *rend_ns(char out[REND_NUM], uint64_t ns)
{
	static const struct unit times[] = {
		{1, "ns"},
		{1000, "us"},
		{1000000, "ms"},
		{1000000000, "s"},
		{3600 * 1000000000ULL, "h"},
		{86400 * 1000000000ULL, "d"},
		{31557600 * 1000000000ULL, "y"},
	};

	return scaled(out, ns, 1, times, ARRAY_SIZE(times), false);
}

const char *rend_count(char out[REND_NUM], uint64_t n)
{
	return scaled(out, n, 1, decimal, ARRAY_SIZE(decimal), false);
}

const char *rend_bytes(char out[REND_NUM], uint64_t bytes)
{
	static const struct unit binary[] = {
		{1, "B"},
		{1ULL << 10, "KiB"},
		{1ULL << 20, "MiB"},
		{1ULL << 30, "GiB"},
		{1ULL << 40, "TiB"},
		{1ULL << 50, "PiB"},
		{1ULL << 60, "EiB"},
	};

	return scaled(out, bytes, 1, binary, ARRAY_SIZE(binary), false);
}

const char *rend_rate(char out[REND_NUM], uint64_t events, uint64_t interval_ns)
{
	if (!interval_ns)
		return nothing(out);
	return scaled(out, (u128)events * 1000000000, interval_ns, decimal, ARRAY_SIZE(decimal),
		      true);
}

const char *rend_mb_rate(char out[REND_NUM], uint64_t bytes, uint64_t interval_ns)
{
	if (!interval_ns)
		return nothing(out);
	return scaled(out, (u128)bytes * 1000, interval_ns, decimal, ARRAY_SIZE(decimal), true);
}

const char *rend_share(char out[REND_NUM], uint64_t part, uint64_t whole)
{
	static const struct unit percent[] = {{1, "%"}};

	if (!whole)
		return nothing(out);
	if ((u128)part * 100 / whole > 999)
		return strcpy(out, ">999%");
	return scaled(out, (u128)part * 100, whole, percent, 1, true);
}

const char *rend_ratio(char out[REND_NUM], uint64_t value, uint64_t divisor)
{
	if (!divisor)
		return nothing(out);
	return scaled(out, value, divisor, decimal, ARRAY_SIZE(decimal), true);
}

void rend_safe(char *out, size_t size, const char *text)
{
	size_t i = 0;

	for (; i + 1 < size && text[i]; i++)
		out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	if (size)
		out[i] = '\0';
}

bool rend_want_color(FILE *out, bool no_color)
{
	const char *term = getenv("TERM"), *off = getenv("NO_COLOR");

	if (no_color || (off && *off) || !term || !strcmp(term, "dumb"))
		return false;
	return isatty(fileno(out));
}

static const char *const codes[] = {
	[REND_PLAIN] = "",        [REND_BOLD] = "\033[1m",  [REND_DIM] = "\033[2m",
	[REND_GOOD] = "\033[32m", [REND_WARN] = "\033[33m", [REND_BAD] = "\033[1;31m",
};

static unsigned int width(const struct rend *r)
{
	return r->width ? r->width : REND_COLUMNS;
}

void rend_text(struct rend *r, enum rend_style style, const char *text)
{
	size_t len = strnlen(text, width(r) - r->column), shown = len;
	bool styled;

	while (shown && text[shown - 1] == ' ')
		shown--;
	styled = r->color && style != REND_PLAIN && shown;
	if (shown)
		fprintf(r->out, "%*s", (int)r->blanks, "");
	if (styled)
		fputs(codes[style], r->out);
	fwrite(text, 1, shown, r->out);
	if (styled)
		fputs("\033[0m", r->out);
	r->blanks = (unsigned int)(len - shown) + (shown ? 0 : r->blanks);
	r->column += (unsigned int)len;
}

void rend_printf(struct rend *r, enum rend_style style, const char *fmt, ...)
{
	char line[4 * REND_COLUMNS];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rend_text(r, style, line);
}

void rend_left(struct rend *r, enum rend_style style, int width, const char *text)
{
	rend_printf(r, style, "%-*.*s", width, width, text);
}

void rend_right(struct rend *r, enum rend_style style, int width, const char *text)
{
	rend_printf(r, style, "%*.*s", width, width, text);
}

void rend_word(struct rend *r, enum rend_style style, unsigned int indent, const char *word)
{
	size_t len = strlen(word);

	if (r->column + 1 + len > width(r) && r->column > indent) {
		rend_end(r);
		rend_printf(r, REND_PLAIN, "%*s", (int)indent, "");
	} else if (r->column > indent) {
		rend_text(r, REND_PLAIN, " ");
	}
	rend_text(r, style, word);
}

void rend_end(struct rend *r)
{
	fputc('\n', r->out);
	r->column = 0;
	r->blanks = 0;
}
