// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading and attaching. Every probe starts on the best rung the plan allows; when the kernel
 * refuses it at load or at attach, everything is torn down, that probe goes one rung down, and
 * the whole is loaded again: maps start empty and nothing is ever half attached.
 */
#include "observe/guest.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
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

static int set_error(char **err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	free(*err);
	va_start(ap, fmt);
	if (vasprintf(err, fmt, ap) < 0)
		*err = NULL;
	va_end(ap);
	return code;
}

/*
 * libbpf names the program it failed on, and why, only in its log. The first two warnings of a
 * load are kept here; libbpf's printer has no user pointer, hence the thread-local.
 */
static _Thread_local char libbpf_said[512];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	size_t len = strlen(libbpf_said);

	if (level == LIBBPF_WARN && len < sizeof(libbpf_said) - 1)
		vsnprintf(libbpf_said + len, sizeof(libbpf_said) - len, fmt, ap);
	return 0;
}

/* Which probe libbpf complained about, obs_nr_probe_defs if it does not say. */
static size_t blamed_probe(char *why, size_t size)
{
	const char *name = strstr(libbpf_said, "prog '"), *end, *reason;
	char prog[64] = "";

	snprintf(why, size, "%.*s", (int)strcspn(libbpf_said, "\n"), libbpf_said);
	if (!name)
		return obs_nr_probe_defs;
	name += strlen("prog '");
	end = strchr(name, '\'');
	if (!end || (size_t)(end - name) >= sizeof(prog))
		return obs_nr_probe_defs;
	memcpy(prog, name, end - name);
	reason = end[1] == ':' ? end + 3 : end + 1;
	snprintf(why, size, "%.*s", (int)strcspn(reason, "\n"), reason);
	return obs_probe_of_prog(prog);
}

/* Progs of the probes' rungs are loaded, all others stay behind. */
static int choose_programs(struct obs_guest *g)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, g->skel->obj) {
		bool helper = !strcmp(bpf_program__name(prog), "snapshot_levels");

		bpf_program__set_autoload(prog, helper);
	}
	for (size_t i = 0; i < obs_nr_probe_defs; i++) {
		const struct probe_def *def = &obs_probe_defs[i];
		const struct probe_plan *plan = &g->plan[i];

		for (size_t t = 0; t < PROBE_TARGETS && plan->rung; t++) {
			for (size_t p = 0; p < PROBE_PROGS && plan->live[t]; p++) {
				const char *name = def->target[t].progs[plan->rung][p];

				prog = name ? bpf_object__find_program_by_name(g->skel->obj, name)
					    : NULL;
				if (prog)
					bpf_program__set_autoload(prog, true);
			}
		}
	}
	return 0;
}

static void configure(struct obs_guest *g)
{
	const struct obs_guest_opts *o = &g->opts;
	const struct guest_dims *d = &g->dims;

	*(struct vqs_config *)&g->skel->rodata->cfg = (struct vqs_config){
		.cpus = d->cpus,
		.max_queues = d->max_queues,
		.max_devices = d->max_devices,
		.max_ops = d->max_ops,
		.slot_set_bits = d->slot_set_bits,
		.index_bits = d->index_bits,
		.max_stacks = d->max_stacks,
		.locks = o->locks,
		.stacks = o->stacks,
		.trace = o->trace,
		.trace_errors = o->trace_errors,
		.trace_op = o->trace_op,
		.trace_index = o->trace_index,
		.trace_pid = o->trace_pid,
		.detail_index = o->detail_index,
		.trace_slower_ns = o->trace_slower_ns,
	};
}

static int keep_link(struct obs_guest *g, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (g->nr_links == GUEST_MAX_LINKS) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	g->link[g->nr_links++] = link;
	return 0;
}

static int attach_prog(struct obs_guest *g, const char *name, enum obs_rung rung,
		       const char *symbol)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(g->skel->obj, name);
	LIBBPF_OPTS(bpf_kprobe_opts, kp, .retprobe = !strncmp(name, "kret_", 5));

	if (!prog)
		return -ENOENT;
	if (rung == OBS_RUNG_KPROBE)
		return keep_link(g, bpf_program__attach_kprobe_opts(prog, symbol, &kp));
	return keep_link(g, bpf_program__attach(prog));
}

/*
 * Attaches probe @i on its planned rung. Within a target the last program goes first: an exit
 * program alone finds no entry and does nothing, an entry program alone would leave one behind.
 */
static int attach_probe(struct obs_guest *g, size_t i)
{
	const struct probe_def *def = &obs_probe_defs[i];
	const struct probe_plan *plan = &g->plan[i];

	for (size_t t = 0; t < PROBE_TARGETS; t++) {
		for (size_t p = PROBE_PROGS; p-- > 0 && plan->rung && plan->live[t];) {
			const char *name = def->target[t].progs[plan->rung][p];
			int err = name ? attach_prog(g, name, plan->rung, plan->symbol[t]) : 0;

			if (err)
				return err;
		}
	}
	return 0;
}

static void tear_down(struct obs_guest *g)
{
	for (size_t i = 0; i < g->nr_links; i++)
		bpf_link__destroy(g->link[i]);
	g->nr_links = 0;
	guest_close_rings(g);
	guest_unmap_maps(g);
	memset(g->mapping, 0, sizeof(g->mapping));
	guest_bpf__destroy(g->skel);
	g->skel = NULL;
}

static int load(struct obs_guest *g)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo, .btf_custom_path = g->opts.btf_path);
	int err;

	g->skel = guest_bpf__open_opts(&oo);
	if (!g->skel)
		return -errno;
	configure(g);
	choose_programs(g);
	err = guest_size_maps(g->skel, &g->dims);
	if (!err)
		err = guest_bpf__load(g->skel);
	if (!err)
		err = guest_map_maps(g);
	if (!err && g->dims.ring_bytes)
		err = guest_open_rings(g);
	return err;
}

/* One try of the whole plan; *failed is the probe to lower, or obs_nr_probe_defs. */
static int try_plan(struct obs_guest *g, size_t *failed, char *why, size_t size)
{
	int err;

	libbpf_said[0] = '\0';
	*failed = obs_nr_probe_defs;
	err = load(g);
	if (err) {
		*failed = blamed_probe(why, size);
		return err;
	}
	/* Ends before starts: what is followed from its start on must find its end attached. */
	for (size_t i = obs_nr_probe_defs; i-- > 0;) {
		libbpf_said[0] = '\0';
		err = attach_probe(g, i);
		if (!err)
			continue;
		snprintf(why, size, "cannot attach: %s", strerror(-err));
		*failed = i;
		return err;
	}
	return 0;
}

static unsigned int allowed_rungs(const struct obs_guest_opts *o)
{
	unsigned int all =
		1u << OBS_RUNG_FENTRY | 1u << OBS_RUNG_KPROBE | 1u << OBS_RUNG_TRACEPOINT;

	return o->rungs ? o->rungs & all : all;
}

static int check_required(const struct obs_guest *g, char **err)
{
	for (size_t i = 0; i < obs_nr_probe_defs; i++) {
		const struct probe_def *def = &obs_probe_defs[i];

		if (!def->required || g->plan[i].rung)
			continue;
		return set_error(err, -ENOTSUP, "cannot attach to %s: %s", def->name,
				 g->plan[i].why[0] ? g->plan[i].why : "no rung is allowed");
	}
	return 0;
}

static int attach_all(struct obs_guest *g, char **err)
{
	unsigned int allowed = allowed_rungs(&g->opts);
	char why[160];
	size_t failed;
	int ret;

	for (;;) {
		ret = check_required(g, err);
		if (ret)
			return ret;
		ret = try_plan(g, &failed, why, sizeof(why));
		if (!ret)
			return 0;
		tear_down(g);
		if (ret == -EPERM && failed == obs_nr_probe_defs)
			return set_error(err, ret,
					 "not permitted to load BPF programs; run as root or with "
					 "CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
		if (failed == obs_nr_probe_defs)
			return set_error(err, ret, "cannot load BPF programs: %s (%s)",
					 why[0] ? why : "no reason given", strerror(-ret));
		obs_probe_lower(&obs_probe_defs[failed], allowed, why, &g->plan[failed]);
	}
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
		for (size_t t = 0; t < PROBE_TARGETS && plan->rung; t++)
			if (plan->live[t] && len < sizeof(s->symbol))
				len += snprintf(s->symbol + len, sizeof(s->symbol) - len, "%s%s",
						len ? "," : "", plan->symbol[t]);
	}
}

static int plan_all(struct obs_guest *g)
{
	unsigned int allowed = allowed_rungs(&g->opts);

	g->plan = calloc(obs_nr_probe_defs, sizeof(*g->plan));
	g->status = calloc(obs_nr_probe_defs, sizeof(*g->status));
	if (!g->plan || !g->status)
		return -ENOMEM;
	for (size_t i = 0; i < obs_nr_probe_defs; i++) {
		if (obs_probe_defs[i].locks && !g->opts.locks)
			snprintf(g->plan[i].why, sizeof(g->plan[i].why), "not asked for");
		else
			obs_probe_plan(&obs_probe_defs[i], g->syms, allowed, &g->plan[i]);
	}
	return 0;
}

static int size_up(struct obs_guest *g, char **err)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t queues = g->opts.max_queues;
	uint64_t bytes;

	if (cpus < 0)
		return set_error(err, cpus, "cannot count CPUs: %s", strerror(-cpus));
	if (!queues)
		queues = MIN_QUEUES;
	queues = queues > MAX_QUEUES ? MAX_QUEUES : queues;
	guest_dims(&g->opts, queues, cpus, &g->dims);
	bytes = guest_dims_bytes(&g->dims);
	if (bytes > g->opts.max_memory)
		return set_error(
			err, -E2BIG,
			"BPF maps would take %.1f MiB (%u queues, %u CPUs, %u slots), "
			"more than --max-memory allows (%.1f MiB); raise it or lower --slots",
			bytes / 1048576.0, queues, (unsigned int)cpus, g->opts.slots,
			g->opts.max_memory / 1048576.0);
	return 0;
}

static void guest_closep(struct obs_guest **g)
{
	obs_guest_close(*g);
}

int obs_guest_open(struct obs_guest **out, const struct obs_guest_opts *o, char **err)
{
	_cleanup_(guest_closep) struct obs_guest *g = calloc(1, sizeof(*g));
	libbpf_print_fn_t old_print;
	int ret;

	if (!g)
		return -ENOMEM;
	g->opts = *o;
	g->stats_fd = -1;
	if (!o->btf_path && access("/sys/kernel/btf/vmlinux", R_OK))
		return set_error(err, -ENOENT,
				 "this kernel has no BTF (/sys/kernel/btf/vmlinux); build it with "
				 "CONFIG_DEBUG_INFO_BTF=y or give one with --btf FILE");
	ret = ksyms_load(&g->syms, NULL);
	if (ret)
		return set_error(err, ret, "cannot read /proc/kallsyms: %s", strerror(-ret));
	ret = size_up(g, err);
	if (!ret)
		ret = plan_all(g);
	if (ret)
		return ret;
	if (o->timed)
		g->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	old_print = libbpf_set_print(keep_warning);
	ret = attach_all(g, err);
	libbpf_set_print(old_print);
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
	tear_down(g);
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
