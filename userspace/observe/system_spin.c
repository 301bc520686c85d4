// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How a contended spinlock waits on this machine. That decides what sees the wait: fentry or a
 * kprobe on the slow path always does, the tracepoint lock:contention_begin only on the
 * paravirtual one (arch/x86/include/asm/qspinlock.h, kernel/locking/qspinlock.c).
 */
#include <limits.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/cleanup.h"
#include "observe/system_priv.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Linux Documentation/virt/kvm/x86/cpuid.rst. */
#define KVM_LEAF        0x40000001
#define KVM_PV_UNHALT   (1u << 7) /* eax */
#define KVM_REALTIME    (1u << 0) /* edx */
#define HYPERVISOR_BIT  (1u << 31)
#define HYPERVISOR_LEAF 0x40000000

static enum obs_hypervisor hypervisor_here(void)
{
	unsigned int eax, ebx, ecx, edx;
	char vendor[13] = "";

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & HYPERVISOR_BIT))
		return OBS_HV_NONE;
	__cpuid(HYPERVISOR_LEAF, eax, ebx, ecx, edx);
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &ecx, 4);
	memcpy(vendor + 8, &edx, 4);
	if (!strcmp(vendor, "XenVMMXenVMM") || !strcmp(vendor, "Microsoft Hv"))
		return OBS_HV_PARAVIRT;
	if (strcmp(vendor, "KVMKVMKVM"))
		return OBS_HV_OTHER;
	__cpuid(KVM_LEAF, eax, ebx, ecx, edx);
	if (edx & KVM_REALTIME)
		return OBS_HV_KVM_REALTIME;
	return eax & KVM_PV_UNHALT ? OBS_HV_KVM_PV : OBS_HV_KVM;
}
#else
static enum obs_hypervisor hypervisor_here(void)
{
	return OBS_HV_NONE;
}
#endif

void obs_system_here(struct obs_system_source *src)
{
	static struct utsname uts;

	uname(&uts);
	*src = (struct obs_system_source){
		.root = "",
		.machine = uts.machine,
		.hypervisor = hypervisor_here(),
	};
}

#define VERSION  "/proc/version"
#define CMDLINE  "/proc/cmdline"
#define POSSIBLE "/sys/devices/system/cpu/possible"

/* Whether @word is one of those in the first line of @path. */
static bool has_word(const struct gathering *g, const char *path, const char *word)
{
	char line[4096], *save = NULL;

	if (obs_read_line(g->src->root, path, line, sizeof(line)) < 0)
		return false;
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!strcmp(w, word))
			return true;
	return false;
}

/* kvm_spinlock_init() of arch/x86/kernel/kvm.c and native_pv_lock_init(), in their order. */
static enum obs_spin find_spin(const struct gathering *g)
{
	/* UTS_VERSION of init/Makefile: "#1 SMP PREEMPT_RT Debian 6.12.9-1". */
	if (has_word(g, VERSION, "PREEMPT_RT"))
		return OBS_SPIN_RT;
	if (!g->syms || file_check(g, VERSION))
		return OBS_SPIN_UNKNOWN;
	if (!has_symbol(g, "native_queued_spin_lock_slowpath"))
		return has_symbol(g, "queued_spin_lock_slowpath") ? OBS_SPIN_QUEUED
								  : OBS_SPIN_UNKNOWN;
	switch (g->src->hypervisor) {
	case OBS_HV_NONE:
	case OBS_HV_KVM_REALTIME:
		return OBS_SPIN_QUEUED;
	case OBS_HV_OTHER:
	case OBS_HV_KVM:
		return OBS_SPIN_TEST_AND_SET;
	case OBS_HV_KVM_PV:
		if (file_check(g, POSSIBLE) || file_check(g, CMDLINE))
			return OBS_SPIN_UNKNOWN;
		/* Without CONFIG_PARAVIRT_SPINLOCKS nothing takes the key back. */
		if (!has_symbol(g, "__pv_queued_spin_lock_slowpath"))
			return OBS_SPIN_TEST_AND_SET;
		return obs_possible_cpus(g->src->root) == 1 || has_word(g, CMDLINE, "nopvspin")
			       ? OBS_SPIN_QUEUED
			       : OBS_SPIN_PARAVIRT;
	default:
		return OBS_SPIN_UNKNOWN;
	}
}

enum obs_spin obs_spin_find(const struct obs_system_source *src, struct ksyms *syms)
{
	const struct gathering g = {.src = src, .syms = syms};

	return find_spin(&g);
}

/* Of what find_spin() needs and every kernel has: the first that cannot be read (*err), or NULL. */
static const char *spin_hidden(const struct gathering *g, int *err)
{
	static const char *const needed[] = {"/proc/kallsyms", VERSION, CMDLINE, POSSIBLE};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		*err = file_check(g, needed[i]);
		if (*err)
			return needed[i];
	}
	return NULL;
}

void facts_spin(struct gathering *g)
{
	const char *path;
	struct obs_fact *f;
	int err;

	g->sys->spin = find_spin(g);
	path = spin_hidden(g, &err);
	if (path && g->sys->spin == OBS_SPIN_UNKNOWN) {
		fact_hidden(g, "spinlocks", "contended spinlocks", path, err, OBS_WARN,
			    "cannot tell what the tracepoint would see of their waits");
		return;
	}
	f = fact_add(g, "spinlocks", "contended spinlocks", "%s", obs_spin_name(g->sys->spin));
	if (g->sys->spin == OBS_SPIN_RT)
		fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM,
			  "with PREEMPT_RT spinlocks sleep, and their waits are not seen",
			  "none; use a kernel without PREEMPT_RT to look at locks");
}

const char *obs_spin_name(enum obs_spin spin)
{
	switch (spin) {
	case OBS_SPIN_QUEUED:
		return "queued";
	case OBS_SPIN_TEST_AND_SET:
		return "test-and-set, as the hypervisor bit makes them";
	case OBS_SPIN_PARAVIRT:
		return "paravirtual";
	case OBS_SPIN_RT:
		return "sleeping (PREEMPT_RT)";
	default:
		return "unknown";
	}
}

bool obs_locks_complete(enum obs_rung rung, enum obs_spin spin)
{
	switch (rung) {
	case OBS_RUNG_FENTRY:
	case OBS_RUNG_KPROBE:
		/* A sleeping lock never takes the slow path that is watched. */
		return spin != OBS_SPIN_RT;
	case OBS_RUNG_TRACEPOINT:
		return spin == OBS_SPIN_PARAVIRT;
	default:
		return false;
	}
}
