// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading and attaching. Every probe starts on the best rung the plan allows; when the kernel
 * refuses it at load or at attach, everything is torn down, that probe goes one rung down, and
 * the whole is loaded again: maps start empty and nothing is ever half attached.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

int guest_error(char **err, int code, const char *fmt, ...)
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

		for (size_t t = 0; t < PROBE_TARGETS; t++) {
			for (size_t p = 0; p < PROBE_PROGS && obs_probe_uses(def, plan, t); p++) {
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

static const struct probe_plan *plan_of(const struct obs_guest *g, const char *prog)
{
	return &g->plan[obs_probe_of_prog(prog)];
}

/* The tracepoint at a request's end comes too late: its waiter may have run by then. */
static bool wake_is_seen(const struct obs_guest *g)
{
	return plan_of(g, "fexit_wait_answer")->rung != OBS_RUNG_NONE &&
	       plan_of(g, "fentry_end")->rung != OBS_RUNG_TRACEPOINT;
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
		.slot_set_shift = 32 - d->slot_set_bits,
		.index_shift = 32 - d->index_bits,
		.max_stacks = d->max_stacks,
		.locks = o->locks,
		.stacks = o->stacks,
		.trace = o->trace,
		.trace_errors = o->trace_errors,
		.wake = wake_is_seen(g),
		.wake_by_put = plan_of(g, "fexit_wait_answer")->rung == OBS_RUNG_KPROBE,
		.straight = plan_of(g, "fentry_flush_bg")->needless,
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
		for (size_t p = PROBE_PROGS; p-- > 0 && obs_probe_uses(def, plan, t);) {
			const char *name = def->target[t].progs[plan->rung][p];
			int err =
				name ? attach_prog(g, name, plan->rung, def->target[t].symbol) : 0;

			if (err)
				return err;
		}
		/* A tracepoint serves all targets at once. */
		if (plan->live[t] && plan->rung == OBS_RUNG_TRACEPOINT)
			break;
	}
	return 0;
}

void guest_tear_down(struct obs_guest *g)
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
	g->skel->bss->globals.attached = 1;
	return 0;
}

unsigned int guest_allowed_rungs(const struct obs_guest_opts *o)
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
		return guest_error(err, -ENOTSUP, "cannot attach to %s: %s", def->name,
				   g->plan[i].why[0] ? g->plan[i].why
						     : "no rung that it has is allowed; allow "
						       "fentry or kprobe with --rungs");
	}
	return 0;
}

/* No single probe is to blame: the kernel refuses BPF as such. */
static int refused(int code, const char *why, char **err)
{
	if (code == -EPERM)
		return guest_error(
			err, code,
			"not permitted to load BPF programs; run as root or with CAP_BPF, "
			"CAP_PERFMON and CAP_SYS_ADMIN");
	return guest_error(err, code, "cannot load BPF programs: %s (%s)",
			   why[0] ? why : "no reason given", strerror(-code));
}

/* Takes probe @failed one rung down; when the kernel forbids its rung, all that are on it. */
static void lower(struct obs_guest *g, size_t failed, int code, const char *why)
{
	unsigned int allowed = guest_allowed_rungs(&g->opts);
	enum obs_rung rung = g->plan[failed].rung;

	for (size_t i = 0; i < obs_nr_probe_defs; i++)
		if (i == failed || (code == -EPERM && g->plan[i].rung == rung))
			obs_probe_lower(&obs_probe_defs[i], allowed, why, &g->plan[i]);
}

static int attach_lowering(struct obs_guest *g, char **err)
{
	char why[160] = "";
	size_t failed;
	int ret;

	for (;;) {
		ret = check_required(g, err);
		if (ret)
			return ret;
		ret = try_plan(g, &failed, why, sizeof(why));
		if (!ret)
			return 0;
		guest_tear_down(g);
		if (failed == obs_nr_probe_defs)
			return refused(ret, why, err);
		lower(g, failed, ret, why);
	}
}

int guest_attach_all(struct obs_guest *g, char **err)
{
	libbpf_print_fn_t old_print = libbpf_set_print(keep_warning);
	int ret = attach_lowering(g, err);

	libbpf_set_print(old_print);
	return ret;
}
