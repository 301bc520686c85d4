// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/prose.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH        80
/* Escapes make a line longer. */
#define SOURCE_WIDTH 70

void vqs_fill(FILE *f, const char *text, int indent, int column)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (!first && column + 1 + len > WIDTH) {
			fputc('\n', f);
			column = 0;
			first = true;
		}
		if (first) {
			fprintf(f, "%*s", indent - column, "");
			column = indent;
		} else {
			fputc(' ', f);
			column++;
		}
		fwrite(text, 1, (size_t)len, f);
		column += len;
		first = false;
		text += len;
		if (*text == '\n') {
			fputs("\n\n", f);
			column = 0;
			first = true;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', f);
}

void vqs_mdoc_text(FILE *f, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\\')
			fputs("\\e", f);
		else if (c == '-')
			fputs("\\-", f);
		else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n'))
			fprintf(f, "\\&%c", c);
		else
			fputc(c, f);
	}
}

/* @len bytes, broken at blanks to lines of less than 80 bytes. */
static void put_lines(FILE *f, const char *text, size_t len)
{
	while (len) {
		size_t cut = len;

		while (cut > SOURCE_WIDTH) {
			const char *blank = memrchr(text, ' ', cut);

			if (!blank)
				break;
			cut = (size_t)(blank - text);
		}
		vqs_mdoc_text(f, text, cut);
		fputc('\n', f);
		cut += cut < len;
		text += cut;
		len -= cut;
	}
}

void vqs_mdoc_prose(FILE *f, const char *text)
{
	while (*text) {
		const char *dot = text, *par = strstr(text, "\n\n");
		size_t len;

		while ((dot = strstr(dot, ". ")) && (dot[2] < 'A' || dot[2] > 'Z'))
			dot += 2;
		if (dot && (!par || dot < par))
			len = (size_t)(dot - text) + 1;
		else
			len = par ? (size_t)(par - text) : strlen(text);
		put_lines(f, text, len);
		text += len;
		if (text == par)
			fputs(".Pp\n", f);
		text += strspn(text, " \n");
	}
}
