// SPDX-License-Identifier: GPL-2.0-or-later
/* Every option there is. */
#include "common/cleanup.h"
#include "vqfsd/options_priv.h"
#include "vqfsd/stats.h"

#define AT(field) offsetof(struct fsd_options, field)

const struct fsd_option fsd_option_table[] = {
	{"shared-dir", "DIR", FSD_TEXT, AT(shared_dir), .help = "Serve this directory.",
	 .man = "As -o also called source."},
	{"socket-path", "PATH", FSD_TEXT, AT(socket_path),
	 .help = "Listen here for the VM's vhost-user connection.",
	 .man = "A socket that nobody listens on is replaced."},
	{"fd", "N", FSD_NUMBER, AT(fd), .max = 1u << 20,
	 .help = "Serve this open file instead, a listening or a connected socket."},
	{"tag", "TAG", FSD_TEXT, AT(tag), .fallback = "",
	 .help = "Say this tag in the device's config space, 36 bytes at most.",
	 .man = "QEMU has a tag of its own and asks nobody."},
	{"request-queues", "N", FSD_NUMBER, AT(request_queues), .min = 1, .max = 255,
	 .fallback = "1", .help = "Offer so many request queues, 1 to 255.",
	 .man = "A vhost-user ring has a number of 8 bits, and one is for hiprio."},
	{"workers", "N", FSD_NUMBER, AT(workers), .min = 1, .max = FSD_WORKERS_MAX - 1,
	 .help = "Pop from the request queues by so many threads, 1 to 255.",
	 .man = "Queues are dealt out in turn. The default is one for each queue, but no more "
		"than CPUs."},
	{"request-queue-cpu-affinity", "Q=CPUS", FSD_CPUS, AT(affinity),
	 .help = "Pin the worker of request queue Q to these CPUs, such as 1=0-3 or 2=5,6,8; may "
		 "be given for several queues.",
	 .man = "A worker of several such queues may use the CPUs of all of them."},
	{"engine", "NAME", FSD_WORD, AT(engine), .words = {"inline", "pool", "threshold"},
	 .fallback = "inline", .help = "Execute requests by inline, pool or threshold.",
	 .man = "Inline: on the worker. Pool: on the threads of a pool. Threshold: inline, but on "
		"the pool what was popped with more others than --thread-pool-threshold says."},
	{"thread-pool-size", "N", FSD_NUMBER, AT(pool_size), .max = FSD_POOL_MAX, .fallback = "0",
	 .help = "Have so many threads in the pool, 0 to 256.",
	 .man = "Without --engine, a pool makes threshold the engine."},
	{"thread-pool-threshold", "N", FSD_NUMBER, AT(threshold), .max = 65535, .fallback = "3",
	 .help = "Run so many requests that were popped together inline, more on the pool."},
	{"busy-poll-us", "N", FSD_NUMBER, AT(busy_poll_us), .max = 1000000, .fallback = "0",
	 .help = "Let workers look at their rings for up to so many microseconds before they "
		 "sleep.",
	 .man = "They poll less when that was for nothing. It costs CPU time to save wake-ups."},
	{"cache", "POLICY", FSD_WORD, AT(cache), .words = {"auto", "never", "metadata", "always"},
	 .fallback = "auto", .help = "Let the guest cache by auto, never, metadata or always."},
	{"writeback", NULL, FSD_FLAG, AT(writeback), .help = "Let the guest gather writes."},
	{"xattr", NULL, FSD_FLAG, AT(xattr), .help = "Serve extended attributes."},
	{"readonly", NULL, FSD_FLAG, AT(readonly), .help = "Refuse what would change the share."},
	{"allow-direct-io", NULL, FSD_FLAG, AT(allow_direct_io),
	 .help = "Open files with O_DIRECT when the guest asks for it."},
	{"max-background", "N", FSD_NUMBER, AT(max_background), .min = 1, .max = 65535,
	 .fallback = "65535", .help = "Let the guest have so many requests in the background."},
	{"sandbox", "MODE", FSD_WORD, AT(sandbox), .words = {"chroot", "none"},
	 .fallback = "chroot", .help = "Close the daemon in the share by chroot, or by none."},
	{"rlimit-nofile", "N", FSD_NUMBER, AT(rlimit_nofile), .max = 1u << 30, .fallback = "0",
	 .help = "Open so many files at most; 0 for as many as allowed."},
	{"control", "PATH", FSD_TEXT, AT(control),
	 .help = "Listen here for those who watch and steer: one JSON object a line."},
	{"once", NULL, FSD_FLAG, AT(once), .help = "End when the first VM disconnects."},
	{"log-level", "LEVEL", FSD_LEVEL, AT(log_level), .fallback = "info",
	 .help = "Tell off, error, warn, info or debug."},
	{"print-capabilities", NULL, FSD_FLAG, AT(capabilities),
	 .help = "Print what libvirt asks for, as JSON, and end."},
	{"man", NULL, FSD_FLAG, AT(man), .help = "Print the man page, in mdoc, and end."},
	{"help", NULL, FSD_FLAG, AT(help), .help = "Show this and end."},
	{"version", NULL, FSD_FLAG, AT(version), .help = "Tell the version and end."},
};
const size_t fsd_nr_options = ARRAY_SIZE(fsd_option_table);

const struct fsd_exit_text fsd_exit_table[] = {
	{FSD_EXIT_OK, "Ended by a signal, by the control socket, or with --once by the VM."},
	{FSD_EXIT_FAILED, "No memory, files or threads for it, or the socket failed."},
	{FSD_EXIT_USAGE, "The command line is wrong."},
	{FSD_EXIT_SHARE, "The shared directory cannot be opened, or the sandbox not be closed."},
	{FSD_EXIT_SOCKET, "A socket cannot be listened on, or the descriptor is none."},
};
const size_t fsd_nr_exits = ARRAY_SIZE(fsd_exit_table);
