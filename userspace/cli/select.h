/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --tag, --queue and --op, applied to a snapshot: what was not selected is taken out of it. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "cli/cli.h"

/*
 * Figures of a whole device (its locks, what failed before any queue) stay: they belong to no
 * queue. Of an opcode, only its own totals and hops are known, so --op leaves the queues' figures.
 */
void cli_select(struct vqs_snapshot *s, const struct cli_opts *o);

#endif
