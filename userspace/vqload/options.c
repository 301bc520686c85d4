// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options. */
#include "vqload/options.h"

#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/commands.h"

#define RUN     (1u << LOAD_CMD_RUN)
#define CHECK   (1u << LOAD_CMD_CHECK)
#define HOSTILE (1u << LOAD_CMD_HOSTILE)
#define NULLDEV (1u << LOAD_CMD_NULL)
#define HELP    (1u << LOAD_CMD_HELP)
#define LOADS   (RUN | CHECK)
#define DEVICE  (LOADS | HOSTILE)

#define DEV(field)  offsetof(struct load_args, device.field)
#define ARGS(field) offsetof(struct load_args, field)
#define FLAG(n, cmds, at, text, more)                                                              \
	{                                                                                          \
		.name = (n), .commands = (cmds), .kind = VQS_FLAG, .offset = (at), .help = (text), \
		.man = (more)                                                                      \
	}

static const struct vqs_option options[] = {
	{
		.name = "socket",
		.arg = "PATH",
		.commands = DEVICE | NULLDEV,
		.kind = VQS_TEXT,
		.offset = DEV(socket),
		.what = "a path",
		.give = "the daemon's vhost-user socket, such as --socket /tmp/vfsd.sock",
		.help = "The daemon's vhost-user socket.",
	},
	{
		.name = "request-queues",
		.arg = "N",
		.commands = LOADS | NULLDEV,
		.kind = VQS_U32,
		.offset = DEV(request_queues),
		.max = 255,
		.what = "a number of queues",
		.give = "one from 1 to 255, or 0 for all that the daemon has",
		.range = "0 to 255",
		.fallback = "0",
		.help = "Request queues to set up; 0 is all that the daemon has.",
		.man = "A daemon that does not say how many it has gets one. The Rust virtiofsd "
		       "and "
		       "QEMU's have one.",
	},
	{
		.name = "queue-size",
		.arg = "N",
		.commands = LOADS | NULLDEV,
		.kind = VQS_POWER,
		.offset = DEV(queue_size),
		.min = 8,
		.max = 32768,
		.what = "a power of two",
		.give = "one from 8 to 32768, such as --queue-size 512",
		.range = "8 to 32768",
		.fallback = "1024",
		.help = "Descriptors of each queue, a power of two.",
		.man = "As in Linux a request has at most this many pages of data, less four: 1 "
		       "MiB "
		       "wants 512.",
	},
	{
		.name = "threads",
		.arg = "N",
		.commands = RUN,
		.kind = VQS_U32,
		.offset = ARGS(threads),
		.min = 1,
		.max = 255,
		.what = "a number of threads",
		.give = "one from 1 to 255",
		.range = "1 to 255",
		.fallback = "1",
		.help = "Deal the queues out over N threads.",
		.man = "Each has its own share of every job, by the weights of its queues.",
	},
	FLAG("poll", LOADS, DEV(poll), "Look at the rings all the time, without sleeping.",
	     "Takes a CPU per thread; the daemon then never has to wake vqload."),
	{
		.name = "timeout",
		.arg = "SEC",
		.commands = DEVICE,
		.kind = VQS_SECONDS,
		.offset = DEV(timeout_ns),
		.min = 100,
		.max = 3600 * 1000,
		.what = "a number of seconds",
		.give = "one from 0.1 to 3600, such as --timeout 5",
		.range = "0.1 to 3600",
		.fallback = "10",
		.help = "Give up after so long without an answer.",
		.man = "It counts for each step of the set-up, and for each queue with requests in "
		       "flight.",
	},
	FLAG("wait", DEVICE, DEV(wait), "Wait for the socket if it is not there yet.",
	     "For as long as --timeout says."),
	{
		.name = "regions",
		.arg = "N",
		.commands = LOADS,
		.kind = VQS_U32,
		.offset = DEV(regions),
		.min = 1,
		.max = 8,
		.what = "a number of memory regions",
		.give = "one from 1 to 8",
		.range = "1 to 8",
		.fallback = "2",
		.help = "Spread guest memory over N regions.",
	},
	FLAG("adjacent", LOADS, DEV(adjacent),
	     "Let memory regions touch in guest-physical addresses.", NULL),
	FLAG("no-event-idx", DEVICE, ARGS(no_event_idx), "Do not use VIRTIO_RING_F_EVENT_IDX.",
	     NULL),
	FLAG("no-indirect", DEVICE, ARGS(no_indirect), "Do not use VIRTIO_RING_F_INDIRECT_DESC.",
	     NULL),
	FLAG("guards", RUN, DEV(guard_all),
	     "Check the memory around every reply, not around one in eight.",
	     "Jobs with verify do so anyway."),
	{
		.name = "details",
		.arg = "N",
		.commands = LOADS,
		.kind = VQS_U32,
		.offset = DEV(details),
		.max = 4096,
		.what = "a number",
		.give = "one from 0 to 4096",
		.range = "0 to 4096",
		.fallback = "16",
		.help = "Show the first N findings in full.",
	},
	{
		.name = "seed",
		.arg = "N",
		.commands = HOSTILE,
		.kind = VQS_U64,
		.offset = ARGS(seed),
		.max = UINT64_MAX,
		.what = "a number",
		.give = "a whole number, such as --seed 7",
		.fallback = "1",
		.help = "Seed of what is random; the same one does the same.",
	},
	{
		.name = "cases",
		.arg = "N",
		.commands = HOSTILE,
		.kind = VQS_U64,
		.offset = ARGS(cases),
		.min = 1,
		.max = UINT64_MAX,
		.what = "a number of cases",
		.give = "a whole number, such as --cases 1000",
		.fallback = "1000",
		.help = "How many cases to try.",
	},
	{
		.name = "case",
		.arg = "K",
		.commands = HOSTILE,
		.kind = VQS_TEXT,
		.offset = ARGS(number),
		.what = "the number of a case",
		.give = "the one that a finding names, such as --case 17",
		.help = "Try case K of the seed only, to replay a finding.",
	},
	{
		.name = "only",
		.arg = "KIND",
		.commands = HOSTILE,
		.kind = VQS_TEXT,
		.offset = ARGS(only),
		.what = "a kind of case",
		.give = "one of the table at the end, or ring, fuse or proto",
		.help = "Skip cases of other kinds.",
		.man = "KIND is ring, fuse, proto, or one of the kinds that the table at the end "
		       "names.",
	},
	{
		.name = "restart",
		.arg = "COMMAND",
		.commands = HOSTILE,
		.kind = VQS_TEXT,
		.offset = ARGS(restart),
		.what = "a command",
		.give = "what starts the daemon, such as --restart 'exec virtiofsd ...'",
		.help = "Start the daemon by this shell command whenever it is not running.",
		.man = "For daemons that end with their connection. Its end by a signal is a "
		       "finding; begin it with exec, so that the daemon is not the shell's child.",
	},
	FLAG("verbose", HOSTILE, ARGS(verbose), "Say on standard error which case comes.", NULL),
	{
		.name = "time",
		.arg = "SEC",
		.commands = HOSTILE | NULLDEV,
		.kind = VQS_SECONDS,
		.offset = ARGS(seconds_ns),
		.max = 86400 * 1000,
		.what = "a number of seconds",
		.give = "one up to 86400",
		.fallback = "0",
		.help = "How long to go on; 0 is until all is done.",
	},
	FLAG("json", DEVICE | NULLDEV, ARGS(json), "Print one JSON object.",
	     "Its schema is vqload/1."),
	FLAG("no-progress", RUN, ARGS(no_progress), "Show no line of progress.",
	     "Without it one is shown when standard error is a terminal."),
	FLAG("keep", RUN, ARGS(keep), "Leave the files that were made on the share.", NULL),
	FLAG("man", HELP, ARGS(man), "Print the man page.", NULL),
	FLAG("completion", HELP, ARGS(completion), "Print bash's completion.", NULL),
	FLAG("commands", HELP, ARGS(commands), "Print the names of all commands.", NULL),
	FLAG("job-page", HELP, ARGS(job_page), "Print the man page of job files.", NULL),
};

/* --- words that no option is -------------------------------------------------------------------
 */

static int take_word(void *args, int cmd, const char *word, char **err)
{
	struct load_args *a = args;

	if (cmd == LOAD_CMD_RUN)
		return *word == '-' ? load_jobs_word(a->jobs, word, err)
				    : load_jobs_file(a->jobs, word, err);
	if (*word == '-')
		return -ENOENT;
	if (cmd == LOAD_CMD_HELP && vqs_command_named(&load_program, word) < 0) {
		*err = NULL;
		return -ENOENT;
	}
	if (a->nr_words == LOAD_WORDS_MAX)
		return -ENOENT;
	a->word[a->nr_words++] = word;
	return 0;
}

static void more_help(FILE *f, int cmd)
{
	if (cmd != LOAD_CMD_RUN)
		return;
	fputs("\nKeys of jobs, in files KEY=VALUE, here --KEY=VALUE:\n", f);
	load_keys_help(f);
}

const struct vqs_program load_program = {
	.name = "vqload",
	.version = VQS_VERSION,
	.summary = "load and check a virtio-fs daemon without a virtual machine",
	.about = load_about,
	.signals = load_signals,
	.see_also = "vqload-job 5",
	.man_date = "November 30, 2026",
	.command = load_commands,
	.nr_commands = LOAD_CMD_HELP + 1,
	.option = options,
	.nr_options = ARRAY_SIZE(options),
	.exit = load_exits,
	.nr_exits = LOAD_EXITS,
	.word = take_word,
	.more_help = more_help,
};

/* --- all together ------------------------------------------------------------------------------
 */

static enum load_exit complain(char *err)
{
	fprintf(stderr, "%s\n", err ? err : "vqload: out of memory");
	free(err);
	return err ? LOAD_EXIT_USAGE : LOAD_EXIT_FAILED;
}

static enum load_exit finish(struct load_args *a, int cmd)
{
	char *err = NULL;

	if (a->no_event_idx)
		a->device.features_off |= VHU_BIT(VIRTIO_RING_F_EVENT_IDX);
	if (a->no_indirect)
		a->device.features_off |= VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC);
	if (cmd != LOAD_CMD_HELP && cmd != LOAD_CMD_NULL && !a->device.socket) {
		fprintf(stderr,
			"vqload %s: --socket is missing; give the daemon's vhost-user socket, such "
			"as --socket /tmp/vfsd.sock\n",
			load_commands[cmd].name);
		return LOAD_EXIT_USAGE;
	}
	if (cmd == LOAD_CMD_RUN && load_jobs_finish(a->jobs, &err)) {
		fprintf(stderr, "vqload run: ");
		return complain(err);
	}
	return LOAD_EXIT_CLEAN;
}

enum load_exit load_args_parse(struct load_args *a, int argc, char *const argv[],
			       struct vqs_parsed *parsed)
{
	char *err = NULL;

	*a = (struct load_args){.jobs = load_jobs_new()};
	if (!a->jobs)
		return complain(NULL);
	if (vqs_command_parse(&load_program, a, argc, argv, parsed, &err))
		return complain(err);
	if (parsed->help || parsed->version)
		return LOAD_EXIT_CLEAN;
	return finish(a, parsed->cmd);
}

void load_args_free(struct load_args *a)
{
	load_jobs_free(a->jobs);
	a->jobs = NULL;
}
