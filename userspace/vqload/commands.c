// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqload/commands.h"

#include "vqload/options.h"

const char load_about[] =
	"vqload plays the guest of a virtio-fs daemon: it speaks vhost-user to it as a virtual "
	"machine would, over any number of queues, loads it with jobs, and judges every reply as "
	"strictly as Linux does. No virtual machine is needed, and no privilege but access to the "
	"daemon's socket.";

const char load_signals[] =
	"SIGINT, SIGTERM and SIGHUP end a run early, with the report of what was done until then "
	"and with its exit status; files are removed. A second signal ends vqload at once.";

static const char run_about[] =
	"Runs the jobs of fio-like job files, or the one that the command line describes, and "
	"reports throughput, latencies by queue and by operation, what the daemon took for it, and "
	"everything that was wrong with its replies. Files are laid out on the share first, and "
	"removed afterwards; files that were there before are used and stay, changed if jobs "
	"write.";

static const char run_man[] =
	"Latency is counted from the time that a request was due. With an open loop (arrival) a "
	"daemon that stalls makes all that is due meanwhile late, as users would see it.\n\n"
	"Requests per CPU second compare what the daemon's threads took, user and system time, "
	"with what they did; of a daemon in another process namespace nothing is known.";

static const char check_about[] =
	"Sends every operation that a Linux guest sends, and compares what the daemon does with "
	"what a POSIX directory does: sizes, contents, link counts, errors. One line each: ok, "
	"unsupported (the daemon says ENOSYS or EOPNOTSUPP), or FAILED with the reason. Works in a "
	"new directory of the share, which it removes.";

static const char hostile_about[] =
	"Does what a broken or hostile guest or front-end might do to the daemon, one case after "
	"the "
	"other, and sees after each whether a healthy request is answered: on the same connection, "
	"or after the queue was started anew where its ring was broken, or on a new connection "
	"where "
	"the daemon closed the old one. A daemon that dies by a signal, hangs, answers for what is "
	"outside of its share, or writes where it has no buffer is a finding. The seed and the "
	"number of the case replay it.\n\n"
	"Give the daemon a scratch share. Files are made, changed and removed in its directory "
	"vqload-hostile only, which is left there; names with .. or a slash are looked up, below "
	"that directory.";

static const char null_about[] =
	"Measures what vqload itself costs, against a device in its own process that answers at "
	"once: with one thread that is device and guest in turn, and with two threads on a CPU "
	"each.\n\n"
	"With --socket it serves that device to others instead, until it is interrupted: files in "
	"memory, and complaints on standard error about what a front-end should not send. MISDEED "
	"is what it shall do wrong then, once in 100 requests or as many as the number after it "
	"says; a wrong word lists them.";

static const char help_about[] = "Explains vqload, or one of its commands.";

const struct vqs_command load_commands[] = {
	[LOAD_CMD_RUN] =
		{
			.name = "run",
			.summary = "load a virtio-fs daemon with jobs and judge its replies",
			.about = run_about,
			.man = run_man,
			.operand = "JOBFILE",
			.examples =
				{
					{"vqload run --socket S --rw=randread --iodepth=32 "
					 "--runtime=10s --time_based",
					 "How many random reads a second, and how slow is the "
					 "slowest?"},
					{"vqload run --socket S --rw=randrw --verify=crc32c "
					 "--size=64m",
					 "Does it give back what was written?"},
					{"vqload run --socket S --json hot.fio > hot.json",
					 "Jobs of a file, for a script."},
				},
		},
	[LOAD_CMD_CHECK] =
		{
			.name = "check",
			.summary = "try every operation of a virtio-fs daemon once",
			.about = check_about,
			.examples = {{"vqload check --socket S", "What works, what does not?"}},
		},
	[LOAD_CMD_HOSTILE] =
		{
			.name = "hostile",
			.summary = "see whether a virtio-fs daemon survives a hostile guest",
			.about = hostile_about,
			.examples =
				{
					{"vqload hostile --socket S --seed 7 --cases 5000",
					 "Does a daemon that serves one connection after the other "
					 "survive?"},
					{"vqload hostile --socket S --restart 'exec ./daemon.sh'",
					 "The same for a daemon that ends with its connection."},
					{"vqload hostile --socket S --seed 7 --case 412",
					 "A finding once more."},
				},
		},
	[LOAD_CMD_NULL] =
		{
			.name = "null",
			.summary = "a device that answers at once, to measure vqload itself",
			.about = null_about,
			.operand = "MISDEED",
			.examples =
				{
					{"vqload null", "What does vqload itself cost?"},
					{"vqload null --socket S unique 20",
					 "A daemon that names a wrong request in each 20th reply."},
				},
		},
	[LOAD_CMD_HELP] =
		{
			.name = "help",
			.summary = "explain vqload or one of its commands",
			.about = help_about,
			.operand = "COMMAND",
			.examples = {{"vqload help run", "Which options and keys are there?"}},
		},
};

const struct vqs_exit load_exits[LOAD_EXITS] = {
	{LOAD_EXIT_CLEAN, "All replies were sound; check: no operation failed."},
	{LOAD_EXIT_FAULTS, "Replies, data or the protocol were not sound; the report says what."},
	{LOAD_EXIT_USAGE, "Unknown command or option, a bad value, or a mistake in a job file."},
	{LOAD_EXIT_CONNECT,
	 "Cannot connect: no such socket, nobody listens, or no virtio-fs daemon "
	 "is behind it."},
	{LOAD_EXIT_LACKS, "The daemon lacks what is asked for, such as queues or large requests."},
	{LOAD_EXIT_CLOSED, "The daemon closed the connection, or died."},
	{LOAD_EXIT_TIMEOUT, "The daemon did not answer in time."},
	{LOAD_EXIT_OUTPUT, "The output could not be written: disk full or pipe closed."},
	{LOAD_EXIT_SHARE, "The share is read-only or full, or no file can be made on it."},
	{LOAD_EXIT_FAILED, "Something else went wrong, such as too little memory; the message says "
			   "what."},
};
