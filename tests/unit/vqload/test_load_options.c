// SPDX-License-Identifier: GPL-2.0-or-later
/* vqload's command line, and what is made from its table. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "vqload/options.h"

#define MAX_WORDS 16

/* @line split at blanks, without what finishes a command line. */
static int parse(struct load_args *a, struct vqs_parsed *p, const char *line, char **err)
{
	static char words[512];
	char *argv[MAX_WORDS + 1] = {(char *)"vqload"}, *save = NULL;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	*a = (struct load_args){.jobs = load_jobs_new()};
	assert_non_null(a->jobs);
	return vqs_command_parse(&load_program, a, argc, argv, p, err);
}

static void good(struct load_args *a, const char *line, int cmd)
{
	struct vqs_parsed p;
	char *err;

	if (parse(a, &p, line, &err))
		fail_msg("\"%s\": %s", line, err);
	assert_int_equal(p.cmd, cmd);
}

static void bad(const char *line, const char *message)
{
	_cleanup_free_ char *err = NULL;
	struct vqs_parsed p;
	struct load_args a;

	assert_int_equal(parse(&a, &p, line, &err), -EINVAL);
	assert_string_equal(err, message);
	load_args_free(&a);
}

static void defaults_and_values(void **state)
{
	struct load_args a;

	good(&a, "run --socket S --rw=randread", LOAD_CMD_RUN);
	assert_string_equal(a.device.socket, "S");
	assert_int_equal(a.device.queue_size, 1024);
	assert_int_equal(a.device.request_queues, 0);
	assert_int_equal(a.device.timeout_ns, 10000000000);
	assert_int_equal(a.threads, 1);
	assert_false(a.device.poll);
	assert_int_equal(a.jobs->global.rw, LOAD_RW_RANDREAD);
	load_args_free(&a);
	good(&a, "run --socket=S --poll --timeout 0.25 --queue-size=64 --threads 3 --json",
	     LOAD_CMD_RUN);
	assert_int_equal(a.device.timeout_ns, 250000000);
	assert_int_equal(a.device.queue_size, 64);
	assert_int_equal(a.threads, 3);
	assert_true(a.device.poll && a.json);
	load_args_free(&a);
	good(&a, "help check", LOAD_CMD_HELP);
	assert_string_equal(a.word[0], "check");
	load_args_free(&a);
	good(&a, "hostile --socket S --only ring --seed 7 --case 12", LOAD_CMD_HOSTILE);
	assert_string_equal(a.only, "ring");
	assert_string_equal(a.number, "12");
	assert_int_equal(a.seed, 7);
	assert_int_equal(a.cases, 1000);
	load_args_free(&a);
	good(&a, "null --socket S unique 20", LOAD_CMD_NULL);
	assert_int_equal(a.nr_words, 2);
	load_args_free(&a);
}

static void mistakes_name_the_remedy(void **state)
{
	bad("", "vqload: a command is missing; vqload --help lists them");
	bad("chekc", "vqload: \"chekc\" is no command; did you mean check? vqload --help lists "
		     "them all");
	bad("run --queue-size 100",
	    "vqload run: --queue-size: \"100\" is not a power of two; give one from 8 to 32768, "
	    "such as --queue-size 512");
	bad("run --timeout 0",
	    "vqload run: --timeout: \"0\" is out of range; give one from 0.1 to 3600, such as "
	    "--timeout 5");
	bad("run --timeout",
	    "vqload run: --timeout needs a number of seconds after it; give one from 0.1 to 3600, "
	    "such as --timeout 5");
	bad("run --json=1", "vqload run: --json takes no value; leave out \"=1\"");
	bad("check --threads 2", "vqload check: \"--threads\" is no option here; vqload check "
				 "--help lists them");
	bad("check x", "vqload check: \"x\" is one word too many; options begin with --, see "
		       "vqload check --help");
	bad("check -j", "vqload check: \"-j\" is no option here; vqload check --help lists them");
}

static void job_words_are_options(void **state)
{
	_cleanup_free_ char *err = NULL;
	struct vqs_parsed p;
	struct load_args a;

	assert_int_equal(parse(&a, &p, "run --iodpth=3", &err), -EINVAL);
	assert_non_null(strstr(err, "did you mean iodepth?"));
	load_args_free(&a);
}

static char *printed(void (*print)(const struct vqs_program *, FILE *, int), int cmd)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	print(&load_program, f, cmd);
	fclose(f);
	return text;
}

static void help_fits_a_terminal(void **state)
{
	for (int cmd = -1; cmd < (int)load_program.nr_commands; cmd++) {
		_cleanup_free_ char *text = printed(vqs_command_help, cmd);

		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= 80);
	}
}

static void pages_have_every_option(void **state)
{
	for (int cmd = 0; cmd < (int)load_program.nr_commands; cmd++) {
		_cleanup_free_ char *text = printed(vqs_command_man, cmd);

		for (size_t i = 0; i < load_program.nr_options; i++) {
			const struct vqs_option *o = &load_program.option[i];
			char item[64];

			snprintf(item, sizeof(item), ".It Fl \\-%s%s", o->name,
				 o->arg ? " " : "\n");
			assert_int_equal(!!strstr(text, item), o->commands >> cmd & 1);
		}
	}
}

static void exit_codes_are_in_order(void **state)
{
	for (size_t i = 0; i < load_program.nr_exits; i++)
		assert_int_equal(load_program.exit[i].code, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_values),
		cmocka_unit_test(mistakes_name_the_remedy),
		cmocka_unit_test(job_words_are_options),
		cmocka_unit_test(help_fits_a_terminal),
		cmocka_unit_test(pages_have_every_option),
		cmocka_unit_test(exit_codes_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
