// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vqsteer top, fed by fixtures instead of a kernel: what tests/e2e/top_tmux.sh looks at.
 *
 *	top_driver [-i SEC] [-n COUNT] [-t TAG] [-m] SCENE
 *
 * SCENE: guest (tests/unit/fixture.h), many (64 queues), warn (everything that warns), random,
 * idle (no queue yet), fail (the third snapshot fails). -m: --no-color.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/top_loop.h"
#include "cli/top_term.h"
#include "common/cleanup.h"
#include "common/hist.h"
#include "fixture.h"

#define MANY_QUEUES 64

volatile sig_atomic_t cli_stop;

void cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("vqsteer: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

struct scene {
	const char *name;
	unsigned int step;
	struct vqs_snapshot *many; /* kept and grown: building it costs more than showing it */
};

static void on_signal(int sig)
{
	cli_stop = 1;
}

/* Everything that makes a number less than the truth; and a tag that must not reach the screen. */
static void spoil(struct vqs_snapshot *s, unsigned int step)
{
	struct vqs_snap_device *d = &s->devices[0];

	snprintf(d->tag, sizeof(d->tag), "\033[31mevil\ttag");
	d->nr_map = 0;
	for (size_t i = 2; i < d->nr_queues; i++)
		d->queues[i].completed = d->queues[i].submitted = 0;
	d->queues[1].untracked_slot_taken = 12 * step;
	d->queues[1].start_missed = 3 * step;
	s->untracked_table_full = 5 * step;
	s->recursion = 2 * step;
	s->ops_full = step;
	s->index_full = step;
	s->lock_nested = step;
	s->lock_complete = false;
	snprintf(s->lock_rung, sizeof(s->lock_rung), "tracepoint");
}

static void grow_queue(struct vqs_snap_queue *q, unsigned int seed)
{
	q->submitted += 1000 + seed;
	q->completed += 1000 + seed;
	for (unsigned int i = 0; i < 100; i++)
		for (int h = 0; h < VQS_HOPS; h++)
			vqs_hist_add(&q->hop[h], 1000 * (uint64_t)(h + 1) * (i + seed + 1));
	for (size_t i = 0; i < q->nr_ops; i++)
		vqs_hist_add(q->ops[i].total, 50000 + i * seed);
}

static struct vqs_snapshot *new_many(void)
{
	struct vqs_snapshot *s = obs_snapshot_new();
	struct vqs_snap_device *d;

	s->nr_devices = 1;
	s->devices = d = calloc(1, sizeof(*d));
	snprintf(d->tag, sizeof(d->tag), "a-tag-of-full-length-that-goes-on-36");
	d->request_queues = MANY_QUEUES;
	d->nr_queues = MANY_QUEUES;
	d->queues = calloc(MANY_QUEUES, sizeof(*d->queues));
	for (uint32_t i = 0; i < MANY_QUEUES; i++) {
		struct vqs_snap_queue *q = &d->queues[i];

		q->slot = i;
		q->index = i + 1;
		q->in_flight_kernel = -1;
		snprintf(q->name, sizeof(q->name), "requests.%u", i);
		q->nr_ops = 10;
		q->ops = calloc(q->nr_ops, sizeof(*q->ops));
		for (uint32_t o = 0; o < q->nr_ops; o++) {
			q->ops[o].opcode = 14 + o;
			q->ops[o].total = calloc(1, sizeof(struct vqs_hist));
		}
	}
	snprintf(s->lock_rung, sizeof(s->lock_rung), "fentry");
	s->lock_complete = true;
	return s;
}

/* What reading the maps costs obs_guest_snapshot(): a copy of everything. */
static struct vqs_snapshot *many(struct scene *scene)
{
	static const struct vqs_snapshot nothing;

	if (!scene->many)
		scene->many = new_many();
	for (uint32_t i = 0; i < MANY_QUEUES; i++)
		grow_queue(&scene->many->devices[0].queues[i], i * scene->step);
	scene->many->mono_ns += 1000000000u;
	return obs_snapshot_diff(&nothing, scene->many);
}

static int next(void *arg, struct vqs_snapshot **out)
{
	struct scene *scene = arg;
	unsigned int step = ++scene->step;

	if (strcmp(scene->name, "fail") == 0 && step == 3)
		return -EIO;
	if (strcmp(scene->name, "many") == 0)
		*out = many(scene);
	else if (strcmp(scene->name, "random") == 0)
		*out = fixture_random(step);
	else if (strcmp(scene->name, "idle") == 0)
		*out = obs_snapshot_new();
	else
		*out = fixture_guest(step);
	if (!*out)
		return -ENOMEM;
	if (strcmp(scene->name, "idle") == 0) {
		(*out)->lock_complete = true;
		snprintf((*out)->lock_rung, sizeof((*out)->lock_rung), "fentry");
	}
	if (strcmp(scene->name, "warn") == 0)
		spoil(*out, step);
	return 0;
}

int main(int argc, char **argv)
{
	struct cli_opts o = {.command = "top", .queue = -1, .op = -1, .interval_s = 1};
	struct sigaction stop = {.sa_handler = on_signal};
	struct scene scene = {.name = "guest"};
	_cleanup_free_ char *why = NULL;
	int c, code;

	while ((c = getopt(argc, argv, "i:n:t:m")) != -1) {
		if (c == 'i')
			o.interval_s = atof(optarg);
		else if (c == 'n')
			o.count = (uint64_t)atoll(optarg);
		else if (c == 't')
			o.tag = optarg;
		else if (c == 'm')
			o.no_color = true;
		else
			return CLI_USAGE;
	}
	if (optind < argc)
		scene.name = argv[optind];
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	if (top_term_check(&why) < 0) {
		cli_error("%s", why ? why : "out of memory");
		return CLI_USAGE;
	}
	code = top_run(&o, &(struct top_source){.snapshot = next, .arg = &scene});
	obs_snapshot_free(scene.many);
	return code;
}
