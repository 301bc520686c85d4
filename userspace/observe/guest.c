// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening the guest side: what this machine has, how much memory that takes, attaching. */
#include "observe/guest.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

#define MIN_QUEUES 64
#define MAX_QUEUES 4096

void obs_guest_default_opts(struct obs_guest_opts *o)
{
	*o = (struct obs_guest_opts){
		.max_memory = 64u << 20,
		.slots = 16384,
		.locks = true,
		.trace_op = -1,
		.trace_index = -1,
		.detail_index = -1,
	};
}

static void fill_status(struct obs_guest *g)
{
	for (size_t i = 0; i < obs_nr_probe_defs; i++) {
		const struct probe_def *def = &obs_probe_defs[i];
		const struct probe_plan *plan = &g->plan[i];
		struct obs_probe_status *s = &g->status[i];
		size_t len = 0;

		*s = (struct obs_probe_status){
			.name = def->name,
			.purpose = def->purpose,
			.required = def->required,
			.rung = plan->rung,
		};
		snprintf(s->why, sizeof(s->why), "%s", plan->why);
		for (size_t t = 0; t < PROBE_TARGETS; t++)
			if (obs_probe_uses(def, plan, t) && len < sizeof(s->symbol))
				len += snprintf(s->symbol + len, sizeof(s->symbol) - len, "%s%s",
						len ? "," : "", def->target[t].symbol);
	}
}

static int plan_all(struct obs_guest *g)
{
	unsigned int allowed = guest_allowed_rungs(&g->opts);
	enum obs_preempt preempt = obs_preempt_here(g->syms);

	g->plan = calloc(obs_nr_probe_defs, sizeof(*g->plan));
	g->status = calloc(obs_nr_probe_defs, sizeof(*g->status));
	if (!g->plan || !g->status)
		return -ENOMEM;
	for (size_t i = 0; i < obs_nr_probe_defs; i++) {
		if (obs_probe_defs[i].locks && !g->opts.locks)
			snprintf(g->plan[i].why, sizeof(g->plan[i].why), "not asked for");
		else
			obs_probe_plan(&obs_probe_defs[i], g->syms, allowed, preempt, &g->plan[i]);
	}
	return 0;
}

static int size_up(struct obs_guest *g, char **err)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t queues = g->opts.max_queues;
	uint64_t bytes;

	if (cpus < 0)
		return guest_error(err, cpus, "cannot count CPUs: %s", strerror(-cpus));
	if (!queues)
		queues = MIN_QUEUES;
	queues = queues > MAX_QUEUES ? MAX_QUEUES : queues;
	guest_dims(&g->opts, queues, cpus, &g->dims);
	bytes = guest_dims_bytes(&g->dims);
	if (bytes > g->opts.max_memory)
		return guest_error(
			err, -E2BIG,
			"BPF maps would take %.1f MiB (%u queues, %u CPUs, %u slots), "
			"more than --max-memory allows (%.1f MiB); raise it or lower --slots",
			bytes / 1048576.0, queues, (unsigned int)cpus, g->opts.slots,
			g->opts.max_memory / 1048576.0);
	return 0;
}

int obs_guest_open(struct obs_guest **out, const struct obs_guest_opts *o, char **err)
{
	_cleanup_(obs_guest_closep) struct obs_guest *g = calloc(1, sizeof(*g));
	int ret;

	if (!g)
		return -ENOMEM;
	g->opts = *o;
	g->stats_fd = -1;
	if (!o->btf_path && access("/sys/kernel/btf/vmlinux", R_OK))
		return guest_error(
			err, -ENOENT,
			"this kernel has no BTF (/sys/kernel/btf/vmlinux); build it with "
			"CONFIG_DEBUG_INFO_BTF=y or give one with --btf FILE");
	ret = ksyms_load(&g->syms, NULL);
	if (ret)
		return guest_error(err, ret, "cannot read /proc/kallsyms: %s", strerror(-ret));
	ret = size_up(g, err);
	if (!ret)
		ret = plan_all(g);
	if (ret)
		return ret;
	if (o->timed)
		g->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	ret = guest_attach_all(g, err);
	if (ret)
		return ret;
	fill_status(g);
	*out = TAKE_PTR(g);
	return 0;
}

void obs_guest_close(struct obs_guest *g)
{
	if (!g)
		return;
	guest_tear_down(g);
	if (g->stats_fd >= 0)
		close(g->stats_fd);
	obs_devices_free(&g->sysfs);
	ksyms_free(g->syms);
	free(g->plan);
	free(g->status);
	free(g);
}

const struct obs_probe_status *obs_guest_probes(const struct obs_guest *g, size_t *nr)
{
	*nr = obs_nr_probe_defs;
	return g->status;
}
