// SPDX-License-Identifier: GPL-2.0-or-later
/* What a snapshot says of the programs themselves, and the stacks of waiters that they took. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

static int fill_prog(struct bpf_program *prog, struct vqs_snap_prog *out)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	const char *section = bpf_program__section_name(prog), *slash = strchr(section, '/');

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		return -errno;
	snprintf(out->rung, sizeof(out->rung), "%.*s",
		 (int)(slash ? slash - section : (long)strlen(section)), section);
	snprintf(out->name, sizeof(out->name), "%s", slash ? slash + 1 : bpf_program__name(prog));
	out->runs = info.run_cnt;
	out->run_ns = info.run_time_ns;
	out->recursion_misses = info.recursion_misses;
	return 0;
}

int guest_fill_self(const struct obs_guest *g, struct vqs_snapshot *s)
{
	struct bpf_program *prog;
	size_t n = 0;

	bpf_object__for_each_program (prog, g->skel->obj)
		n += bpf_program__fd(prog) >= 0;
	s->self.progs = calloc(n ? n : 1, sizeof(*s->self.progs));
	if (!s->self.progs)
		return -ENOMEM;
	s->self.bpf_memory_bytes = guest_dims_bytes(&g->dims);
	s->self.timed = g->stats_fd >= 0;
	bpf_object__for_each_program (prog, g->skel->obj) {
		if (bpf_program__fd(prog) < 0 || s->self.nr_progs == n)
			continue;
		if (!fill_prog(prog, &s->self.progs[s->self.nr_progs]))
			s->recursion += s->self.progs[s->self.nr_progs++].recursion_misses;
	}
	return 0;
}

/* The stack starts in the BPF program and its trampoline; a reader cares from the lock's taker on.
 */
static void drop_own_frames(struct vqs_snap_stack *s)
{
	for (size_t i = 0; i < s->depth; i++) {
		if (!strstr(s->frame[i], "queued_spin_lock_slowpath"))
			continue;
		s->depth -= i + 1;
		memmove(s->frame, s->frame[i + 1], s->depth * sizeof(*s->frame));
		return;
	}
}

static int fill_stack(const struct obs_guest *g, uint32_t id, const struct vqs_stack_stat *st,
		      struct vqs_snap_stack *out)
{
	uint64_t ip[VQS_STACK_DEPTH] = {};
	uint32_t queue_locks = g->dims.max_queues * VQS_QUEUE_LOCKS;
	const struct vqs_queue *queues = guest_map(g, MAP_QUEUES);

	if (bpf_map_lookup_elem(bpf_map__fd(g->skel->maps.stacks), &id, ip))
		return -errno;
	*out = (struct vqs_snap_stack){.waits = st->waits, .wait_ns = st->wait_ns};
	if (st->lock < queue_locks) {
		out->kind = st->lock % VQS_QUEUE_LOCKS;
		out->queue = st->lock / VQS_QUEUE_LOCKS;
		out->device = queues[out->queue].device;
	} else {
		out->kind = VQS_QUEUE_LOCKS + (st->lock - queue_locks) % VQS_DEVICE_LOCKS;
		out->device = (st->lock - queue_locks) / VQS_DEVICE_LOCKS;
		out->queue = UINT32_MAX;
	}
	while (out->depth < VQS_STACK_DEPTH && ip[out->depth])
		out->depth++;
	out->frame = calloc(out->depth ? out->depth : 1, sizeof(*out->frame));
	if (!out->frame)
		return -ENOMEM;
	for (size_t i = 0; i < out->depth; i++)
		ksyms_format(g->syms, ip[i], out->frame[i], sizeof(out->frame[i]));
	drop_own_frames(out);
	return 0;
}

bool obs_guest_names_stacks(const struct obs_guest *g)
{
	return ksyms_has_addresses(g->syms);
}

int guest_fill_stacks(const struct obs_guest *g, struct vqs_snapshot *s)
{
	const struct vqs_stack_stat *stats = guest_map(g, MAP_STACK_STATS);

	if (!g->opts.stacks)
		return 0;
	s->stacks = calloc(g->dims.max_stacks, sizeof(*s->stacks));
	if (!s->stacks)
		return -ENOMEM;
	for (uint32_t id = 0; id < g->dims.max_stacks; id++)
		if (stats[id].waits && !fill_stack(g, id, &stats[id], &s->stacks[s->nr_stacks]))
			s->nr_stacks++;
	obs_snapshot_sort_stacks(s);
	return 0;
}
