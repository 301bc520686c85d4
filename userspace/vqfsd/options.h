/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: one table of options, and what is made from it: the parser, --help, the man
 * page. Names are those of virtiofsd where it has them; each also works as "-o name=value", with
 * '_' for '-' and "no_name" for off, which is how libvirt passes them.
 */
#ifndef VQFSD_OPTIONS_H
#define VQFSD_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "virtqueue/vhost_user.h"

enum fsd_sandbox { FSD_SANDBOX_CHROOT, FSD_SANDBOX_NONE };

/* Exit codes, for scripts and service managers. */
enum fsd_exit {
	FSD_EXIT_OK,
	FSD_EXIT_FAILED, /* while serving, or for want of memory, files, threads */
	FSD_EXIT_USAGE,
	FSD_EXIT_SHARE, /* it cannot be opened, or closed in */
	FSD_EXIT_SOCKET,
};

/* Strings point into the command line. */
struct fsd_options {
	const char *shared_dir, *socket_path, *tag, *control;
	uint32_t fd; /* UINT32_MAX: none */
	uint32_t request_queues, workers, pool_size, threshold, engine;
	uint32_t busy_poll_us, max_background, rlimit_nofile;
	uint32_t cache, sandbox; /* enum fsd_cache, fsd_sandbox */
	int log_level;
	bool writeback, xattr, readonly, allow_direct_io, once;
	bool help, version, capabilities, man;
	bool has_affinity;
	cpu_set_t affinity[VHU_MAX_VRINGS]; /* by number of queue */
};

/* 0; -EINVAL and *error, a text to print and free (NULL without memory). */
int fsd_options_parse(struct fsd_options *o, int argc, char *const argv[], char **error);
void fsd_options_help(FILE *f);
void fsd_options_man(FILE *f);

#endif
