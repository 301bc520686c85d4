/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `vqload null`: what vqload itself costs, measured against the responder in the same process: the
 * part of every figure that is not the daemon's.
 *
 * Two ways. Alternating: one thread sends a batch, lets the responder answer it, takes the replies;
 * the time within the responder is measured apart and subtracted, so what is left is the work of
 * vqload without a wait. Two threads: each on a CPU of its own, both polling; there vqload's time
 * includes that in which it waits for cache lines and for the other.
 */
#ifndef VQLOAD_NULL_H
#define VQLOAD_NULL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum load_null_op { LOAD_NULL_GETATTR, LOAD_NULL_READ, LOAD_NULL_OPS };

struct load_null_options {
	uint64_t run_ns;                   /* of each of the measurements */
	uint32_t depth;                    /* requests in flight */
	uint32_t queue_size;               /* power of two */
	const volatile sig_atomic_t *stop; /* ends early when it is not 0; may be NULL */
};

/* One measurement. */
struct load_null_result {
	uint64_t requests;
	uint64_t wall_ns;
	uint64_t own_ns;    /* CPU time of vqload */
	uint64_t device_ns; /* CPU time of the responder */
};

struct load_null_report {
	uint32_t depth;
	bool threads; /* there were two CPUs for the second way */
	struct load_null_result alternating[LOAD_NULL_OPS], apart[LOAD_NULL_OPS];
	uint64_t faults;
	char error[768];
};

/* All measurements. 0, or -errno with r->error. */
int load_null_run(const struct load_null_options *o, struct load_null_report *r);
/* Both: 0 or -errno. */
int load_null_text(const struct load_null_report *r, FILE *out);
int load_null_json(const struct load_null_report *r, FILE *out);

#endif
