// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the kernel: its age, types, modules, queues, compiler of BPF. */
#include <errno.h>
#include <string.h>

#include "observe/btf.h"
#include "observe/system_priv.h"

#define RELEASE     "/proc/sys/kernel/osrelease"
#define BTF         "/sys/kernel/btf/vmlinux"
#define JIT         "/proc/sys/net/core/bpf_jit_enable"
#define KPROBE_TYPE "/sys/bus/event_source/devices/kprobe/type"

static void fact_kernel(struct gathering *g)
{
	uint32_t k = g->sys->kernel;
	struct obs_fact *f;

	if (!k) {
		fact_hidden(g, "kernel", "kernel", RELEASE, file_check(g, RELEASE), OBS_WARN,
			    "some advice below may not fit");
		return;
	}
	f = fact_add(g, "kernel", "kernel", "%u.%u", k >> 16, k & 0xffff);
	fact_detail(f, "%s", g->release);
	/* The programs use bpf_loop(): Linux 5.17. */
	if (k < KERNEL(5, 17))
		fact_flaw(f, OBS_FAIL, OBS_NO_SUPPORT, "it cannot run vqsteer's programs",
			  "use Linux 5.17 or newer; 6.1, 6.12 and 7.3 are tested");
	else if (k < KERNEL(6, 1))
		fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM, "it may work, but nobody tested it",
			  "use Linux 6.1 or newer");
}

static void fact_btf(struct gathering *g)
{
	struct obs_fact *f;
	int err;

	if (g->src->btf) {
		char why[64];

		err = obs_btf_check(g->src->btf, why, sizeof(why));
		f = fact_add(g, "btf", "kernel types (BTF)", "from --btf%s%s", err ? ": " : "",
			     err ? why : "");
		if (err)
			fact_flaw(f, OBS_FAIL, OBS_NO_SUPPORT,
				  "no program can be fitted to this kernel",
				  "give the BTF of this very kernel build, or leave --btf out");
		return;
	}
	err = file_check(g, BTF);
	if (!err) {
		f = fact_add(g, "btf", "kernel types (BTF)", "present");
		if (g->sys->virtiofs_is_module && (file_check(g, "/sys/kernel/btf/virtiofs") ||
						   file_check(g, "/sys/kernel/btf/fuse"))) {
			snprintf(f->value, sizeof(f->value), "present, but not for the modules");
			fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM,
				  "functions of fuse and virtiofs cannot have fentry, only kprobes",
				  "use a kernel built with CONFIG_DEBUG_INFO_BTF_MODULES=y");
		}
		return;
	}
	if (!file_absent(g, err, "/sys/kernel/notes")) {
		fact_hidden(g, "btf", "kernel types (BTF)", BTF, err, OBS_FAIL,
			    "no program can be fitted to this kernel");
		return;
	}
	f = fact_add(g, "btf", "kernel types (BTF)", "absent");
	fact_flaw(f, OBS_FAIL, OBS_NO_SUPPORT, "no program can be fitted to this kernel",
		  "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, or give types made from the "
		  "same build with --btf FILE");
}

enum module_state { MODULE_ABSENT, MODULE_LOADED, MODULE_BUILT_IN, MODULE_HIDDEN };

/*
 * A loaded module is in both files; what is a file system type only is built in. MODULE_HIDDEN: one
 * of them, *path, cannot be read (*err). A kernel without modules has no /proc/modules.
 */
static enum module_state module_state(const struct gathering *g, const char *name,
				      const char **path, int *err)
{
	int module = file_lists(g, "/proc/modules", name), type;

	if (module > 0)
		return MODULE_LOADED;
	type = file_lists(g, "/proc/filesystems", name);
	if (type < 0 || (module < 0 && module != -ENOENT)) {
		*path = type < 0 ? "/proc/filesystems" : "/proc/modules";
		*err = type < 0 ? type : module;
		return MODULE_HIDDEN;
	}
	return type ? MODULE_BUILT_IN : MODULE_ABSENT;
}

static void fact_modules(struct gathering *g)
{
	static const char *const names[] = {
		[MODULE_ABSENT] = "absent",
		[MODULE_LOADED] = "a module",
		[MODULE_BUILT_IN] = "built in",
	};
	enum module_state fuse, virtiofs;
	const char *path;
	struct obs_fact *f;
	int err;

	fuse = module_state(g, "fuse", &path, &err);
	virtiofs = module_state(g, "virtiofs", &path, &err);
	g->sys->virtiofs_is_module = fuse == MODULE_LOADED || virtiofs == MODULE_LOADED;
	if (fuse == MODULE_HIDDEN || virtiofs == MODULE_HIDDEN) {
		fact_hidden(g, "modules", "fuse and virtiofs", path, err, OBS_WARN,
			    "cannot tell whether there is anything to attach to");
		return;
	}
	f = fact_add(g, "modules", "fuse and virtiofs", "fuse %s, virtiofs %s", names[fuse],
		     names[virtiofs]);
	if (fuse == MODULE_ABSENT || virtiofs == MODULE_ABSENT)
		fact_flaw(f, OBS_FAIL, OBS_NO_MOUNT,
			  "there are no functions to attach to before it is loaded",
			  "modprobe virtiofs; if there is no such module, use a kernel built with "
			  "CONFIG_VIRTIO_FS");
}

static void fact_multiqueue(struct gathering *g)
{
	bool shown = false;
	struct obs_fact *f;

	for (size_t i = 0; i < g->sys->devices.nr; i++)
		shown = shown || g->sys->devices.device[i].request_queues;
	/* Linux 6.11 "virtio_fs: add multi-queue support", 6.12 shows the map in sysfs. */
	if (shown || has_symbol(g, "virtio_fs_send_req")) {
		f = fact_add(g, "multiqueue", "queues in use", "all request queues");
		if (!shown && g->sys->devices.nr)
			snprintf(f->value, sizeof(f->value),
				 "all request queues; this kernel does not say which CPU uses "
				 "which");
		return;
	}
	if (!g->syms) {
		fact_hidden(g, "multiqueue", "queues in use", "/proc/kallsyms", g->syms_err,
			    OBS_WARN, "cannot tell whether all request queues are used");
		return;
	}
	if (!has_symbol(g, "virtio_fs_enqueue_req")) {
		fact_add(g, "multiqueue", "queues in use", "unknown before virtiofs is loaded");
		return;
	}
	f = fact_add(g, "multiqueue", "queues in use",
		     "this kernel uses only the first request queue");
	fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM,
		  "more queues in the device change nothing: all CPUs share one",
		  "use Linux 6.11 or newer in this machine");
}

static void fact_jit(struct gathering *g)
{
	struct obs_fact *f;
	char line[16];
	int r;

	r = obs_read_line(g->src->root, JIT, line, sizeof(line));
	/* Both are in net_core_table of net/core/sysctl_net_core.c. */
	if (r < 0 && !file_absent(g, r, "/proc/sys/net/core/netdev_max_backlog")) {
		fact_hidden(g, "jit", "BPF compiler (JIT)", JIT, r, OBS_WARN,
			    "cannot tell whether programs are interpreted, which is slow");
		return;
	}
	if (r > 0 && (!strcmp(line, "1") || !strcmp(line, "2"))) {
		fact_add(g, "jit", "BPF compiler (JIT)", "on");
		return;
	}
	f = fact_add(g, "jit", "BPF compiler (JIT)", r < 0 ? "absent" : "off");
	fact_flaw(f, OBS_WARN, OBS_NO_PROBLEM,
		  "programs are interpreted, several times slower, and fentry does not work",
		  r < 0 ? "use a kernel built with CONFIG_BPF_JIT=y"
			: "sysctl net.core.bpf_jit_enable=1");
}

static void fact_kprobes(struct gathering *g)
{
	int err = file_check(g, KPROBE_TYPE);

	if (!err)
		fact_add(g, "kprobes", "kprobes", "available");
	else if (!file_absent(g, err, "/sys/bus/event_source/devices"))
		fact_hidden(g, "kprobes", "kprobes", KPROBE_TYPE, err, OBS_WARN,
			    "cannot tell whether a probe that has no fentry can have a kprobe");
	else
		fact_add(g, "kprobes", "kprobes", "not in this kernel, fentry is all there is");
}

void facts_kernel(struct gathering *g)
{
	fact_kernel(g);
	fact_modules(g);
	fact_btf(g);
	fact_multiqueue(g);
	fact_jit(g);
	fact_kprobes(g);
}
