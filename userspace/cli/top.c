// SPDX-License-Identifier: GPL-2.0-or-later
/* vqsteer top: a live full-screen view of the queues. */
#include "cli/cli.h"
#include "cli/top_loop.h"
#include "cli/top_term.h"
#include "common/cleanup.h"

static int guest_snapshot(void *arg, struct vqs_snapshot **out)
{
	return obs_guest_snapshot(arg, out);
}

int cmd_top(const struct cli_opts *o)
{
	_cleanup_(obs_guest_closep) struct obs_guest *g = NULL;
	_cleanup_free_ char *why = NULL;
	struct obs_guest_opts base;
	int code;

	/* Before anything is loaded into the kernel for a screen that cannot be shown. */
	if (top_term_check(&why) < 0) {
		cli_error("%s", why ? why : "out of memory; free some and try again");
		return why ? CLI_USAGE : CLI_MEMORY;
	}
	obs_guest_default_opts(&base);
	if (o->queue >= 0)
		base.detail_index = o->queue;
	code = cli_open_guest(o, &base, &g);
	if (code != CLI_OK)
		return code;
	return top_run(o, &(struct top_source){.snapshot = guest_snapshot, .arg = g});
}
