// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor: what can be seen on this machine, and what is in the way. */
#include "cli/doctor.h"

#include <errno.h>
#include <string.h>

#include "cli/open.h"
#include "cli/render.h"
#include "common/cleanup.h"

static void doctor_release(struct doctor *d)
{
	obs_guest_close(d->guest);
	obs_system_free(&d->sys);
	free(d->error);
}

static int problem_exit(enum obs_problem p)
{
	switch (p) {
	case OBS_NO_MOUNT:
		return CLI_NO_DEVICE;
	case OBS_NO_RIGHTS:
		return CLI_PRIVILEGE;
	case OBS_NO_SUPPORT:
		return CLI_UNSUPPORTED;
	default:
		return CLI_FAILED;
	}
}

/* The most fundamental of the failures; warnings leave it 0. */
static int worst_fact(const struct obs_system *s)
{
	const struct obs_fact *worst = NULL;

	for (size_t i = 0; i < s->nr_facts; i++) {
		const struct obs_fact *f = &s->fact[i];

		if (f->verdict == OBS_FAIL && (!worst || f->problem > worst->problem))
			worst = f;
	}
	return worst ? problem_exit(worst->problem) : CLI_OK;
}

/* Facts that make attaching pointless: its own message would only hide them. */
static bool worth_trying(struct doctor *d)
{
	static const char *const must[] = {"kernel",       "btf",      "modules",
					   "capabilities", "lockdown", "kptr_restrict"};

	for (size_t i = 0; i < ARRAY_SIZE(must); i++) {
		const struct obs_fact *f = obs_system_fact(&d->sys, must[i]);

		if (f && f->verdict == OBS_FAIL)
			return false;
	}
	return true;
}

/* What sees the waits for locks, and whether it sees all of them. */
static void judge_locks(struct doctor *d)
{
	struct obs_fact *f = &d->lock_fact;

	*f = (struct obs_fact){.id = "locks", .label = "lock waits"};
	if (!strcmp(d->lock_rung, "none") || !d->lock_rung[0]) {
		f->verdict = OBS_WARN;
		snprintf(f->value, sizeof(f->value), "not seen");
		snprintf(f->costs, sizeof(f->costs), "no lock is named, no wait is timed");
		snprintf(f->remedy, sizeof(f->remedy),
			 "see why the probe \"spinlock slow path\" has no rung");
		return;
	}
	snprintf(f->value, sizeof(f->value), "%s, %s", d->lock_rung,
		 d->lock_complete ? "which sees all of them" : "which sees only some of them");
	if (d->lock_complete)
		return;
	f->verdict = OBS_WARN;
	if (d->sys.spin == OBS_SPIN_RT) {
		snprintf(f->costs, sizeof(f->costs),
			 "with PREEMPT_RT spinlocks sleep, and their waits are not seen");
		snprintf(f->remedy, sizeof(f->remedy),
			 "none; use a kernel without PREEMPT_RT to look at locks");
		return;
	}
	snprintf(f->costs, sizeof(f->costs), "the tracepoint is not in the path of %s spinlocks",
		 d->sys.spin == OBS_SPIN_TEST_AND_SET ? "test-and-set" : "all contended");
	snprintf(f->remedy, sizeof(f->remedy), "allow fentry or kprobes for the slow path");
}

static int look_at_probes(struct doctor *d)
{
	struct vqs_snapshot *s;
	int r;

	d->probe = obs_guest_probes(d->guest, &d->nr_probes);
	r = obs_guest_snapshot(d->guest, &s);
	if (r)
		return r;
	snprintf(d->lock_rung, sizeof(d->lock_rung), "%s", s->lock_rung);
	d->lock_complete = s->lock_complete;
	d->bpf_memory_bytes = s->self.bpf_memory_bytes;
	obs_snapshot_free(s);
	judge_locks(d);
	return 0;
}

static void try_attaching(struct doctor *d, const struct cli_opts *o)
{
	struct obs_guest_opts opts = cli_guest_opts(o, NULL);
	int r;

	d->tried = true;
	r = obs_guest_open(&d->guest, &opts, &d->error);
	if (!r) {
		cli_drop_privileges();
		r = look_at_probes(d);
	}
	if (!r)
		return;
	if (!d->error && asprintf(&d->error, "cannot look at the probes: %s", strerror(-r)) < 0)
		d->error = NULL;
	if (!d->exit)
		d->exit = cli_exit_code(r);
}

const struct obs_device *doctor_device(const struct doctor *d, const struct obs_mount *m)
{
	const struct obs_devices *all = &d->sys.devices;

	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->device[i].tag, m->tag))
			return &all->device[i];
	/* Before Linux 6.9 devices do not tell their tag. */
	if (all->nr == 1 && !all->device[0].tag[0] && d->sys.mounts.nr == 1)
		return &all->device[0];
	return NULL;
}

void doctor_cpus(const struct obs_device *dev, uint32_t queue, char *buf, size_t size)
{
	size_t len = 0, end;

	buf[0] = '\0';
	for (size_t cpu = 0; cpu < dev->nr_map; cpu = end) {
		end = cpu + 1;
		if (dev->map[cpu] != queue)
			continue;
		while (end < dev->nr_map && dev->map[end] == queue)
			end++;
		if (len + 16 > size)
			return;
		len += (size_t)snprintf(buf + len, size - len, "%s%zu", len ? "," : "", cpu);
		if (end > cpu + 1)
			len += (size_t)snprintf(buf + len, size - len, "-%zu", end - 1);
	}
}

int cmd_doctor(const struct cli_opts *o)
{
	_cleanup_(doctor_release) struct doctor d = {0};
	struct obs_system_source src;
	int r;

	obs_system_here(&src);
	src.btf = o->btf;
	if (obs_system_read(&src, &d.sys)) {
		cli_error("out of memory");
		return CLI_MEMORY;
	}
	d.exit = worst_fact(&d.sys);
	if (worth_trying(&d))
		try_attaching(&d, o);
	if (o->json) {
		r = doctor_json(&d);
		if (r == -ENOMEM) {
			cli_error("out of memory");
			return CLI_MEMORY;
		}
	} else {
		doctor_text(&d, rend_want_color(stdout, o->no_color));
	}
	r = cli_flush();
	return r ? r : d.exit;
}
