// SPDX-License-Identifier: GPL-2.0-or-later
/* vqload: dispatch to the commands. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "vqload/conform.h"
#include "vqload/hooks.h"
#include "vqload/options.h"

#define SAME_SIGNAL_NS 200000000u

static volatile sig_atomic_t stop;

/*
 * The first asks for an end in order, a later one ends at once. Those who signal a process and its
 * group, as timeout(1) does, mean one.
 */
static void on_signal(int sig)
{
	static uint64_t first_ns;
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC);

	if (stop && now - first_ns > SAME_SIGNAL_NS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	if (!stop)
		first_ns = now;
	stop = 1;
}

static void install_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN}, old;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	/* nohup's wish is respected. */
	if (sigaction(SIGHUP, NULL, &old) || old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &act, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	/* Open loops sleep to the microsecond; threads inherit it. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
}

/* @err: of writing, so far. What could not be told is no result. */
static enum load_exit written(enum load_exit code, int err)
{
	if (!err && fflush(stdout))
		err = -errno;
	if (!err && ferror(stdout))
		err = -EIO;
	if (!err)
		return code;
	if (err == -ENOMEM)
		return LOAD_EXIT_FAILED;
	if (err != -EPIPE)
		fprintf(stderr,
			"vqload: cannot write the output: %s; free some space or write it "
			"elsewhere\n",
			strerror(-err));
	return LOAD_EXIT_OUTPUT;
}

/* The report first, then what went wrong. */
static enum load_exit told(enum load_exit code, int err, const char *command, const char *error)
{
	enum load_exit end = written(code, err);

	if (*error)
		fprintf(stderr, "vqload %s: %s\n", command, error);
	return end;
}

static enum load_exit cmd_run(const struct load_args *a)
{
	struct load_run_options o = {
		.device = a->device,
		.threads = a->threads,
		.progress = !a->no_progress && isatty(STDERR_FILENO),
		.keep = a->keep,
		.stop = &stop,
	};
	struct load_report r;
	enum load_exit code = load_run(&o, a->jobs, &r);
	int err = 0;

	if (a->json)
		err = load_report_json(&r, stdout);
	else if (r.judge && r.wall_ns)
		err = load_report_text(&r, stdout);
	code = told(code, err, "run", r.error);
	load_report_free(&r);
	return code;
}

static enum load_exit cmd_check(const struct load_args *a)
{
	struct load_check c;
	enum load_exit code = load_check_run(&a->device, &c);
	int err = 0;

	if (a->json)
		err = load_check_json(&c, stdout);
	else if (c.nr)
		err = load_check_text(&c, stdout);
	code = told(code, err, "check", c.error);
	load_check_free(&c);
	return code;
}

static enum load_exit cmd_hook(enum load_exit (*hook)(const struct load_hook_args *),
			       const struct load_args *a, const char *name)
{
	struct load_hook_args h = {
		.device = a->device,
		.json = a->json,
		.time_ns = a->seconds_ns,
		.seed = a->seed,
		.cases = a->cases,
		.has_case = a->number != NULL,
		.only = a->only,
		.restart = a->restart,
		.verbose = a->verbose,
		.words = (char *const *)a->word,
		.stop = &stop,
	};

	char *end = NULL;

	if (a->number)
		h.number = strtoull(a->number, &end, 10);
	if (a->number && (end == a->number || *end || *a->number == '-')) {
		fprintf(stderr, "vqload %s: --case wants the number of a case, such as --case 17\n",
			name);
		return LOAD_EXIT_USAGE;
	}
	if (hook)
		return written(hook(&h), 0);
	fprintf(stderr, "vqload: this build has no %s\n", name);
	return LOAD_EXIT_USAGE;
}

static enum load_exit cmd_help(const struct load_args *a)
{
	int topic = a->nr_words ? vqs_command_named(&load_program, a->word[0]) : -1;

	if (a->job_page)
		load_keys_man(stdout);
	else if (a->completion)
		vqs_command_completion(&load_program, stdout);
	else if (a->man)
		vqs_command_man(&load_program, stdout, topic);
	else if (a->commands)
		for (size_t i = 0; i < load_program.nr_commands; i++)
			puts(load_program.command[i].name);
	else
		vqs_command_help(&load_program, stdout, topic);
	return written(LOAD_EXIT_CLEAN, 0);
}

static enum load_exit dispatch(const struct load_args *a, int cmd)
{
	switch (cmd) {
	case LOAD_CMD_RUN:
		return cmd_run(a);
	case LOAD_CMD_CHECK:
		return cmd_check(a);
	case LOAD_CMD_HOSTILE:
		return cmd_hook(load_hostile_main, a, "hostile");
	case LOAD_CMD_NULL:
		return cmd_hook(load_null_main, a, "null");
	default:
		return cmd_help(a);
	}
}

int main(int argc, char *argv[])
{
	struct vqs_parsed parsed = {.cmd = -1};
	struct load_args args;
	enum load_exit code;

	install_signals();
	code = load_args_parse(&args, argc, argv, &parsed);
	if (!code && parsed.version) {
		puts("vqload " VQS_VERSION);
		code = written(LOAD_EXIT_CLEAN, 0);
	} else if (!code && parsed.help) {
		vqs_command_help(&load_program, stdout, parsed.cmd);
		code = written(LOAD_EXIT_CLEAN, 0);
	} else if (!code) {
		code = dispatch(&args, parsed.cmd);
	}
	load_args_free(&args);
	return code;
}
