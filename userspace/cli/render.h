/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for people: numbers of at most seven columns with their unit, and lines that never pass
 * 80 columns. Pure formatting; nothing here knows what a number means.
 */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REND_COLUMNS 80
/* Every number below fits, with its NUL. */
#define REND_NUM     16

/* Three significant digits: "850ns", "12.3us", "4.56ms", "1.20s", "16.7min", "2.77h", "213d",
 * "584y". */
const char *rend_ns(char out[REND_NUM], uint64_t ns);
/* "999", "12.3k", "4.56M", ... "18.4E". */
const char *rend_count(char out[REND_NUM], uint64_t n);
/* "512B", "12.3KiB", "4.56MiB", ... "16.0EiB". */
const char *rend_bytes(char out[REND_NUM], uint64_t bytes);
/* Events per second: "0", "0.25", "12.3", "850", "12.3k"; "-" when @interval_ns is 0. */
const char *rend_rate(char out[REND_NUM], uint64_t events, uint64_t interval_ns);
/* Megabytes (10^6) per second as a plain number: "0.04", "48.1", "12.3k". */
const char *rend_mb_rate(char out[REND_NUM], uint64_t bytes, uint64_t interval_ns);
/* "0%", "<.01%", "0.25%", "12.3%", "100%", ">999%"; "-" when @whole is 0. */
const char *rend_share(char out[REND_NUM], uint64_t part, uint64_t whole);
/* A quotient with three digits, "12.3"; "-" when @divisor is 0. */
const char *rend_ratio(char out[REND_NUM], uint64_t value, uint64_t divisor);

/*
 * Text from outside (tags come from the host, symbols from the kernel) as printable ASCII: every
 * other byte becomes '?', so that a name can neither move the cursor nor break a column.
 */
void rend_safe(char *out, size_t size, const char *text);

enum rend_style { REND_PLAIN, REND_BOLD, REND_DIM, REND_GOOD, REND_WARN, REND_BAD };

/* A writer of lines: what is written past the last column of a line is dropped. */
struct rend {
	FILE *out;
	bool color;
	unsigned int width; /* 0: REND_COLUMNS */
	unsigned int column;
	unsigned int blanks; /* not written yet: no line ends with blanks */
};

/* Colour only for a terminal, and neither with NO_COLOR nor with TERM=dumb. */
bool rend_want_color(FILE *out, bool no_color);

void rend_text(struct rend *r, enum rend_style style, const char *text);
void rend_printf(struct rend *r, enum rend_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* @text in @width columns, to the left or to the right; cut when longer. */
void rend_left(struct rend *r, enum rend_style style, int width, const char *text);
void rend_right(struct rend *r, enum rend_style style, int width, const char *text);
/* A space and one more word; on the next line, after @indent spaces, when this one is full. */
void rend_word(struct rend *r, enum rend_style style, unsigned int indent, const char *word);
void rend_end(struct rend *r);

#endif
