// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, and the prose that --help and the man pages are made of. */
#include "cli/options.h"

#include "common/cleanup.h"

const char cli_about[] =
	"vqsteer shows where the time of each request of a virtio-fs mount goes, queue by queue "
	"and hop by hop, and names the locks it waited for. Run it as root in the virtual machine "
	"that has the mount; it needs no change to the kernel, to the daemon or to the mount.";

const char cli_privileges[] =
	"Root has them all. Otherwise CAP_BPF and CAP_PERFMON load the programs and attach them. "
	"Where fuse and virtiofs are modules CAP_SYS_ADMIN is needed as well, because the kernel "
	"shows the types of modules only to it; --self needs it too. Kprobes may need access to "
	"/sys/kernel/tracing. CAP_SYSLOG gives names to the stacks of --stacks, unless "
	"kernel.kptr_restrict is 2. Kernels before 5.11 count BPF maps against RLIMIT_MEMLOCK, "
	"which CAP_SYS_RESOURCE raises.\n\n"
	"Once everything is attached, vqsteer gives its capabilities up.";

const char cli_signals[] =
	"SIGINT, SIGTERM and SIGHUP end a command in order: stat still prints the interval that "
	"was interrupted and the summary, or one more line of JSON; top restores the terminal; "
	"doctor is soon done and does not stop. The exit status is that of a command that came to "
	"its end, mostly 0; 7 if the rest could not be written, 5 while --wait waits for a mount. "
	"Under nohup SIGHUP stays ignored.\n\n"
	"A second signal, while programs are loaded or taken down or output is written, ends "
	"vqsteer at once, which a shell shows as 128 and the number of the signal: 130 for SIGINT, "
	"143 for SIGTERM, 129 for SIGHUP. Nothing stays attached then either.";

static const char counting_overhead[] =
	"Every request runs a few short BPF programs, each of which takes one timestamp; nothing "
	"is sent to user space per request. Locks cost only where somebody has to wait for them: "
	"taking a free lock is never probed. --self shows what the programs took.";

static const char doctor_about[] =
	"Checks everything that decides what the other commands can show: the kernel, its types "
	"(BTF), the modules, privileges and lockdown; the virtio-fs mounts with their queues, and "
	"which CPU uses which queue; and, by attaching for a moment, which way each probe "
	"attaches. Each finding says what it costs you and how to change it.\n\n"
	"It also runs without privileges and on machines without virtio-fs: it reports what is "
	"missing instead of failing.";
static const char doctor_man[] =
	"The exit status is that of the worst finding, so that a script can ask whether this "
	"machine is ready.\n\n"
	"Where /proc or /sys is not mounted, or hides a part, as in some containers, what they "
	"would tell \"cannot be read\": that is never taken for absent, and the finding says how "
	"to make it visible. The exit status is 1 if nothing can be attached without it.";

static const char stat_about[] =
	"Shows, for every queue of every virtio-fs mount, where the time of a request goes: "
	"waiting in the guest, on the ring and in the device, until the interrupt is served, until "
	"the waiter runs; which operations the requests are; and which lock, by name, they waited "
	"for. All requests count, none is sampled.";
static const char stat_man[] =
	"Percentiles are within 1/16 of the true value; counts are exact. Requests that could not "
	"be followed are counted and shown, by cause.";

static const char top_about[] =
	"The numbers of vqsteer stat as a full-screen view that keeps up: sort by any column, "
	"filter, and go from a queue to its operations and locks. h explains the keys, q leaves.";

static const char trace_about[] =
	"Prints every request when it has ended: who asked, what for, on which queue, the time of "
	"each hop, and the error. Filters work in the kernel, so that looking for a few slow "
	"requests among many is cheap.";
static const char trace_man[] = "Records pass through one ring buffer per CPU. When one is full, "
				"records are lost, and how many is said.";
static const char trace_overhead[] =
	"Every request runs a few short BPF programs, each of which takes one timestamp. Every "
	"request that passes the filters costs a record of about 100 bytes as well; without "
	"filters that can be hundreds of thousands a second. Locks are not watched.";

static const char help_about[] =
	"Explains a command: what it does for you, examples, and its options, as vqsteer COMMAND "
	"--help does. Without a COMMAND it lists all of them, as vqsteer --help does.";

const struct cmd_spec cli_commands[] = {
	[CMD_DOCTOR] =
		{
			.name = "doctor",
			.summary = "say what vqsteer can see here, and what is in its way",
			.about = doctor_about,
			.man = doctor_man,
			.examples =
				{
					{"vqsteer doctor",
					 "What works here, and why not the rest?"},
					{"vqsteer doctor --json | jq .probes",
					 "Which way did each probe attach?"},
					{"vqsteer doctor --rungs kprobe",
					 "What would be left if fentry did not work?"},
				},
		},
	[CMD_STAT] =
		{
			.name = "stat",
			.summary = "latency, operations and lock waits of each virtio-fs queue",
			.about = stat_about,
			.man = stat_man,
			.overhead = counting_overhead,
			.examples =
				{
					{"vqsteer stat -i 5",
					 "Every five seconds: what did they add?"},
					{"vqsteer stat -i 10 -n 1",
					 "One report over ten seconds, then stop."},
					{"vqsteer stat --tag data --queue 1",
					 "One queue of one mount, each operation with its hops."},
					{"vqsteer stat --json -n 60 > run.jsonl",
					 "Record a minute, to look at later."},
				},
		},
	[CMD_TOP] =
		{
			.name = "top",
			.summary = "a live view of virtio-fs queues, operations and locks",
			.about = top_about,
			.overhead = counting_overhead,
			.examples =
				{
					{"vqsteer top",
					 "Which queue is busy, what does it wait for?"},
					{"vqsteer top -i 0.5 --tag data",
					 "One mount, twice a second."},
				},
		},
	[CMD_TRACE] =
		{
			.name = "trace",
			.summary = "one line per finished virtio-fs request, with every hop",
			.about = trace_about,
			.man = trace_man,
			.overhead = trace_overhead,
			.examples =
				{
					{"vqsteer trace --slower 5ms",
					 "Only what took longer than 5 ms."},
					{"vqsteer trace --op FSYNC -n 100",
					 "The next hundred fsyncs."},
					{"vqsteer trace --errors",
					 "What fails, and with which error?"},
					{"vqsteer trace --pid 1234 --json",
					 "What does this process ask for? One object a request."},
				},
		},
	[CMD_HELP] =
		{
			.name = "help",
			.summary = "explain vqsteer or one of its commands",
			.about = help_about,
			.operand = "[COMMAND]",
			.examples =
				{
					{"vqsteer help", "Which commands are there?"},
					{"vqsteer help stat", "What does stat show, and how?"},
				},
		},
};
_Static_assert(ARRAY_SIZE(cli_commands) == CMDS, "every command has a row");

const struct exit_spec cli_exits[] = {
	{CLI_OK, true, "Everything was done; doctor: nothing is in the way."},
	{CLI_FAILED, false, "Something else went wrong; the message says what."},
	{CLI_USAGE, true, "Unknown command or option, or a bad value."},
	{CLI_PRIVILEGE, false, "Not permitted: capabilities, lockdown or unprivileged BPF."},
	{CLI_UNSUPPORTED, false, "This kernel lacks BTF or a symbol that nothing works without."},
	{CLI_NO_DEVICE, false, "No virtio-fs mount, or none with this tag or queue."},
	{CLI_MEMORY, false, "The BPF maps need more than --max-memory, or memory ran out."},
	{CLI_OUTPUT, true, "The output could not be written: disk full or pipe closed."},
};
const size_t cli_nr_exits = ARRAY_SIZE(cli_exits);
