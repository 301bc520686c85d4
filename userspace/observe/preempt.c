// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/preempt.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/cleanup.h"
#include "observe/ksyms.h"

enum obs_preempt obs_preempt_of_version(const char *version)
{
	if (strstr(version, "PREEMPT_DYNAMIC"))
		return OBS_PREEMPT_UNKNOWN;
	if (strstr(version, "PREEMPT_LAZY"))
		return OBS_PREEMPT_LAZY;
	return strstr(version, "PREEMPT") ? OBS_PREEMPT_FULL : OBS_PREEMPT_NEVER;
}

enum obs_preempt obs_preempt_of_mode(int mode)
{
	static const enum obs_preempt models[] = {OBS_PREEMPT_NEVER, OBS_PREEMPT_NEVER,
						  OBS_PREEMPT_FULL, OBS_PREEMPT_LAZY};

	return mode >= 0 && mode < (int)ARRAY_SIZE(models) ? models[mode] : OBS_PREEMPT_UNKNOWN;
}

/* A program that returns the int at kernel address @addr, -1 when it cannot be read. */
static int load_reader(uint64_t addr)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = sizeof(int)},
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 3, .imm = (uint32_t)addr},
		{.imm = addr >> 32},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 0, .off = 2, .imm = 0},
		{.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 10, .off = -8},
		{.code = BPF_JMP | BPF_EXIT},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = -1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "read_int", "GPL", insns, ARRAY_SIZE(insns),
			     &opts);
}

/* -1, which is no model, also when there may be no program. */
static int read_kernel_int(uint64_t addr)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	_cleanup_close_ int fd = load_reader(addr);

	return fd < 0 || bpf_prog_test_run_opts(fd, &run) ? -1 : (int)run.retval;
}

enum obs_preempt obs_preempt_here(const struct ksyms *syms)
{
	uint64_t addr = ksyms_preempt_mode(syms);
	enum obs_preempt fixed;
	struct utsname uts;

	if (uname(&uts))
		return OBS_PREEMPT_UNKNOWN;
	fixed = obs_preempt_of_version(uts.version);
	return fixed || !addr ? fixed : obs_preempt_of_mode(read_kernel_int(addr));
}
