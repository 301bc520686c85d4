// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/probes.h"

#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "observe/ksyms.h"

#define ONE(fn, fentry_prog, ...)                          \
	{                                                  \
		.symbol = fn, .progs = {                   \
			[OBS_RUNG_FENTRY] = {fentry_prog}, \
			[OBS_RUNG_KPROBE] = {__VA_ARGS__}  \
		}                                          \
	}

#define LOCK(fn, suffix)                                                                      \
	{                                                                                     \
		.symbol = fn, .progs = {                                                      \
			[OBS_RUNG_FENTRY] = {"fentry_" suffix, "fexit_" suffix},              \
			[OBS_RUNG_KPROBE] = {"kprobe_" suffix, "kret_" suffix},               \
			[OBS_RUNG_TRACEPOINT] = {"tp_contention_begin", "tp_contention_end"}, \
		}                                                                             \
	}

const struct probe_def obs_probe_defs[] = {
	{
		.name = "fuse_args_to_req",
		.purpose = "start of a request: its wait before the ring",
		.preemptible = true,
		.target = {ONE("fuse_args_to_req", "fentry_args_to_req", "kprobe_args_to_req")},
	},
	{
		.name = "flush_bg_queue",
		.purpose = "wait in the background queue",
		.needless_with = "virtio_fs_send_req",
		.needless_why = "not needed: what leaves the background queue here goes straight "
				"to the ring",
		.target = {ONE("flush_bg_queue", "fentry_flush_bg", "kprobe_flush_bg")},
	},
	{
		.name = "virtqueue_add_sgs",
		.purpose = "submit: counts, ring full, CPU -> queue",
		.required = true,
		.target = {ONE("virtqueue_add_sgs", "fexit_add_sgs", "kprobe_add_sgs",
			       "kret_add_sgs")},
	},
	{
		.name = "virtqueue_get_buf",
		.purpose = "complete: counts, time on the ring and in the device",
		.required = true,
		.target = {ONE("virtqueue_get_buf", "fexit_get_buf", "kprobe_get_buf",
			       "kret_get_buf")},
	},
	{
		.name = "fuse_request_end",
		.purpose = "end of a request: total, errors, bytes",
		.required = true,
		.preemptible = true,
		.target = {{
			.symbol = "fuse_request_end",
			.progs = {[OBS_RUNG_FENTRY] = {"fentry_end"},
				  [OBS_RUNG_KPROBE] = {"kprobe_end"},
				  [OBS_RUNG_TRACEPOINT] = {"tp_end"}},
		}},
	},
	{
		.name = "wake-up",
		.purpose = "wake-up of the waiter",
		.preemptible = true,
		.target = {{
				   .symbol = "request_wait_answer",
				   .progs = {[OBS_RUNG_FENTRY] = {"fexit_wait_answer"}},
			   },
			   {
				   .symbol = "fuse_put_request",
				   .progs = {[OBS_RUNG_KPROBE] = {"kprobe_put_request"}},
			   }},
	},
	{
		.name = "virtqueue_notify",
		.purpose = "kicks sent and suppressed",
		.preemptible = true,
		.target = {ONE("virtqueue_notify", "fentry_notify", "kprobe_notify")},
	},
	{
		.name = "virtio_fs_vq_done",
		.purpose = "interrupts, and how long done work takes to begin",
		.target = {ONE("virtio_fs_vq_done", "fentry_vq_done", "kprobe_vq_done")},
	},
	{
		.name = "send_forget_request",
		.purpose = "forgets on hiprio",
		.preemptible = true,
		.target = {{
			.symbol = "send_forget_request",
			.progs = {[OBS_RUNG_FENTRY] = {"fentry_forget", "fexit_forget"},
				  [OBS_RUNG_KPROBE] = {"kprobe_forget"}},
		}},
	},
	{
		.name = "spinlock slow path",
		.purpose = "contended waits for locks",
		.locks = true,
		.target = {LOCK("native_queued_spin_lock_slowpath", "lock_native"),
			   LOCK("__pv_queued_spin_lock_slowpath", "lock_pv"),
			   LOCK("queued_spin_lock_slowpath", "lock_queued")},
	},
	{
		.name = "virtio_fs_fiq_release",
		.purpose = "forgetting a connection's locks on unmount",
		.preemptible = true,
		.target = {ONE("virtio_fs_fiq_release", "fentry_fiq_release",
			       "kprobe_fiq_release")},
	},
	{
		.name = "virtio_fs_remove",
		.purpose = "forgetting a device's queues on removal",
		.preemptible = true,
		.target = {{
			.symbol = "virtio_fs_remove",
			.progs = {[OBS_RUNG_FENTRY] = {"fentry_remove", "fexit_remove"},
				  [OBS_RUNG_KPROBE] = {"kprobe_remove", "kret_remove"}},
		}},
	},
	{
		.name = "fuse_dev release",
		.purpose = "forgetting a queue's pqueue.lock on unmount",
		.preemptible = true,
		.target = {ONE("fuse_dev_free", "fentry_dev_free", "kprobe_dev_free"),
			   ONE("fuse_dev_put", "fentry_dev_put", "kprobe_dev_put")},
	},
};

const size_t obs_nr_probe_defs = ARRAY_SIZE(obs_probe_defs);

#define MISSES "would miss calls, as this kernel preempts"

static bool has_rung(const struct probe_def *def, const struct probe_plan *plan, enum obs_rung rung,
		     unsigned int allowed)
{
	if (!(allowed & (1u << rung)))
		return false;
	for (size_t i = 0; i < PROBE_TARGETS; i++)
		if (plan->live[i] && def->target[i].progs[rung][0])
			return true;
	return false;
}

static enum obs_rung next_rung(const struct probe_def *def, const struct probe_plan *plan,
			       unsigned int allowed)
{
	static const enum obs_rung orders[2][OBS_RUNGS - 1] = {
		{OBS_RUNG_FENTRY, OBS_RUNG_KPROBE, OBS_RUNG_TRACEPOINT},
		{OBS_RUNG_KPROBE, OBS_RUNG_FENTRY, OBS_RUNG_TRACEPOINT},
	};
	const enum obs_rung *order = orders[plan->kprobe_first];
	bool passed = plan->rung == OBS_RUNG_NONE;

	for (size_t i = 0; i < OBS_RUNGS - 1; i++) {
		if (passed && has_rung(def, plan, order[i], allowed))
			return order[i];
		passed |= order[i] == plan->rung;
	}
	return OBS_RUNG_NONE;
}

bool obs_probe_uses(const struct probe_def *def, const struct probe_plan *plan, size_t t)
{
	return plan->rung && plan->live[t] && def->target[t].progs[plan->rung][0];
}

/* A clone that gcc made of @symbol takes other arguments: it can only be reported. */
static void say_missing(const struct ksyms *syms, const char *symbol, struct probe_plan *plan)
{
	const char *clone = ksyms_clone(syms, symbol);

	if (clone)
		snprintf(plan->why, sizeof(plan->why),
			 "this kernel has it only as %s, whose arguments differ", clone);
	else if (!plan->why[0])
		snprintf(plan->why, sizeof(plan->why),
			 "no symbol %s in this kernel (inlined, or its module is not loaded)",
			 symbol);
}

void obs_probe_plan(const struct probe_def *def, const struct ksyms *syms, unsigned int allowed,
		    enum obs_preempt preempt, struct probe_plan *plan)
{
	bool any = false;

	memset(plan, 0, sizeof(*plan));
	plan->needless = def->needless_with && ksyms_has(syms, def->needless_with);
	if (plan->needless) {
		snprintf(plan->why, sizeof(plan->why), "%s", def->needless_why);
		return;
	}
	for (size_t i = 0; i < PROBE_TARGETS; i++) {
		const char *symbol = def->target[i].symbol;

		if (!symbol)
			continue;
		plan->live[i] = ksyms_has(syms, symbol);
		if (!plan->live[i])
			say_missing(syms, symbol, plan);
		any |= plan->live[i];
	}
	if (any)
		plan->why[0] = '\0';
	plan->kprobe_first = def->preemptible && preempt != OBS_PREEMPT_NEVER;
	plan->rung = next_rung(def, plan, allowed);
	if (plan->kprobe_first && plan->rung == OBS_RUNG_KPROBE)
		snprintf(plan->why, sizeof(plan->why), "fentry: " MISSES);
	else if (plan->kprobe_first && plan->rung == OBS_RUNG_FENTRY)
		snprintf(plan->why, sizeof(plan->why), MISSES);
}

void obs_probe_lower(const struct probe_def *def, unsigned int allowed, const char *why,
		     struct probe_plan *plan)
{
	snprintf(plan->why, sizeof(plan->why), "%s: %s%s", obs_rung_name(plan->rung), why,
		 plan->kprobe_first ? "; fentry: " MISSES : "");
	plan->rung = next_rung(def, plan, allowed);
}

static bool owns_prog(const struct probe_def *def, const char *prog)
{
	for (size_t t = 0; t < PROBE_TARGETS; t++)
		for (size_t r = 0; r < OBS_RUNGS; r++)
			for (size_t p = 0; p < PROBE_PROGS; p++)
				if (def->target[t].progs[r][p] &&
				    !strcmp(def->target[t].progs[r][p], prog))
					return true;
	return false;
}

size_t obs_probe_of_prog(const char *prog)
{
	size_t i;

	for (i = 0; i < obs_nr_probe_defs; i++)
		if (owns_prog(&obs_probe_defs[i], prog))
			break;
	return i;
}

const char *obs_rung_name(enum obs_rung rung)
{
	static const char *const names[OBS_RUNGS] = {"none", "fentry", "kprobe", "tracepoint"};

	return rung < OBS_RUNGS ? names[rung] : "?";
}
