// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about what this process may do. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/privilege.h"
#include "observe/system_priv.h"

/* Room that the maps of 64 queues need with the default options, rounded up. */
#define MEMLOCK_ENOUGH (64ULL << 20)

#define STATUS   "/proc/self/status"
#define LIMITS   "/proc/self/limits"
#define LOCKDOWN "/sys/kernel/security/lockdown"

/* "CapEff:\t000001ffffffffff" */
static bool read_caps(const struct gathering *g, uint64_t *caps)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[PATH_MAX], line[256];

	if (snprintf(path, sizeof(path), "%s" STATUS, g->src->root) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %16" SCNx64, caps) == 1)
			return true;
	return false;
}

static void missing_caps(char *buf, size_t size, uint64_t caps)
{
	bool bpf = caps & VQS_CAP(CAP_BPF), perfmon = caps & VQS_CAP(CAP_PERFMON);

	snprintf(buf, size, "%s%s%s missing", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? "" : "CAP_PERFMON");
}

static void fact_caps(struct gathering *g, uint64_t *caps)
{
	struct obs_fact *f;
	char missing[64];

	*caps = 0;
	if (!read_caps(g, caps)) {
		fact_hidden(g, "capabilities", "capabilities", STATUS,
			    file_check(g, STATUS) ?: -EIO, OBS_WARN,
			    "cannot tell whether probes may be attached");
		return;
	}
	g->sys->can_trace = vqs_caps_can_trace(*caps);
	if (!g->sys->can_trace) {
		missing_caps(missing, sizeof(missing), *caps);
		f = fact_add(g, "capabilities", "capabilities", "%s", missing);
		fact_flaw(f, OBS_FAIL, OBS_NO_RIGHTS, "no program can be loaded or attached",
			  "run it as root, such as sudo vqsteer");
	} else if (!(*caps & VQS_CAP(CAP_SYS_ADMIN))) {
		f = fact_add(g, "capabilities", "capabilities", "all but CAP_SYS_ADMIN");
		/* bpf_obj_get_next_id(), kernel/bpf/syscall.c: the list of module BTF. */
		if (g->sys->virtiofs_is_module)
			fact_flaw(
				f, OBS_WARN, OBS_NO_PROBLEM,
				"the types of the modules fuse and virtiofs stay hidden: attaching "
				"may fail; so does --self",
				"add CAP_SYS_ADMIN, or run it as root");
	} else {
		f = fact_add(g, "capabilities", "capabilities", "all that are needed");
	}
	fact_detail(f, "%016" PRIx64, *caps);
}

static void fact_lockdown(struct gathering *g)
{
	struct obs_fact *f;
	char line[128];
	int r = obs_read_line(g->src->root, LOCKDOWN, line, sizeof(line));

	/* Kernels without lockdown do not have it, nor is securityfs mounted everywhere. */
	if (r < 0 && file_absent(g, r, "/sys/kernel")) {
		fact_add(g, "lockdown", "lockdown", "off, or not shown");
		return;
	}
	if (r < 0) {
		fact_hidden(g, "lockdown", "lockdown", LOCKDOWN, r, OBS_WARN,
			    "cannot tell whether BPF programs may read kernel memory");
		return;
	}
	if (strstr(line, "[confidentiality]")) {
		f = fact_add(g, "lockdown", "lockdown", "confidentiality");
		fact_flaw(f, OBS_FAIL, OBS_NO_RIGHTS, "BPF programs may not read kernel memory",
			  "boot with lockdown=integrity, or with secure boot off");
	} else {
		fact_add(g, "lockdown", "lockdown", "%s",
			 strstr(line, "[integrity]") ? "integrity, which is no obstacle" : "off");
	}
}

static void fact_unprivileged_bpf(struct gathering *g)
{
	char line[16];

	if (obs_read_line(g->src->root, "/proc/sys/kernel/unprivileged_bpf_disabled", line,
			  sizeof(line)) < 0)
		return;
	fact_add(g, "unprivileged_bpf", "unprivileged BPF", "%s",
		 !strcmp(line, "0") ? "allowed, but not for tracing"
				    : "disabled, which is no obstacle");
}

static void fact_kptr(struct gathering *g)
{
	struct obs_fact *f;
	char line[16];

	if (!g->syms) {
		fact_hidden(g, "kptr_restrict", "kernel addresses", "/proc/kallsyms", g->syms_err,
			    OBS_FAIL, "the functions to attach to cannot be looked up");
		return;
	}
	if (obs_read_line(g->src->root, "/proc/sys/kernel/kptr_restrict", line, sizeof(line)) < 0)
		snprintf(line, sizeof(line), "0");
	f = fact_add(g, "kptr_restrict", "kernel addresses", "%s",
		     !strcmp(line, "0")   ? "shown"
		     : !strcmp(line, "1") ? "shown to CAP_SYSLOG"
					  : "hidden from everybody");
	/* What kallsyms shows decides, not what the setting promises: see kallsyms_show_value(). */
	if (ksyms_has_addresses(g->syms))
		return;
	if (!strcmp(line, "0"))
		snprintf(f->value, sizeof(f->value), "hidden from this process");
	fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM, "stacks of --stacks are bare addresses, no names",
		  !strcmp(line, "0") || !strcmp(line, "1")
			  ? "run it with CAP_SYSLOG, or as root"
			  : "sysctl kernel.kptr_restrict=1, and run it with CAP_SYSLOG");
}

/* "Max locked memory         8388608              8388608              bytes" */
static bool read_memlock(const struct gathering *g, uint64_t *bytes)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[PATH_MAX], line[256], soft[32];

	if (snprintf(path, sizeof(path), "%s" LIMITS, g->src->root) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Max locked memory %31s", soft) != 1)
			continue;
		if (sscanf(soft, "%" SCNu64, bytes) != 1)
			*bytes = UINT64_MAX;
		return true;
	}
	return false;
}

static void fact_memlock(struct gathering *g, uint64_t caps)
{
	uint64_t bytes;
	struct obs_fact *f;

	/* Linux 5.11 "bpf: Eliminate rlimit-based memory accounting". */
	if (g->sys->kernel >= KERNEL(5, 11)) {
		fact_add(g, "memlock", "locked memory", "does not limit BPF on this kernel");
		return;
	}
	/* Of an unknown kernel the limit says nothing; that it is unknown is said already. */
	if (!g->sys->kernel)
		return;
	if (!read_memlock(g, &bytes)) {
		fact_hidden(g, "memlock", "locked memory", LIMITS, file_check(g, LIMITS) ?: -EIO,
			    OBS_WARN, "cannot tell whether the BPF maps fit");
		return;
	}
	f = fact_add(g, "memlock", "locked memory", "limits BPF on this kernel");
	fact_detail(f, "%" PRIu64 " bytes", bytes);
	if (bytes < MEMLOCK_ENOUGH && !(caps & VQS_CAP(CAP_SYS_RESOURCE)))
		fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM, "the BPF maps may not fit",
			  "ulimit -l unlimited, or CAP_SYS_RESOURCE");
}

void facts_rights(struct gathering *g)
{
	uint64_t caps;

	fact_caps(g, &caps);
	fact_lockdown(g);
	fact_unprivileged_bpf(g);
	fact_kptr(g);
	fact_memlock(g, caps);
}
