/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest programs are attached to, as one table: each probe, the kernel functions that
 * serve it, and its programs on every rung. Given the symbols that this kernel has, it plans which
 * rung each probe starts on; guest.c loads that plan and asks for the next rung where one failed.
 */
#ifndef OBSERVE_PROBES_H
#define OBSERVE_PROBES_H

#include <stdbool.h>
#include <stddef.h>

#include "observe/guest.h"
#include "observe/preempt.h"

#define PROBE_TARGETS 3 /* functions that may serve a probe */
#define PROBE_PROGS   2 /* programs that one function needs on one rung */

struct probe_target {
	const char *symbol;
	/* Names of programs, NULL-padded; OBS_RUNG_TRACEPOINT's symbol is in their SEC(). */
	const char *progs[OBS_RUNGS][PROBE_PROGS];
};

struct probe_def {
	const char *name;
	const char *purpose;
	bool required;
	bool locks; /* only with --locks */
	/* The function runs with preemption on: where the kernel preempts, fentry misses some of
	 * its calls (observe/preempt.h). */
	bool preemptible;
	const char *needless_with; /* a kernel that has this function does not need the probe */
	const char *needless_why;
	struct probe_target target[PROBE_TARGETS];
};

extern const struct probe_def obs_probe_defs[];
extern const size_t obs_nr_probe_defs;

struct ksyms;

/* The plan for one probe: rung NONE for targets that this kernel lacks. */
struct probe_plan {
	enum obs_rung rung;
	bool live[PROBE_TARGETS]; /* the symbol exists */
	bool kprobe_first;        /* fentry misses some calls: it comes after kprobe */
	bool needless;
	char why[160];
};

/* First plan of @def: the best rung among @allowed (bits of 1 << rung) that @syms permits and on
 * which a kernel that preempts as @preempt misses none of its calls, if it has such a rung. */
void obs_probe_plan(const struct probe_def *def, const struct ksyms *syms, unsigned int allowed,
		    enum obs_preempt preempt, struct probe_plan *plan);

/* The rung below failed with @why: go one down. plan->rung is NONE when none is left. */
void obs_probe_lower(const struct probe_def *def, unsigned int allowed, const char *why,
		     struct probe_plan *plan);

/* True when @plan attaches to target @t of @def. */
bool obs_probe_uses(const struct probe_def *def, const struct probe_plan *plan, size_t t);

/* Probe that owns program @prog, obs_nr_probe_defs if none. */
size_t obs_probe_of_prog(const char *prog);

const char *obs_rung_name(enum obs_rung rung);

#endif
