/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stat and trace share in writing to standard output. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/*
 * A buffer that takes a whole interval, so that it is written at once, and that what goes wrong
 * is known by its reason. Before the first output.
 */
void cli_buffer_output(void);

/* Exit code, after its message, for what exp_*_json() returned; flushes when that was 0. */
int cli_json_written(int r);

#endif
