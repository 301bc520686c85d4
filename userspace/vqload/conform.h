/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `vqload check`: every operation once, against what a POSIX directory does. It works in a new
 * directory below the share's root, which it removes.
 */
#ifndef VQLOAD_CONFORM_H
#define VQLOAD_CONFORM_H

#include <stdbool.h>
#include <stdio.h>

#include "vqload/run.h"

enum load_outcome { LOAD_OK, LOAD_UNSUPPORTED, LOAD_FAILED };

struct load_check_result {
	const char *name; /* "lookup" */
	enum load_outcome outcome;
	uint32_t requests; /* that were sent for it */
	char reason[160];  /* of FAILED: what was expected, what came */
};

struct load_check {
	struct load_check_result *result; /* owned */
	size_t nr;
	uint32_t ok, unsupported, failed;
	struct load_judge *judge; /* of all replies; owned */
	char socket[256];
	char error[768];
};

/*
 * Runs all checks. LOAD_EXIT_FAULTS when one failed, or the judge found a fault. Fills @c, which
 * load_check_free() frees in any case.
 */
enum load_exit load_check_run(const struct load_device_options *o, struct load_check *c);
void load_check_free(struct load_check *c);
/* 0, or -errno of writing; -ENOMEM. */
int load_check_text(const struct load_check *c, FILE *out);
int load_check_json(const struct load_check *c, FILE *out);

#endif
