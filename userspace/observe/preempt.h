/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the running kernel preempts a task inside a BPF program. Programs on the fentry rung run
 * with preemption as they found it (kernel/bpf/trampoline.c, __bpf_prog_enter_recur), and one that
 * another task is inside of on the same CPU is skipped; kprobes run with preemption off.
 */
#ifndef OBSERVE_PREEMPT_H
#define OBSERVE_PREEMPT_H

#include <stdbool.h>

struct ksyms;

enum obs_preempt {
	OBS_PREEMPT_UNKNOWN,
	OBS_PREEMPT_NEVER, /* none, voluntary: a task in the kernel gives up its CPU by itself */
	OBS_PREEMPT_FULL,
	OBS_PREEMPT_LAZY, /* since 6.13; preempts at the tick */
};

/* Model of @version, as uname -v ("#1 SMP PREEMPT_DYNAMIC ..."); UNKNOWN when chosen at boot. */
enum obs_preempt obs_preempt_of_version(const char *version);

/* Model of a kernel whose variable preempt_dynamic_mode is @mode (kernel/sched/core.c). */
enum obs_preempt obs_preempt_of_mode(int mode);

/* Model of the running kernel. Loads a BPF program to read what was chosen at boot, so it needs
 * the rights that attaching needs; UNKNOWN when it cannot be read. */
enum obs_preempt obs_preempt_here(const struct ksyms *syms);

#endif
