/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What decides, on this machine, how much vqsteer can see: facts read from /proc and /sys, each
 * with a verdict, what it costs and how to change it. It reports and never fails for what it
 * finds; nothing here needs a privilege. What it cannot see - without a privilege, or where /proc
 * and /sys are not mounted or hide a part - is "cannot be read", never taken for absent.
 *
 * Everything comes from struct obs_system_source, so that tests can describe any machine.
 */
#ifndef OBSERVE_SYSTEM_H
#define OBSERVE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/devices.h"
#include "observe/guest.h"

struct ksyms;

enum obs_verdict { OBS_FINE, OBS_WARN, OBS_FAIL, OBS_VERDICTS };

/* What kind of thing is in the way, most fundamental last. */
enum obs_problem { OBS_NO_PROBLEM, OBS_NO_MOUNT, OBS_NO_RIGHTS, OBS_NO_SUPPORT, OBS_HIDDEN };

struct obs_fact {
	const char *id;    /* "btf": stable, for scripts */
	const char *label; /* "kernel types": for people */
	char value[96];    /* the same on the same kind of machine */
	char detail[96];   /* what varies from boot to boot or update to update; "" */
	enum obs_verdict verdict;
	enum obs_problem problem;
	char costs[192];  /* what is lost; "" when nothing is */
	char remedy[192]; /* how to get it back; "" when nothing is lost */
};

/* How a contended spinlock waits here (FACTS: what sees it depends on this). */
enum obs_spin {
	OBS_SPIN_UNKNOWN,
	OBS_SPIN_QUEUED,       /* native queued spinlocks */
	OBS_SPIN_TEST_AND_SET, /* virt_spin_lock(): no tracepoint in its path */
	OBS_SPIN_PARAVIRT,     /* __pv_queued_spin_lock_slowpath */
	OBS_SPIN_RT,           /* PREEMPT_RT: spinlock_t sleeps */
};

enum obs_hypervisor {
	OBS_HV_NONE,
	OBS_HV_OTHER,        /* a hypervisor bit, no promise about spinlocks (TCG) */
	OBS_HV_KVM,          /* without KVM_FEATURE_PV_UNHALT */
	OBS_HV_KVM_PV,       /* with it */
	OBS_HV_KVM_REALTIME, /* KVM_HINTS_REALTIME: vCPUs are never preempted */
	OBS_HV_PARAVIRT,     /* Xen, Hyper-V: have paravirtual spinlocks of their own */
};

struct obs_system_source {
	const char *root;    /* "": this machine */
	const char *machine; /* as uname -m: "x86_64", "aarch64" */
	const char *btf;     /* --btf; NULL: the kernel's own is needed */
	enum obs_hypervisor hypervisor;
};

#define OBS_MAX_FACTS 24

struct obs_system {
	struct obs_fact fact[OBS_MAX_FACTS];
	size_t nr_facts;
	struct obs_mounts mounts;
	struct obs_devices devices;
	uint32_t possible_cpus;
	uint32_t kernel; /* release as major << 16 | minor */
	bool can_trace;  /* effective capabilities suffice to load and attach */
	bool virtiofs_is_module;
	enum obs_spin spin;
};

/* This machine. The strings live as long as the process. */
void obs_system_here(struct obs_system_source *src);

/* 0 or -ENOMEM. */
int obs_system_read(const struct obs_system_source *src, struct obs_system *out);
void obs_system_free(struct obs_system *s);

const struct obs_fact *obs_system_fact(const struct obs_system *s, const char *id);

const char *obs_verdict_name(enum obs_verdict v);
const char *obs_spin_name(enum obs_spin spin);
/* How spinlocks wait on @src, whose symbols are @syms (NULL: not readable). */
enum obs_spin obs_spin_find(const struct obs_system_source *src, struct ksyms *syms);
/*
 * Whether a probe of the slow path, or of the tracepoint lock:contention_begin, sees every
 * contended wait of a spinlock: the table of docs/kernel-support.md. The one place that decides it.
 */
bool obs_locks_complete(enum obs_rung rung, enum obs_spin spin);

/* "6.12.3-foo" -> 6 << 16 | 12; 0 when it is no release. */
uint32_t obs_release_parse(const char *release);
/* The release of @root's kernel, 0 when not readable. */
uint32_t obs_release_read(const char *root);

#endif
