// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/words.h"

#include <stddef.h>
#include <string.h>

#include "common/cleanup.h"

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein's distance; words of the table are short, what the user typed may be anything. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[32], diagonal, up;
	size_t len = strlen(b);

	if (len >= ARRAY_SIZE(row) || strlen(a) > ARRAY_SIZE(row))
		return UINT32_MAX;
	for (size_t j = 0; j <= len; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; a[i - 1]; i++) {
		diagonal = row[0];
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= len; j++) {
			up = row[j];
			row[j] = min3(up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = up;
		}
	}
	return row[len];
}

void vqs_consider(struct vqs_nearest *n, const char *name)
{
	size_t len = strlen(n->typed);
	unsigned int d = distance(n->typed, name);

	/* An abbreviation is always near. */
	if (len >= 2 && !strncmp(n->typed, name, len))
		d = 1;
	if (d < n->best && d <= (strlen(name) + 2) / 3) {
		n->best = d;
		n->name = name;
	}
}

struct vqs_quoted vqs_quote(const char *text)
{
	struct vqs_quoted q;
	size_t n = 0;

	q.text[n++] = '"';
	for (; *text && n < 41; text++) {
		unsigned char c = (unsigned char)*text;

		/* What a terminal obeys must not reach it through a message. */
		q.text[n++] = c < 0x20 || c == 0x7f || c >= 0x80 ? '?' : *text;
	}
	if (*text) {
		memcpy(q.text + n, "...", 3);
		n += 3;
	}
	q.text[n++] = '"';
	q.text[n] = '\0';
	return q;
}
