/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands and the prose that --help and the man pages are made of. */
#ifndef VQLOAD_COMMANDS_H
#define VQLOAD_COMMANDS_H

#include "common/command.h"

#define LOAD_EXITS 10u

extern const char load_about[];
extern const char load_signals[];
extern const struct vqs_command load_commands[];
extern const struct vqs_exit load_exits[LOAD_EXITS];

#endif
