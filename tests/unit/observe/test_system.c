// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about made-up machines: a good one, and what is wrong with it after one change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/system.h"
#include "tree.h"

/* A 6.12 guest with everything in place. */
static void put_good(const struct tree *t)
{
	tree_put(t, "/proc/sys/kernel/osrelease", "6.12.117+deb13-cloud-amd64\n");
	tree_put(t, "/proc/version", "Linux version 6.12.117 (x@y) #1 SMP PREEMPT_DYNAMIC\n");
	tree_put(t, "/proc/cmdline", "quiet ro\n");
	tree_put(t, "/proc/sys/net/core/netdev_max_backlog", "1000\n");
	tree_put(t, "/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	tree_put(t, "/proc/sys/kernel/kptr_restrict", "0\n");
	tree_put(t, "/proc/sys/net/core/bpf_jit_enable", "1\n");
	tree_put(t, "/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	tree_put(t, "/proc/self/mountinfo", "22 1 0:20 / / rw - virtiofs root rw\n");
	tree_put(t, "/proc/filesystems", "nodev\tproc\nnodev\tfuse\n\text4\nnodev\tvirtiofs\n");
	tree_put(t, "/proc/modules", "loop 40960 0 - Live 0x0\n");
	tree_put(t, "/proc/kallsyms",
		 "ffffffff81000000 T _stext\n"
		 "ffffffff81000100 t virtio_fs_send_req\n"
		 "ffffffff81000200 t virtio_fs_enqueue_req\n"
		 "ffffffff81000300 T native_queued_spin_lock_slowpath\n"
		 "ffffffff81000400 T __pv_queued_spin_lock_slowpath\n");
	tree_put(t, "/sys/kernel/notes", "x");
	tree_put(t, "/sys/kernel/btf/vmlinux", "x");
	tree_put(t, "/sys/devices/system/cpu/possible", "0-3\n");
	tree_put(t, "/sys/bus/event_source/devices/kprobe/type", "8\n");
	tree_put(t, "/sys/fs/virtiofs/2/tag", "root\n");
	tree_put(t, "/sys/fs/virtiofs/2/mqs/1/cpu_list", "0, 1, 2, 3\n");
}

struct machine {
	struct tree tree;
	struct obs_system_source src;
	struct obs_system sys;
};

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m || tree_make(&m->tree))
		return -1;
	put_good(&m->tree);
	m->src = (struct obs_system_source){
		.root = m->tree.root, .machine = "x86_64", .hypervisor = OBS_HV_KVM_PV};
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	obs_system_free(&m->sys);
	tree_remove(&m->tree);
	free(m);
	return 0;
}

static const struct obs_fact *look(struct machine *m, const char *id)
{
	obs_system_free(&m->sys);
	assert_int_equal(obs_system_read(&m->src, &m->sys), 0);
	return obs_system_fact(&m->sys, id);
}

/* Fact @id has this verdict and problem; what is not fine says what it costs and what to do. */
static void expect(struct machine *m, const char *id, enum obs_verdict verdict,
		   enum obs_problem problem, const char *value)
{
	const struct obs_fact *f = look(m, id);

	assert_non_null(f);
	assert_string_equal(f->value, value);
	assert_int_equal(f->verdict, verdict);
	assert_int_equal(f->problem, problem);
	assert_int_equal(f->costs[0] != '\0', verdict != OBS_FINE);
	assert_int_equal(f->remedy[0] != '\0', verdict != OBS_FINE);
}

static void good_machine(void **state)
{
	struct machine *m = *state;

	look(m, "kernel");
	for (size_t i = 0; i < m->sys.nr_facts; i++)
		assert_int_equal(m->sys.fact[i].verdict, OBS_FINE);
	assert_true(m->sys.can_trace);
	assert_int_equal(m->sys.kernel, 6 << 16 | 12);
	assert_int_equal(m->sys.possible_cpus, 4);
	assert_int_equal(m->sys.spin, OBS_SPIN_PARAVIRT);
	assert_string_equal(obs_system_fact(&m->sys, "kernel")->value, "6.12");
	assert_string_equal(obs_system_fact(&m->sys, "kernel")->detail,
			    "6.12.117+deb13-cloud-amd64");
	assert_string_equal(obs_system_fact(&m->sys, "multiqueue")->value, "all request queues");
	assert_null(obs_system_fact(&m->sys, "nonsense"));
}

static void old_kernels(void **state)
{
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/sys/kernel/osrelease", "5.19.0-50-generic\n");
	expect(m, "kernel", OBS_WARN, OBS_NO_PROBLEM, "5.19");
	tree_put(&m->tree, "/proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
	expect(m, "kernel", OBS_FAIL, OBS_NO_SUPPORT, "5.15");
}

static void memlock_of_old_kernels(void **state)
{
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/sys/kernel/osrelease", "5.10.0\n");
	tree_put(&m->tree, "/proc/self/limits",
		 "Limit                     Soft Limit           Hard Limit           Units\n"
		 "Max locked memory         8388608              8388608              bytes\n");
	expect(m, "memlock", OBS_FINE, OBS_NO_PROBLEM, "limits BPF on this kernel");
	tree_put(&m->tree, "/proc/self/status", "CapEff:\t000000c000000000\n");
	expect(m, "memlock", OBS_WARN, OBS_NO_PROBLEM, "limits BPF on this kernel");
	tree_put(&m->tree, "/proc/self/limits",
		 "Max locked memory         unlimited            unlimited            bytes\n");
	expect(m, "memlock", OBS_FINE, OBS_NO_PROBLEM, "limits BPF on this kernel");
}

static void first_queue_only(void **state)
{
	struct machine *m = *state;

	tree_cut(&m->tree, "/sys/fs/virtiofs/2/mqs/1/cpu_list");
	expect(m, "multiqueue", OBS_FINE, OBS_NO_PROBLEM,
	       "all request queues; this kernel does not say which CPU uses which");
	tree_put(&m->tree, "/proc/kallsyms", "0 t virtio_fs_enqueue_req\n");
	expect(m, "multiqueue", OBS_WARN, OBS_NO_PROBLEM,
	       "this kernel uses only the first request queue");
	tree_put(&m->tree, "/proc/kallsyms", "0 t _stext\n");
	expect(m, "multiqueue", OBS_FINE, OBS_NO_PROBLEM, "unknown before virtiofs is loaded");
}

static void types(void **state)
{
	struct machine *m = *state;

	tree_cut(&m->tree, "/sys/kernel/btf/vmlinux");
	expect(m, "btf", OBS_FAIL, OBS_NO_SUPPORT, "absent");
	m->src.btf = "/some/file";
	expect(m, "btf", OBS_FAIL, OBS_NO_SUPPORT, "from --btf: No such file or directory");
	m->src.btf = "/dev/null";
	expect(m, "btf", OBS_FAIL, OBS_NO_SUPPORT, "from --btf: not a regular file");
	m->src.btf = "/proc/self/exe";
	expect(m, "btf", OBS_FINE, OBS_NO_PROBLEM, "from --btf");
}

static void modules(void **state)
{
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/modules",
		 "virtiofs 1 0 - Live 0x0\nfuse 2 1 virtiofs, Live 0x0\n");
	expect(m, "modules", OBS_FINE, OBS_NO_PROBLEM, "fuse a module, virtiofs a module");
	expect(m, "btf", OBS_WARN, OBS_NO_PROBLEM, "present, but not for the modules");
	tree_put(&m->tree, "/sys/kernel/btf/virtiofs", "x");
	tree_put(&m->tree, "/sys/kernel/btf/fuse", "x");
	expect(m, "btf", OBS_FINE, OBS_NO_PROBLEM, "present");
	tree_put(&m->tree, "/proc/self/status", "CapEff:\t000000c000000000\n");
	expect(m, "capabilities", OBS_WARN, OBS_NO_PROBLEM, "all but CAP_SYS_ADMIN");
	tree_put(&m->tree, "/proc/modules", "");
	tree_put(&m->tree, "/proc/filesystems", "nodev\tfuse\n");
	expect(m, "modules", OBS_FAIL, OBS_NO_MOUNT, "fuse built in, virtiofs absent");
	expect(m, "capabilities", OBS_FINE, OBS_NO_PROBLEM, "all but CAP_SYS_ADMIN");
}

static void rights(void **state)
{
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/self/status", "CapEff:\t0000000000000000\n");
	expect(m, "capabilities", OBS_FAIL, OBS_NO_RIGHTS, "CAP_BPF and CAP_PERFMON missing");
	assert_false(m->sys.can_trace);
	tree_put(&m->tree, "/proc/self/status", "CapEff:\t0000008000000000\n");
	expect(m, "capabilities", OBS_FAIL, OBS_NO_RIGHTS, "CAP_PERFMON missing");
	tree_cut(&m->tree, "/proc/self/status");
	expect(m, "capabilities", OBS_WARN, OBS_NO_PROBLEM, "cannot be read");
	tree_put(&m->tree, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect(m, "lockdown", OBS_FAIL, OBS_NO_RIGHTS, "confidentiality");
	tree_put(&m->tree, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	expect(m, "lockdown", OBS_FINE, OBS_NO_PROBLEM, "integrity, which is no obstacle");
	tree_put(&m->tree, "/proc/sys/net/core/bpf_jit_enable", "0\n");
	expect(m, "jit", OBS_WARN, OBS_NO_PROBLEM, "off");
	tree_cut(&m->tree, "/proc/sys/net/core/bpf_jit_enable");
	expect(m, "jit", OBS_WARN, OBS_NO_PROBLEM, "absent");
}

/* Every address is 0 to who may not know it, whatever the setting is. */
static void hidden_addresses(void **state)
{
	static const char *const settings[][2] = {
		{"0\n", "hidden from this process"},
		{"1\n", "shown to CAP_SYSLOG"},
		{"2\n", "hidden from everybody"},
	};
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/kallsyms",
		 "0000000000000000 T _stext\n"
		 "0000000000000000 t virtio_fs_enqueue_req\n");
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		tree_put(&m->tree, "/proc/sys/kernel/kptr_restrict", settings[i][0]);
		expect(m, "kptr_restrict", OBS_WARN, OBS_NO_PROBLEM, settings[i][1]);
	}
	tree_cut(&m->tree, "/proc/sys/kernel/kptr_restrict");
	expect(m, "kptr_restrict", OBS_WARN, OBS_NO_PROBLEM, "hidden from this process");
}

static void spinlocks(void **state)
{
	struct machine *m = *state;

	m->src.hypervisor = OBS_HV_OTHER;
	look(m, "spinlocks");
	assert_int_equal(m->sys.spin, OBS_SPIN_TEST_AND_SET);
	m->src.hypervisor = OBS_HV_NONE;
	look(m, "spinlocks");
	assert_int_equal(m->sys.spin, OBS_SPIN_QUEUED);
	m->src.hypervisor = OBS_HV_KVM_PV;
	tree_put(&m->tree, "/proc/cmdline", "quiet nopvspin ro\n");
	look(m, "spinlocks");
	assert_int_equal(m->sys.spin, OBS_SPIN_QUEUED);
	tree_put(&m->tree, "/proc/kallsyms", "0 T queued_spin_lock_slowpath\n");
	look(m, "spinlocks");
	assert_int_equal(m->sys.spin, OBS_SPIN_QUEUED);
	tree_put(&m->tree, "/proc/version", "Linux version 6.12.9 (x@y) #1 SMP PREEMPT_RT x\n");
	expect(m, "spinlocks", OBS_WARN, OBS_NO_PROBLEM, "sleeping (PREEMPT_RT)");
}

/* The table of docs/kernel-support.md: kinds of spinlocks whose waits a rung sees all of. */
static void who_sees_locks(void **state)
{
	static const unsigned int slow_path = 1u << OBS_SPIN_UNKNOWN | 1u << OBS_SPIN_QUEUED |
					      1u << OBS_SPIN_TEST_AND_SET | 1u << OBS_SPIN_PARAVIRT;
	static const unsigned int complete[OBS_RUNGS] = {
		[OBS_RUNG_NONE] = 0,
		[OBS_RUNG_FENTRY] = slow_path,
		[OBS_RUNG_KPROBE] = slow_path,
		[OBS_RUNG_TRACEPOINT] = 1u << OBS_SPIN_PARAVIRT,
	};

	for (unsigned int rung = 0; rung < OBS_RUNGS; rung++)
		for (unsigned int spin = 0; spin <= OBS_SPIN_RT; spin++)
			assert_int_equal(obs_locks_complete(rung, spin),
					 complete[rung] >> spin & 1);
}

static void nothing_mounted(void **state)
{
	struct machine *m = *state;

	tree_put(&m->tree, "/proc/self/mountinfo", "");
	expect(m, "mounts", OBS_FAIL, OBS_NO_MOUNT, "none");
}

/* Fact @id cannot be read; what to do about it begins with @remedy. */
static void expect_hidden(struct machine *m, const char *id, enum obs_verdict verdict,
			  const char *remedy)
{
	const struct obs_fact *f;

	expect(m, id, verdict, verdict == OBS_FAIL ? OBS_HIDDEN : OBS_NO_PROBLEM, "cannot be read");
	f = obs_system_fact(&m->sys, id);
	assert_non_null(strstr(f->detail, ": "));
	assert_memory_equal(f->remedy, remedy, strlen(remedy));
}

/* What is not to be seen is not taken for what is not there. */
static void no_proc(void **state)
{
	static const char *const unknown[] = {"kernel", "modules", "jit", "capabilities",
					      "spinlocks"};
	struct machine *m = *state;

	tree_cut_all(&m->tree, "/proc");
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		expect_hidden(m, unknown[i], OBS_WARN, "mount proc on /proc: mount");
	expect_hidden(m, "kptr_restrict", OBS_FAIL, "mount proc on /proc: mount");
	expect_hidden(m, "mounts", OBS_FAIL, "mount proc on /proc: mount");
	expect(m, "btf", OBS_FINE, OBS_NO_PROBLEM, "present");
	assert_null(obs_system_fact(&m->sys, "memlock"));
	tree_cut_all(&m->tree, "/sys/fs");
	expect_hidden(m, "multiqueue", OBS_WARN, "mount proc on /proc: mount");
}

static void no_sys(void **state)
{
	struct machine *m = *state;

	tree_cut_all(&m->tree, "/sys");
	expect_hidden(m, "btf", OBS_FAIL, "mount sysfs on /sys");
	expect_hidden(m, "kprobes", OBS_WARN, "mount sysfs on /sys");
	expect_hidden(m, "lockdown", OBS_WARN, "mount sysfs on /sys");
	expect_hidden(m, "spinlocks", OBS_WARN, "mount sysfs on /sys");
	expect(m, "modules", OBS_FINE, OBS_NO_PROBLEM, "fuse built in, virtiofs built in");
	/* How many CPUs there are matters to paravirtual spinlocks only. */
	m->src.hypervisor = OBS_HV_NONE;
	expect(m, "spinlocks", OBS_FINE, OBS_NO_PROBLEM, "queued");
}

/* proc mounted with subset=pid: the processes' folders only. */
static void proc_of_processes_only(void **state)
{
	static const char *const others[] = {"/proc/sys",         "/proc/modules", "/proc/kallsyms",
					     "/proc/filesystems", "/proc/version", "/proc/cmdline"};
	struct machine *m = *state;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		tree_cut_all(&m->tree, others[i]);
	expect_hidden(m, "kernel", OBS_WARN, "mount proc on /proc without subset=pid");
	expect_hidden(m, "modules", OBS_WARN, "mount proc on /proc without subset=pid");
	expect_hidden(m, "kptr_restrict", OBS_FAIL, "mount proc on /proc without subset=pid");
	expect(m, "capabilities", OBS_FINE, OBS_NO_PROBLEM, "all that are needed");
	expect(m, "mounts", OBS_FINE, OBS_NO_PROBLEM, "1");
}

/* One file or another is missing from view. */
static void parts_hidden(void **state)
{
	struct machine *m = *state;

	tree_cut(&m->tree, "/proc/filesystems");
	expect_hidden(m, "modules", OBS_WARN, "mount proc on /proc without");
	tree_put(&m->tree, "/proc/modules",
		 "virtiofs 1 0 - Live 0x0\nfuse 2 1 virtiofs, Live 0x0\n");
	expect(m, "modules", OBS_FINE, OBS_NO_PROBLEM, "fuse a module, virtiofs a module");
	/* Another network namespace than the first. */
	tree_cut(&m->tree, "/proc/sys/net/core/bpf_jit_enable");
	tree_cut(&m->tree, "/proc/sys/net/core/netdev_max_backlog");
	expect_hidden(m, "jit", OBS_WARN, "run it in the first network namespace");
	tree_cut(&m->tree, "/sys/devices/system/cpu/possible");
	expect_hidden(m, "spinlocks", OBS_WARN, "mount sysfs on /sys");
	tree_put(&m->tree, "/proc/sys/kernel/osrelease", "5.10.0\n");
	expect_hidden(m, "memlock", OBS_WARN, "mount proc on /proc without");
}

/* An empty tree: everything is reported, nothing fails or crashes. */
static void no_files_at_all(void **state)
{
	struct machine *m = *state;
	_cleanup_tree_ struct tree empty;

	assert_int_equal(tree_make(&empty), 0);
	m->src.root = empty.root;
	assert_non_null(look(m, "kernel"));
	assert_int_equal(m->sys.kernel, 0);
	assert_false(m->sys.can_trace);
	for (size_t i = 0; i < m->sys.nr_facts; i++)
		assert_string_equal(m->sys.fact[i].value, "cannot be read");
}

static void releases(void **state)
{
	assert_int_equal(obs_release_parse("6.1.0-37-amd64"), 6 << 16 | 1);
	assert_int_equal(obs_release_parse("7.3"), 7 << 16 | 3);
	assert_int_equal(obs_release_parse(""), 0);
	assert_int_equal(obs_release_parse("six"), 0);
	assert_int_equal(obs_release_parse("6"), 0);
	assert_int_equal(obs_release_parse("99999.1"), 0);
}

#define MACHINE_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(good_machine),
		MACHINE_TEST(old_kernels),
		MACHINE_TEST(memlock_of_old_kernels),
		MACHINE_TEST(first_queue_only),
		MACHINE_TEST(types),
		MACHINE_TEST(modules),
		MACHINE_TEST(rights),
		MACHINE_TEST(hidden_addresses),
		MACHINE_TEST(spinlocks),
		cmocka_unit_test(who_sees_locks),
		MACHINE_TEST(nothing_mounted),
		MACHINE_TEST(no_proc),
		MACHINE_TEST(no_sys),
		MACHINE_TEST(proc_of_processes_only),
		MACHINE_TEST(parts_hidden),
		MACHINE_TEST(no_files_at_all),
		cmocka_unit_test(releases),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
