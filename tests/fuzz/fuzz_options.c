// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any words may be given to opt_parse(). What it takes is within its limits; what
 * it refuses it refuses in one printable line.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "common/cleanup.h"

#define MAX_WORDS 64

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_taken(const struct cli_args *a)
{
	const struct cli_opts *o = &a->opts;

	check(o->interval_s >= 0.1 && o->interval_s <= 3600);
	check(o->count <= 1000000000);
	check(o->queue >= -1 && o->queue <= 255);
	check(o->op >= -1 && o->op < VQS_OPS);
	check(o->slots >= 8 && o->slots <= 1048576 && !(o->slots & (o->slots - 1)));
	check(o->max_memory >= 1 << 20 && o->max_memory <= 64ULL << 30);
	check(!(o->rungs & ~14U));
	check(!o->tag || (o->tag[0] && strlen(o->tag) <= 36));
	check(a->help || a->version || o->command);
}

static void check_refused(const char *err)
{
	check(err && strlen(err) < 400);
	for (; *err; err++)
		check(*err >= ' ' && *err <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1), *err = NULL;
	char *argv[MAX_WORDS + 1] = {(char *)"vqsteer"}, *p = text;
	struct cli_args a;
	int argc = 1, r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	while (argc < MAX_WORDS && p) {
		argv[argc++] = p;
		p = strchr(p, '\n');
		if (p)
			*p++ = '\0';
	}
	r = opt_parse(&a, argc, argv, &err);
	check(r == 0 || r == -EINVAL);
	if (r)
		check_refused(err);
	else
		check_taken(&a);
	return 0;
}
