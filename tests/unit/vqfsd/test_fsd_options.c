// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's command line: names of virtiofsd, forms of libvirt, and what is wrong with others.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/cpus.h"
#include "vqfsd/device.h"
#include "vqfsd/options.h"

#define WORDS 16

/* @line is cut at blanks; options point into the copies of the last two. */
static int parse(struct fsd_options *o, const char *line, char **error)
{
	static char texts[2][512];
	static int turn;
	char *text = texts[turn ^= 1];
	char *argv[WORDS] = {"vqfsd"}, *save;
	int argc = 1;

	snprintf(text, sizeof(texts[0]), "%s", line);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return fsd_options_parse(o, argc, argv, error);
}

static void right(struct fsd_options *o, const char *line)
{
	_cleanup_free_ char *error = NULL;

	if (parse(o, line, &error))
		fail_msg("%s: %s", line, error);
}

static void forms_are_the_same(void **state)
{
	struct fsd_options a, b;

	right(&a, "--shared-dir /srv --socket-path /s --cache=always --xattr --writeback "
		  "--sandbox none --rlimit-nofile 1024 --thread-pool-size=4");
	right(&b, "-o source=/srv,cache=always,xattr,writeback,no_flock --socket-path=/s "
		  "-osandbox=none,rlimit_nofile=1024 -f --thread-pool-size 4");
	assert_string_equal(a.shared_dir, "/srv");
	assert_string_equal(b.shared_dir, "/srv");
	assert_int_equal(a.cache, FSD_CACHE_ALWAYS);
	assert_int_equal(b.cache, a.cache);
	assert_true(a.xattr && b.xattr && a.writeback && b.writeback);
	assert_int_equal(a.sandbox, FSD_SANDBOX_NONE);
	assert_int_equal(b.sandbox, a.sandbox);
	assert_int_equal(b.rlimit_nofile, 1024);
	/* A pool is for something. */
	assert_int_equal(a.engine, VQS_FSD_THRESHOLD);
	right(&b, "--fd 3 -o source=/srv,xattr,no_xattr");
	assert_false(b.xattr);
	assert_int_equal(b.fd, 3);
	assert_int_equal(b.workers, 1);
	assert_int_equal(b.engine, VQS_FSD_INLINE);
	assert_int_equal(b.threshold, 3);
}

static void affinity_has_lists_and_ranges(void **state)
{
	struct fsd_options o;
	char text[64];

	right(&o, "--shared-dir / --fd 3 --request-queues 3 --request-queue-cpu-affinity 1=0-4 "
		  "--request-queue-cpu-affinity=2=5,6,8");
	assert_string_equal(vqs_cpus_print(&o.affinity[1], text, sizeof(text)), "0-4");
	assert_string_equal(vqs_cpus_print(&o.affinity[2], text, sizeof(text)), "5-6,8");
	assert_int_equal(CPU_COUNT(&o.affinity[3]), 0);
}

/* Each names the thing, the reason and the remedy: at least the word in question is there. */
static const char *const wrong[][2] = {
	{"", "--shared-dir"},
	{"--shared-dir /", "--socket-path"},
	{"--shared-dir / --socket-path /s --fd 3", "--fd"},
	{"--shared-dir / --fd 3 --request-queues 0", "from 1 to 255"},
	{"--shared-dir / --fd 3 --request-queues 256", "from 1 to 255"},
	{"--shared-dir / --fd 3 --request-queues 4x", "number"},
	{"--shared-dir / --fd 3 --workers 99999999999999999999", "range"},
	{"--shared-dir / --fd 3 --cache sometimes", "--cache"},
	{"--shared-dir / --fd 3 --sandbox namespace", "not in this version"},
	{"--shared-dir / --fd 3 --engine uring", "--engine"},
	{"--shared-dir / --fd 3 --engine pool", "--thread-pool-size"},
	{"--shared-dir / --fd 3 --xattr=yes", "takes no value"},
	{"--shared-dir / --fd", "needs a value"},
	{"--shared-dir / --fd 3 --cahce auto", "did you mean --cache"},
	{"--shared-dir / --fd 3 -x", "no option"},
	{"--shared-dir / --fd 3 -o", "-o needs"},
	{"--shared-dir / --fd 3 -o sauce=/", "no option"},
	{"--shared-dir / --fd 3 -o no_cache", "no option"},
	{"--shared-dir / --fd 3 -o tag", "needs a value"},
	{"--shared-dir / --fd 3 extra", "one word too many"},
	{"--shared-dir / --fd 3 --log-level loud", "--log-level"},
	{"--shared-dir / --fd 3 --tag 1234567890123456789012345678901234567", "--tag"},
	{"--shared-dir / --fd 3 --request-queue-cpu-affinity 0=1", "QUEUE=CPUS"},
	{"--shared-dir / --fd 3 --request-queue-cpu-affinity 1=3-1", "QUEUE=CPUS"},
	{"--shared-dir / --fd 3 --request-queue-cpu-affinity 2=1", "no request queue 2"},
};

static void mistakes_are_told(void **state)
{
	struct fsd_options o;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *error = NULL;

		if (parse(&o, wrong[i][0], &error) != -EINVAL)
			fail_msg("accepted: %s", wrong[i][0]);
		if (!error || !strstr(error, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], error ? error : "nothing said");
	}
}

static void cpus_are_parsed(void **state)
{
	static const char *const bad[] = {"", ",", "1,", "-1", "1-", "a", "1-2-3", "1024", "3-2"};
	char text[8];
	cpu_set_t set;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(vqs_cpus_parse(bad[i], &set) < 0);
	assert_int_equal(vqs_cpus_parse("0,2-3,1023", &set), 0);
	assert_int_equal(CPU_COUNT(&set), 4);
	/* Cut between two of them. */
	assert_string_equal(vqs_cpus_print(&set, text, sizeof(text)), "0,2-3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_are_the_same),
		cmocka_unit_test(affinity_has_lists_and_ranges),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(cpus_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
