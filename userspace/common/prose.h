/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of tables as --help shows them, and as mdoc(7). */
#ifndef COMMON_PROSE_H
#define COMMON_PROSE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Fills @text between column @indent and 80, an empty line between paragraphs. The cursor is at
 * @column already.
 */
void vqs_fill(FILE *f, const char *text, int indent, int column);

/* @text as roff sees text: nothing in it is a request or an escape, a dash is a minus. */
void vqs_mdoc_text(FILE *f, const char *text, size_t len);
/* A new line for each sentence, as mdoc wants it; an empty line of @text starts a paragraph. */
void vqs_mdoc_prose(FILE *f, const char *text);

#endif
