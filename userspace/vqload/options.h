/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vqload's command line: what it says, and the table it is read by. */
#ifndef VQLOAD_OPTIONS_H
#define VQLOAD_OPTIONS_H

#include "common/command.h"
#include "vqload/job.h"
#include "vqload/run.h"

enum load_command { LOAD_CMD_RUN, LOAD_CMD_CHECK, LOAD_CMD_HOSTILE, LOAD_CMD_NULL, LOAD_CMD_HELP };

#define LOAD_WORDS_MAX 64

struct load_args {
	struct load_device_options device;
	uint32_t threads;
	bool json, no_progress, keep;
	bool no_event_idx, no_indirect;
	uint64_t seed, seconds_ns;
	uint64_t cases;                      /* of hostile, as what follows */
	const char *number, *only, *restart; /* --case: a number, or NULL */
	bool verbose;
	struct load_jobs *jobs;               /* of run; owned */
	const char *word[LOAD_WORDS_MAX + 1]; /* other operands, NULL ends */
	size_t nr_words;
	bool man, completion, commands, job_page; /* of help */
};

extern const struct vqs_program load_program;

/* As vqs_command_parse(); an exit code after its message. @a is to be freed by load_args_free(). */
enum load_exit load_args_parse(struct load_args *a, int argc, char *const argv[],
			       struct vqs_parsed *parsed);
void load_args_free(struct load_args *a);

#endif
