// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of keys and workloads, and what is printed of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "vqload/fuse_ops.h"
#include "vqload/job.h"

static void workloads_are_complete(void **state)
{
	for (int i = 0; i < LOAD_RWS; i++) {
		const struct load_rw_spec *rw = &load_rws[i];

		assert_non_null(rw->name);
		assert_non_null(rw->help);
		assert_true((rw->reads || rw->writes) == !rw->steps[0]);
		for (int s = 0; s < LOAD_STEPS_MAX && rw->steps[s]; s++)
			assert_non_null(load_op(rw->steps[s]));
	}
}

/* Each limit of each number is taken, the next number is not. */
static void limits_are_limits(void **state)
{
	for (size_t i = 0; i < load_nr_keys; i++) {
		const struct load_key *k = &load_keys[i];
		_cleanup_(load_jobs_freep) struct load_jobs *j = load_jobs_new();
		_cleanup_free_ char *err = NULL;
		uint64_t scale = k->kind == LOAD_KEY_TIME ? 1000 : 1;
		char word[80];

		if (!k->job || (k->kind != LOAD_KEY_NUMBER && k->kind != LOAD_KEY_SIZE &&
				k->kind != LOAD_KEY_TIME))
			continue;
		snprintf(word, sizeof(word), "--%s=%llu%s", k->name,
			 (unsigned long long)(k->max / scale), scale > 1 ? "us" : "");
		assert_int_equal(load_jobs_word(j, word, &err), 0);
		if (k->max == UINT64_MAX)
			continue;
		snprintf(word, sizeof(word), "--%s=%llu%s", k->name,
			 (unsigned long long)(k->max / scale + 1), scale > 1 ? "us" : "");
		assert_int_equal(load_jobs_word(j, word, &err), -EINVAL);
		assert_non_null(strstr(err, "out of range"));
	}
}

static char *printed(void (*print)(FILE *f))
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	print(f);
	fclose(f);
	return text;
}

static void every_key_is_explained(void **state)
{
	_cleanup_free_ char *help = printed(load_keys_help), *man = printed(load_keys_man);
	char word[64];

	for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	for (size_t i = 0; i < load_nr_keys; i++) {
		const struct load_key *k = &load_keys[i];

		snprintf(word, sizeof(word), "--%s", k->name);
		assert_true(!k->job || strstr(help, word));
		snprintf(word, sizeof(word), ".It Ic %s", k->name);
		assert_non_null(strstr(man, word));
	}
	for (int i = 0; i < LOAD_RWS; i++) {
		snprintf(word, sizeof(word), ".It Cm %s\n", load_rws[i].name);
		assert_non_null(strstr(man, word));
	}
}

/* The example of the page is one that works. */
static void the_example_works(void **state)
{
	_cleanup_free_ char *man = printed(load_keys_man), *err = NULL;
	char *text = strstr(man, "[global]\nruntime"), *end = strstr(text, ".Ed");
	_cleanup_(load_jobs_freep) struct load_jobs *j = NULL;

	*end = '\0';
	j = load_jobs_new();
	assert_int_equal(load_jobs_text(j, "x", text, strlen(text), &err), 0);
	assert_int_equal(load_jobs_finish(j, &err), 0);
	assert_int_equal(j->nr_jobs, 1);
	assert_int_equal(j->nr_phases, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workloads_are_complete),
		cmocka_unit_test(limits_are_limits),
		cmocka_unit_test(every_key_is_explained),
		cmocka_unit_test(the_example_works),
	};

	return cmocka_run_group_tests_name("job_keys", tests, NULL, NULL);
}
