/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the subcommands share: the parsed options, exit codes, stopping, messages. Subcommands
 * render snapshots; they decide nothing and read no map.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "observe/guest.h"
#include "observe/snapshot.h"

/* Documented in vqsteer(1), section EXIT STATUS; tested. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,      /* something else went wrong; the message says what */
	CLI_USAGE = 2,       /* unknown option or command, bad value */
	CLI_PRIVILEGE = 3,   /* not permitted: capabilities, lockdown, unprivileged BPF */
	CLI_UNSUPPORTED = 4, /* this kernel lacks BTF or a symbol that nothing works without */
	CLI_NO_DEVICE = 5,   /* no virtio-fs mount, or none with this tag or queue */
	CLI_MEMORY = 6,      /* more BPF memory needed than --max-memory allows, or out of memory */
	CLI_OUTPUT = 7,      /* output could not be written: disk full, closed pipe */
};

struct cli_opts {
	const char *command; /* "stat" */
	bool json;
	bool self;
	bool wait;
	bool errors;
	bool stacks;
	bool no_locks;
	bool no_color;
	double interval_s; /* -i */
	uint64_t count;    /* -n; 0: until stopped */
	const char *tag;   /* NULL: all */
	int queue;         /* index; -1: all */
	int op;            /* FUSE opcode; -1: all */
	uint32_t pid;      /* 0: all */
	uint64_t slower_ns;
	uint64_t max_memory; /* bytes */
	uint32_t slots;
	const char *btf;
	uint32_t rungs; /* as struct obs_guest_opts */
};

/* Set by SIGINT, SIGTERM, SIGHUP; handlers are installed without SA_RESTART before dispatch. */
extern volatile sig_atomic_t cli_stop;

/* "vqsteer: ..." on stderr. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Flushes stdout; CLI_OUTPUT with a message (none for a closed pipe) if anything was not written.
 */
int cli_flush(void);

/* Sleeps until @deadline_ns of CLOCK_MONOTONIC; false when cli_stop was set or stdout's reader is
 * gone. */
bool cli_sleep_until(uint64_t deadline_ns);

/*
 * Opens the guest side as the options say: checks privileges, waits for a mount with --wait,
 * prints the BPF memory to stderr, maps errors to exit codes. CLI_OK and *g, or an exit code
 * after its message.
 */
int cli_open_guest(const struct cli_opts *o, const struct obs_guest_opts *base,
		   struct obs_guest **g);

/* Subcommands; each returns an enum cli_exit. */
int cmd_doctor(const struct cli_opts *o);
int cmd_stat(const struct cli_opts *o);
int cmd_top(const struct cli_opts *o);
int cmd_trace(const struct cli_opts *o);

#endif
