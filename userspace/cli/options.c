// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options. Limits are in the unit that options.h states for the kind. */
#include "cli/options.h"

#include "common/cleanup.h"

#define DOCTOR (1U << CMD_DOCTOR)
#define STAT   (1U << CMD_STAT)
#define TOP    (1U << CMD_TOP)
#define TRACE  (1U << CMD_TRACE)
#define HELP   (1U << CMD_HELP)
#define GUEST  (STAT | TOP | TRACE)
#define EVERY  (DOCTOR | GUEST | HELP)

#define OPTS(field) offsetof(struct cli_args, opts.field)
#define ARGS(field) offsetof(struct cli_args, field)

const struct opt_spec cli_options[] = {
	{
		.name = "interval",
		.letter = 'i',
		.arg = "SEC",
		.commands = STAT | TOP,
		.kind = OPT_SECONDS,
		.offset = OPTS(interval_s),
		.min = 100,
		.max = 3600 * 1000,
		.what = "a number of seconds",
		.give = "one from 0.1 to 3600, such as -i 1",
		.range = "0.1 to 3600",
		.fallback = "1",
		.text = {.help = "Show what every SEC seconds added.",
			 .man = "Reading the counters costs the traced system nothing, so a short "
				"interval is cheap."},
	},
	{
		.name = "count",
		.letter = 'n',
		.arg = "COUNT",
		.commands = STAT | TRACE,
		.kind = OPT_COUNT,
		.offset = OPTS(count),
		.min = 1,
		.max = 1000000000,
		.what = "a whole number",
		.give = "one from 1 to 1000000000, such as -n 10",
		.range = "1 to 1000000000",
		.text = {.help = "Stop after COUNT intervals.",
			 .man = "Without it the command runs until it is interrupted."},
		.own =
			{
				{TRACE,
				 {.help = "Stop after COUNT requests.",
				  .man = "Those that were printed count. Without it the command "
					 "runs until it is interrupted."}},
			},
	},
	{
		.name = "json",
		.commands = DOCTOR | STAT | TRACE,
		.kind = OPT_FLAG,
		.offset = OPTS(json),
		.text = {.help = "Print JSON, one object a line.",
			 .man = "Each line is one whole snapshot of schema vqsteer/1: all counts "
				"since attach, so that no line depends on another. This is also "
				"the recording format."},
		.own =
			{
				{DOCTOR,
				 {.help = "Print JSON, one object.",
				  .man = "It has every fact with its verdict, the mounts, and how "
					 "each probe attaches. Facts have an id that stays; what "
					 "changes from boot to boot is in their detail."}},
				{TRACE,
				 {.help = "Print JSON, one object a line.",
				  .man = "Each line is one finished request of schema "
					 "vqsteer-trace/1, with all its hops in nanoseconds."}},
			},
	},
	{
		.name = "tag",
		.arg = "TAG",
		.commands = GUEST,
		.kind = OPT_TAG,
		.offset = OPTS(tag),
		.what = "the tag of a virtio-fs device",
		.give = "one of 1 to 36 bytes; vqsteer doctor lists those of this machine",
		.text = {.help = "Show only the device with this tag.",
			 .man = "The tag is what was mounted: the first word of its line in "
				"/proc/mounts."},
	},
	{
		.name = "queue",
		.arg = "INDEX",
		.commands = GUEST,
		.kind = OPT_INT,
		.offset = OPTS(queue),
		.min = 0,
		.max = 255,
		.what = "the index of a queue",
		.give = "0 for hiprio or 1 to 255 for a request queue, such as --queue 1",
		.range = "0 to 255",
		.text = {.help = "Show only this queue, its opcodes with every hop.",
			 .man = "0 is hiprio; request queues count from 1."},
		.own =
			{
				{TRACE,
				 {.help = "Show only requests of this queue.",
				  .man = "0 is hiprio; request queues count from 1."}},
			},
	},
	{
		.name = "op",
		.arg = "OP",
		.commands = STAT | TRACE,
		.kind = OPT_OP,
		.offset = OPTS(op),
		.what = "a FUSE operation",
		.give = "a name or a number from 1 to 63, such as --op READ",
		.range = "1 to 63",
		.text = {.help = "Show only this FUSE operation, by name or number.",
			 .man = "Names, such as LOOKUP, READ or FSYNC, are taken in any case."},
	},
	{
		.name = "pid",
		.arg = "TID",
		.commands = TRACE,
		.kind = OPT_U32,
		.offset = OPTS(pid),
		.min = 1,
		.max = 4194304,
		.what = "a thread id",
		.give = "one from 1 to 4194304, such as --pid 1234",
		.range = "1 to 4194304",
		.text = {.help = "Show only requests of this thread.",
			 .man = "FUSE tells the thread, not the process; its first thread has the "
				"process's id. Readahead and writeback act for nobody in "
				"particular and carry 0."},
	},
	{
		.name = "slower",
		.arg = "DURATION",
		.commands = TRACE,
		.kind = OPT_DURATION,
		.offset = OPTS(slower_ns),
		.min = 1,
		.max = 3600ULL * 1000000000,
		.what = "a duration",
		.give = "microseconds, or with a unit ns, us, ms or s, from 1ns to 3600s, such as "
			"--slower 2ms",
		.range = "1ns to 3600s",
		.text = {.help = "Show only requests that took longer.",
			 .man = "Microseconds, or with a unit: 500us, 2ms, 1s. Faster requests are "
				"dropped in the kernel and cost no record."},
	},
	{
		.name = "errors",
		.commands = TRACE,
		.kind = OPT_FLAG,
		.offset = OPTS(errors),
		.text = {.help = "Show only requests that failed.",
			 .man = "A LOOKUP of a name that does not exist fails too, with ENOENT."},
	},
	{
		.name = "stacks",
		.commands = STAT | TOP,
		.kind = OPT_FLAG,
		.offset = OPTS(stacks),
		.text = {.help = "Show which code waited for the locks.",
			 .man = "Keeps the kernel stacks of contended waits. Costs a stack walk "
				"per wait, hence only on request. Names need CAP_SYSLOG; where the "
				"kernel hides them, that is said once."},
	},
	{
		.name = "no-locks",
		.commands = STAT | TOP,
		.kind = OPT_FLAG,
		.offset = OPTS(no_locks),
		.text = {.help = "Do not watch locks.",
			 .man = "The slow path of every spinlock of the system then stays as it "
				"is."},
	},
	{
		.name = "self",
		.commands = STAT | TOP,
		.kind = OPT_FLAG,
		.offset = OPTS(self),
		.text = {.help = "Show what vqsteer itself costs.",
			 .man = "Runs and run time of each BPF program, recursion misses and "
				"memory. Needs CAP_SYS_ADMIN, and makes every BPF program of the "
				"system take two timestamps."},
	},
	{
		.name = "wait",
		.commands = GUEST,
		.kind = OPT_FLAG,
		.offset = OPTS(wait),
		.text = {.help = "Wait for a virtio-fs mount if there is none yet.",
			 .man = "With --tag, for a mount of that tag."},
	},
	{
		.name = "max-memory",
		.arg = "SIZE",
		.commands = GUEST,
		.kind = OPT_SIZE,
		.offset = OPTS(max_memory),
		.min = 1ULL << 20,
		.max = 64ULL << 30,
		.what = "a size",
		.give = "bytes, or with a suffix K, M or G, from 1M to 64G, such as --max-memory "
			"128M",
		.range = "1M to 64G",
		.fallback = "64M",
		.text = {.help = "Refuse to start if the BPF maps need more.",
			 .man = "Bytes, or with suffix K, M or G (powers of 1024). What the maps "
				"take is printed on standard error before they are made."},
	},
	{
		.name = "slots",
		.arg = "N",
		.commands = GUEST,
		.kind = OPT_POWER,
		.offset = OPTS(slots),
		.min = 8,
		.max = 1048576,
		.what = "a power of two",
		.give = "one from 8 to 1048576, such as --slots 32768",
		.range = "8 to 1048576",
		.fallback = "16384",
		.text = {.help = "Follow at most N requests at once, a power of two.",
			 .man = "Requests beyond that are counted as untracked, not timed. A slot "
				"takes 64 bytes."},
	},
	{
		.name = "btf",
		.arg = "FILE",
		.commands = DOCTOR | GUEST,
		.kind = OPT_FILE,
		.offset = OPTS(btf),
		.what = "a file name",
		.give = "the path of a BTF file for this kernel, such as --btf /tmp/vmlinux.btf",
		.text = {.help = "Kernel types, for a kernel without its own.",
			 .man = "Such a kernel has no /sys/kernel/btf/vmlinux. The file must be "
				"made from the same kernel build, with pahole -J or bpftool gen "
				"min_core_btf."},
	},
	{
		.name = "rungs",
		.arg = "LIST",
		.commands = DOCTOR | GUEST,
		.kind = OPT_RUNGS,
		.offset = OPTS(rungs),
		.what = "a list of rungs",
		.give = "one or more of fentry, kprobe and tracepoint, such as --rungs "
			"kprobe,tracepoint",
		.text = {.help = "Use only these ways to attach, for odd kernels.",
			 .man = "Out of fentry, kprobe and tracepoint; vqsteer takes the best one "
				"that each probe can have, in that order."},
	},
	{
		.name = "no-color",
		.commands = DOCTOR | GUEST,
		.kind = OPT_FLAG,
		.offset = OPTS(no_color),
		.text = {.help = "Print without colours.",
			 .man = "They are off anyway when the output is no terminal or the "
				"environment has NO_COLOR."},
	},
	{
		.name = "man",
		.hidden = true,
		.commands = HELP,
		.kind = OPT_FLAG,
		.offset = ARGS(man),
		.text = {.help = "Print the man page in mdoc(7)."},
	},
	{
		.name = "completion",
		.hidden = true,
		.commands = HELP,
		.kind = OPT_FLAG,
		.offset = ARGS(completion),
		.text = {.help = "Print the completion for bash."},
	},
	{
		.name = "commands",
		.hidden = true,
		.commands = HELP,
		.kind = OPT_FLAG,
		.offset = ARGS(commands),
		.text = {.help = "Print the names of all commands."},
	},
	{
		.name = "help",
		.letter = 'h',
		.commands = EVERY,
		.kind = OPT_FLAG,
		.offset = ARGS(help),
		.text = {.help = "Explain the command and its options."},
	},
	{
		.name = "version",
		.letter = 'V',
		.commands = EVERY,
		.kind = OPT_FLAG,
		.offset = ARGS(version),
		.text = {.help = "Print the version."},
	},
};

const size_t cli_nr_options = ARRAY_SIZE(cli_options);

const struct opt_text *opt_text(const struct opt_spec *o, enum cmd_id cmd)
{
	for (size_t i = 0; i < OPT_OWN && o->own[i].commands; i++)
		if (o->own[i].commands & (1U << cmd))
			return &o->own[i].text;
	return &o->text;
}
