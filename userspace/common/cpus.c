// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The number at *text, which moves behind it; -EINVAL, -ERANGE. */
static int number(const char **text)
{
	const char *p = *text;
	int n = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (*p - '0');
		if (n >= CPU_SETSIZE)
			return -ERANGE;
	}
	*text = p;
	return n;
}

int vqs_cpus_parse(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (;;) {
		int first = number(&text), last = first;

		if (first >= 0 && *text == '-') {
			text++;
			last = number(&text);
		}
		if (first < 0 || last < 0)
			return first < 0 ? first : last;
		if (last < first)
			return -EINVAL;
		for (int i = first; i <= last; i++)
			CPU_SET(i, set);
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

char *vqs_cpus_print(const cpu_set_t *set, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (int i = 0; i < CPU_SETSIZE; i++) {
		int first = i, n;

		if (!CPU_ISSET(i, set))
			continue;
		while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, set))
			i++;
		n = snprintf(text + at, size - at, first == i ? "%s%d" : "%s%d-%d", at ? "," : "",
			     first, i);
		if (n < 0 || (size_t)n >= size - at) {
			text[at] = '\0';
			break;
		}
		at += (size_t)n;
	}
	return text;
}
