// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/warnings.h"

#include <stdio.h>
#include <string.h>

#include "cli/render.h"
#include "common/cleanup.h"

size_t warn_losses(const struct vqs_snapshot *s, struct warn_loss out[WARN_LOSSES])
{
	const struct warn_loss all[] = {
		{s->untracked_table_full, "requests of queues beyond the table"},
		{s->recursion, "probes skipped by recursion"},
		{s->ops_full, "totals without an opcode of their own"},
		{s->index_full, "lock or queue addresses without room"},
		{s->lock_nested, "lock waits given up, nested in another"},
		{s->stack_failed, "stacks of lock waits"},
		{s->wake_missed, "ends or wake-ups of requests"},
		{s->trace_lost, "trace records"},
	};
	size_t nr = 0;

	_Static_assert(ARRAY_SIZE(all) == WARN_LOSSES, "there is room for every cause");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].n)
			out[nr++] = all[i];
	return nr;
}

void warn_locks(const struct vqs_snapshot *s, char *out, size_t size)
{
	char rung[sizeof(s->lock_rung)];

	rend_safe(rung, sizeof(rung), s->lock_rung);
	if (!rung[0] || !strcmp(rung, "none"))
		snprintf(out, size, "lock waits are not seen on this kernel (why: vqsteer doctor)");
	else if (!s->lock_complete)
		snprintf(out, size,
			 "lock waits are incomplete, %s misses some (why: vqsteer doctor)", rung);
	else
		snprintf(out, size, "%s", "");
}
