/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a message about a mistyped word needs. */
#ifndef COMMON_WORDS_H
#define COMMON_WORDS_H

#include <stdint.h>

/* A copy of @text fit for a message: control characters as '?', at most 40 bytes, quoted. */
struct vqs_quoted {
	char text[48];
};
struct vqs_quoted vqs_quote(const char *text);

/*
 * Keeps the nearest of the candidates it is shown, if it is near enough to be meant; begins with
 * name NULL, best UINT32_MAX.
 */
struct vqs_nearest {
	const char *typed;
	const char *name;
	unsigned int best;
};
void vqs_consider(struct vqs_nearest *n, const char *name);

#endif
