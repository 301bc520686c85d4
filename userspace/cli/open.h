/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cli_open_guest() does in steps, for doctor, which opens the guest side on its own terms. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "cli/cli.h"

/* Exit code for what obs_guest_open() returned. */
int cli_exit_code(int r);

/* What the options ask of the guest side, on top of @base (NULL: the defaults). */
struct obs_guest_opts cli_guest_opts(const struct cli_opts *o, const struct obs_guest_opts *base);

/* Gives up all capabilities that are not needed once everything is attached. */
void cli_drop_privileges(void);

#endif
