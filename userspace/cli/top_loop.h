/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top from the first snapshot to the last key: takes snapshots at the interval, gives their
 * differences to the model, keys to the model, and has the view draw it. Snapshots come from
 * wherever the source takes them: the BPF maps, or a test.
 */
#ifndef CLI_TOP_LOOP_H
#define CLI_TOP_LOOP_H

#include "cli/cli.h"

struct top_source {
	/* All counters now; the loop frees them. 0 or -errno. */
	int (*snapshot)(void *arg, struct vqs_snapshot **out);
	void *arg;
};

/*
 * Runs until q, a signal (cli_stop), --count refreshes, or an error, whose message it prints
 * after the terminal is restored. The terminal must have passed top_term_check(). CLI_OK or an exit
 * code.
 */
int top_run(const struct cli_opts *o, const struct top_source *source);

#endif
