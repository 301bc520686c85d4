/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal that top draws on: opened, restored, read. Owns curses from top_term_open() to
 * top_term_close(); nobody else starts or ends it. A binary in a root file system without a
 * terminfo database falls back to descriptions of common terminals compiled in.
 */
#ifndef CLI_TOP_TERM_H
#define CLI_TOP_TERM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Colour pairs, when there is colour. */
enum top_pair { TOP_PAIR_WARN = 1, TOP_PAIR_BAR };

struct top_term {
	void *screen; /* curses' SCREEN; NULL: not open */
	bool color;
	bool unicode;       /* the locale can say more than ASCII */
	sigset_t wait_mask; /* signals while waiting for keys; otherwise those that stop are blocked
			     */
	sigset_t saved_mask;
	struct sigaction saved_quit;
};

/*
 * Whether a full screen is possible: both standard input and output are terminals, their type is
 * known and can move its cursor. If not, *why is a message with thing, reason and remedy (the
 * caller frees it; NULL without memory) and the result -ENOTTY or -ENOENT. Chooses a built-in
 * description (by setting TERMINFO) when there is no other.
 */
int top_term_check(char **why);

/* Enters the full screen; after top_term_check(). 0 or -errno. */
int top_term_open(struct top_term *t, bool no_color);
/* Leaves it as it was found. Closed or never opened (zeroed): does nothing. */
void top_term_close(struct top_term *t);

/*
 * Waits for a key, a signal or @deadline_ns of CLOCK_MONOTONIC. 1: read keys, 0: time or a signal
 * came, -EIO: the terminal is gone.
 */
int top_term_wait(const struct top_term *t, uint64_t deadline_ns);
/* The next key, an ASCII character or enum top_key; 0: one without meaning here; -1: no more. */
int top_term_key(void);

/* Whether the terminal takes output: false while a slow line is still busy with the last. */
bool top_term_writable(void);

#endif
