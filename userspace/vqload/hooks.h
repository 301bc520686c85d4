/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subcommands that live in files of their own. main.c refers to them weakly: a build without one
 * says that it is not there.
 */
#ifndef VQLOAD_HOOKS_H
#define VQLOAD_HOOKS_H

#include <signal.h>
#include <stdbool.h>

#include "vqload/run.h"

/* What main.c parsed for them. */
struct load_hook_args {
	struct load_device_options device;
	bool json;
	uint64_t time_ns; /* --time; 0: the command's own default */
	uint64_t seed;    /* --seed */
	/* hostile's: */
	uint64_t cases; /* --cases */
	bool has_case;  /* only case @number: --case */
	uint64_t number;
	const char *only;                  /* --only; NULL: all */
	const char *restart;               /* --restart; NULL: none */
	bool verbose;                      /* --verbose */
	char *const *words;                /* operands, NULL ends */
	const volatile sig_atomic_t *stop; /* set by SIGINT, SIGTERM, SIGHUP */
};

/* `vqload hostile`: does what no guest may, and looks whether others still get answers. */
enum load_exit load_hostile_main(const struct load_hook_args *a) __attribute__((weak));
/* `vqload null`: a device that answers at once, to measure vqload itself. */
enum load_exit load_null_main(const struct load_hook_args *a) __attribute__((weak));

#endif
