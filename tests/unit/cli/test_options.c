// SPDX-License-Identifier: GPL-2.0-or-later
/* The option table and what is made from it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "common/cleanup.h"

#define MAX_WORDS 16

/* @line split at blanks; words live as long as the static buffer. */
static int parse(struct cli_args *a, const char *line, char **err)
{
	static char words[512];
	char *argv[MAX_WORDS + 1] = {(char *)"vqsteer"}, *save = NULL;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return opt_parse(a, argc, argv, err);
}

static void good(struct cli_args *a, const char *line)
{
	char *err;

	if (parse(a, line, &err))
		fail_msg("\"%s\": %s", line, err);
	assert_null(err);
}

static void bad(const char *line, const char *message)
{
	_cleanup_free_ char *err = NULL;
	struct cli_args a;

	assert_int_equal(parse(&a, line, &err), -EINVAL);
	assert_string_equal(err, message);
}

static void defaults(void **state)
{
	struct cli_args a;

	good(&a, "stat");
	assert_int_equal(a.cmd, CMD_STAT);
	assert_string_equal(a.opts.command, "stat");
	assert_true(a.opts.interval_s == 1.0);
	assert_int_equal(a.opts.count, 0);
	assert_null(a.opts.tag);
	assert_int_equal(a.opts.queue, -1);
	assert_int_equal(a.opts.op, -1);
	assert_int_equal(a.opts.pid, 0);
	assert_int_equal(a.opts.max_memory, 64 << 20);
	assert_int_equal(a.opts.slots, 16384);
	assert_int_equal(a.opts.rungs, 0);
	assert_false(a.opts.json || a.opts.self || a.opts.wait || a.opts.no_locks);
}

static void every_spelling(void **state)
{
	static const char *const same[] = {
		"stat -i 2.5 -n 3",           "stat -i2.5 -n3",
		"stat --interval 2.5 -n 3",   "stat --interval=2.5 --count=3",
		"stat --interval 2500ms -n3", "stat -n 7 -i 9 --interval 2.5s -n 3",
	};
	struct cli_args a;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		good(&a, same[i]);
		assert_true(a.opts.interval_s == 2.5);
		assert_int_equal(a.opts.count, 3);
	}
}

static void values_with_units(void **state)
{
	struct cli_args a;

	good(&a, "trace --slower 500");
	assert_int_equal(a.opts.slower_ns, 500000);
	good(&a, "trace --slower 500us");
	assert_int_equal(a.opts.slower_ns, 500000);
	good(&a, "trace --slower 1.5ms");
	assert_int_equal(a.opts.slower_ns, 1500000);
	good(&a, "trace --slower 1s");
	assert_int_equal(a.opts.slower_ns, 1000000000);
	good(&a, "trace --slower 3600s");
	good(&a, "trace --slower 1ns");
	assert_int_equal(a.opts.slower_ns, 1);
	good(&a, "stat --max-memory 1.5M");
	assert_int_equal(a.opts.max_memory, 3 << 19);
	good(&a, "stat --max-memory 64GiB");
	assert_true(a.opts.max_memory == 64ULL << 30);
	good(&a, "stat --max-memory 1048576");
	assert_int_equal(a.opts.max_memory, 1 << 20);
}

static void names_as_values(void **state)
{
	struct cli_args a;

	good(&a, "trace --op fsync --queue 0 --pid 4194304 --errors");
	assert_int_equal(a.opts.op, 20);
	assert_int_equal(a.opts.queue, 0);
	assert_int_equal(a.opts.pid, 4194304);
	assert_true(a.opts.errors);
	good(&a, "doctor --rungs tracepoint,fentry --btf /x");
	assert_int_equal(a.opts.rungs, 1 << OBS_RUNG_TRACEPOINT | 1 << OBS_RUNG_FENTRY);
	assert_string_equal(a.opts.btf, "/x");
	good(&a, "stat --tag -");
	assert_string_equal(a.opts.tag, "-");
	good(&a, "stat --tag --json");
	assert_string_equal(a.opts.tag, "--json");
	assert_false(a.opts.json);
	good(&a, "help trace --man");
	assert_string_equal(a.topic, "trace");
	assert_true(a.man);
}

static void messages(void **state)
{
	bad("",
	    "vqsteer: a command is missing; vqsteer --help lists them, vqsteer doctor is a start");
	bad("stta", "vqsteer: \"stta\" is no command; did you mean stat? vqsteer --help lists them "
		    "all");
	bad("xyzzy", "vqsteer: \"xyzzy\" is no command; vqsteer --help lists them all");
	bad("stat --interval x", "vqsteer stat: --interval: \"x\" is not a number of seconds; give "
				 "one from 0.1 to 3600, "
				 "such as -i 1");
	bad("stat -i 5000",
	    "vqsteer stat: --interval: \"5000\" is out of range; give one from 0.1 to "
	    "3600, such as -i 1");
	bad("stat -i", "vqsteer stat: --interval needs a number of seconds after it; give one from "
		       "0.1 to 3600, such as -i 1");
	bad("stat --jsn", "vqsteer stat: \"--jsn\" is no option; did you mean --json? vqsteer stat "
			  "--help lists them all");
	bad("top --json",
	    "vqsteer top: \"--json\" is an option of other commands, not of top; leave "
	    "it out, or see vqsteer top --help");
	bad("--json", "vqsteer: \"--json\" belongs after a command; see vqsteer --help");
	bad("stat --json=1", "vqsteer stat: --json takes no value; leave out \"=1\"");
	bad("stat 5", "vqsteer stat: \"5\" is one word too many; options begin with -, see vqsteer "
		      "stat --help");
}

static void hostile_values(void **state)
{
	static const char *const lines[] = {
		"stat -i nan",
		"stat -i inf",
		"stat -i -1",
		"stat -i +1",
		"stat -i 1e3",
		"stat -i 0x10",
		"stat -i 1,5",
		"stat -i .5",
		"stat -i 5.",
		"stat -i 0",
		"stat -i 1.2.3",
		"stat -i 1s2",
		"stat -n -1",
		"stat -n 0",
		"stat -n 1.0",
		"stat -n 18446744073709551617",
		"stat -n 1000000001",
		"stat --queue 256",
		"stat --queue 4294967297",
		"stat --queue -1",
		"stat --slots 7",
		"stat --slots 100",
		"stat --slots 2097152",
		"stat --max-memory 64K",
		"stat --max-memory 65G",
		"stat --max-memory 99999999999G",
		"stat --max-memory K",
		"stat --max-memory 1MM",
		"stat --tag=",
		"stat --btf=",
		"stat --rungs=",
		"stat --rungs fentry,",
		"stat --rungs ,fentry",
		"stat --rungs FENTRY",
		"stat --rungs fentry,,kprobe",
		"stat --op=",
		"stat --op 0",
		"stat --op 64",
		"trace --slower 0",
		"trace --slower 1h",
		"trace --slower 3601s",
		"trace --slower 99999999999999999999s",
		"trace --pid 0",
		"trace --pid 4194305",
		"stat -",
		"stat -ix",
		"stat -q",
		"stat ---",
		"stat --=x",
		"stat --interval=",
		"help nonsense",
		"help stat stat",
		"stat -- --json",
		"stat --tag 1234567890123456789012345678901234567",
		"--interval 1 stat",
		"stat --man",
		"help --json",
		"-",
		"-x",
		"--nonsense",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_free_ char *err = NULL;
		struct cli_args a;

		if (parse(&a, lines[i], &err) != -EINVAL)
			fail_msg("\"%s\" was taken", lines[i]);
		assert_non_null(err);
		assert_int_equal(strncmp(err, "vqsteer", 7), 0);
		assert_null(strchr(err, '\n'));
		/* A remedy follows the reason. */
		assert_non_null(strchr(err, ';') ? strchr(err, ';') : strstr(err, "see "));
	}
}

static void terminals_are_safe(void **state)
{
	char *argv[] = {(char *)"vqsteer", (char *)"stat", (char *)"--tag\033[2J=\a", NULL};
	_cleanup_free_ char *err = NULL;
	char huge[5000], *long_argv[] = {(char *)"vqsteer", huge, NULL};
	struct cli_args a;

	assert_int_equal(opt_parse(&a, 3, argv, &err), -EINVAL);
	for (const char *p = err; *p; p++)
		assert_true(*p >= ' ' && *p <= '~');
	memset(huge, 'A', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	free(TAKE_PTR(err));
	assert_int_equal(opt_parse(&a, 2, long_argv, &err), -EINVAL);
	assert_true(strlen(err) < 200);
}

/* Its remedy names an example: typing that must work. */
static void examples_of_remedies(void **state)
{
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];
		const char *example = o->give ? strstr(o->give, "such as ") : NULL;
		struct cli_args a;
		char line[128];

		assert_int_equal(o->arg != NULL, o->what != NULL);
		assert_int_equal(o->arg != NULL, o->give != NULL);
		for (int cmd = 0; example && cmd < CMDS; cmd++) {
			if (!opt_takes(o, (enum cmd_id)cmd))
				continue;
			snprintf(line, sizeof(line), "%s %s", cli_commands[cmd].name,
				 example + strlen("such as "));
			good(&a, line);
		}
	}
}

static void limits_are_limits(void **state)
{
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];
		uint64_t field = 0;
		char text[32];

		if (o->kind != OPT_COUNT && o->kind != OPT_U32 && o->kind != OPT_INT &&
		    o->kind != OPT_POWER)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)o->max);
		assert_int_equal(opt_value(o, text, &field), 0);
		assert_int_equal(field, o->max);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)o->max + 1);
		assert_int_equal(opt_value(o, text, &field), -ERANGE);
		assert_int_equal(field, o->max);
	}
}

/* The ends of a range that help tells are the limits that the parser knows. */
static void ranges_are_limits(void **state)
{
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];
		char least[32], most[32];
		uint64_t field = 0;
		double seconds;

		/* Numbers have limits, and all numbers have a range to tell. */
		assert_int_equal(o->range != NULL, o->max != 0 || o->kind == OPT_OP);
		if (!o->range)
			continue;
		assert_int_equal(sscanf(o->range, "%31s to %31s", least, most), 2);
		if (o->kind == OPT_SECONDS) {
			assert_int_equal(opt_value(o, least, &seconds), 0);
			assert_true(seconds * 1000 == (double)o->min);
			assert_int_equal(opt_value(o, most, &seconds), 0);
			assert_true(seconds * 1000 == (double)o->max);
			continue;
		}
		assert_int_equal(opt_value(o, least, &field), 0);
		assert_int_equal(field, o->kind == OPT_OP ? 1 : o->min);
		assert_int_equal(opt_value(o, most, &field), 0);
		assert_int_equal(field, o->kind == OPT_OP ? VQS_OPS - 1 : o->max);
	}
}

/* No page speaks of another command's option. */
static void texts_fit_their_command(void **state)
{
	for (size_t i = 0; i < cli_nr_options; i++) {
		const struct opt_spec *o = &cli_options[i];
		char name[16];

		for (int cmd = 0; cmd < CMDS; cmd++) {
			const struct opt_text *t = opt_text(o, (enum cmd_id)cmd);

			if (!opt_takes(o, (enum cmd_id)cmd))
				continue;
			assert_int_equal(t->help[strlen(t->help) - 1], '.');
			for (int other = 0; other < CMD_HELP; other++) {
				snprintf(name, sizeof(name), "or %s ", cli_commands[other].name);
				assert_true(other == cmd || !t->man || !strcasestr(t->man, name));
				snprintf(name, sizeof(name), "(%s)", cli_commands[other].name);
				assert_null(strstr(t->help, name));
			}
		}
	}
}

/* The examples of the help texts, up to a pipe or a redirection. */
static void examples_of_help(void **state)
{
	for (int cmd = 0; cmd < CMDS; cmd++) {
		for (const struct cmd_example *e = cli_commands[cmd].examples; e->line; e++) {
			struct cli_args a;
			char line[128];

			assert_int_equal(strncmp(e->line, "vqsteer ", 8), 0);
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(e->line + 8, "|>"),
				 e->line + 8);
			good(&a, line);
			assert_int_equal(a.cmd, cmd);
		}
	}
}

static char *printed(void (*print)(FILE *f, int cmd), int cmd)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	print(f, cmd);
	fclose(f);
	return text;
}

static void help_fits_80_columns(void **state)
{
	for (int cmd = -1; cmd < CMDS; cmd++) {
		_cleanup_free_ char *text = printed(help_print, cmd);

		for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
			size_t len = strcspn(line, "\n");

			if (len > 80)
				fail_msg("%.*s", (int)len, line);
			assert_true(!len || line[len - 1] != ' ');
		}
	}
}

static void every_option_is_explained(void **state)
{
	for (int cmd = 0; cmd < CMDS; cmd++) {
		_cleanup_free_ char *help = printed(help_print, cmd),
				    *man = printed(man_print, cmd);
		char word[64];

		for (size_t i = 0; i < cli_nr_options; i++) {
			const struct opt_spec *o = &cli_options[i];
			bool shown = opt_takes(o, (enum cmd_id)cmd) && !o->hidden;

			snprintf(word, sizeof(word), "--%s%s", o->name, o->arg ? " " : "\n");
			if (!o->arg)
				word[strlen(word) - 1] = ' ';
			assert_int_equal(strstr(help, word) != NULL, shown);
			snprintf(word, sizeof(word), "Fl \\-%s%s", o->name, o->arg ? " " : "\n");
			assert_int_equal(strstr(man, word) != NULL, shown);
		}
	}
}

static void completion_print_all(FILE *f, int cmd)
{
	completion_print(f);
}

static void completion_knows_every_command(void **state)
{
	_cleanup_free_ char *text = printed(completion_print_all, 0);
	char word[64];

	for (int cmd = 0; cmd < CMDS; cmd++) {
		snprintf(word, sizeof(word), "\t%s) words=", cli_commands[cmd].name);
		assert_non_null(strstr(text, word));
	}
	assert_null(strstr(text, "--commands"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(every_spelling),
		cmocka_unit_test(values_with_units),
		cmocka_unit_test(names_as_values),
		cmocka_unit_test(messages),
		cmocka_unit_test(hostile_values),
		cmocka_unit_test(terminals_are_safe),
		cmocka_unit_test(examples_of_remedies),
		cmocka_unit_test(limits_are_limits),
		cmocka_unit_test(ranges_are_limits),
		cmocka_unit_test(texts_fit_their_command),
		cmocka_unit_test(examples_of_help),
		cmocka_unit_test(help_fits_80_columns),
		cmocka_unit_test(every_option_is_explained),
		cmocka_unit_test(completion_knows_every_command),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
