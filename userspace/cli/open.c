// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening the guest side for a subcommand: rights first, then a mount to look at, then memory,
 * then BPF; and giving the rights up again.
 */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/open.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "common/cleanup.h"
#include "common/words.h"
#include "common/privilege.h"
#include "observe/btf.h"
#include "observe/devices.h"
#include "observe/system.h"

/* Room for devices that appear later. */
#define MIN_QUEUES 64

/* --- a mount to look at --- */

static void note_tag(FILE *f, const char *before, int *nr, const char *tag)
{
	fprintf(f, "%s%s", (*nr)++ ? ", " : before, vqs_quote(tag).text);
}

/* A device may be mounted in several places. */
static bool first_of_its_tag(const struct obs_mounts *m, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(m->mount[j].tag, m->mount[i].tag))
			return false;
	return true;
}

/* What could be meant instead: " (mounted: "a", "b"; not mounted: "c")", or "". */
static char *known_tags(const struct obs_mounts *m)
{
	struct obs_devices d;
	size_t size;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	int mounted = 0, idle = 0;

	if (!f)
		return NULL;
	for (size_t i = 0; i < m->nr; i++)
		if (first_of_its_tag(m, i))
			note_tag(f, " (mounted: ", &mounted, m->mount[i].tag);
	if (!obs_devices_read("", &d)) {
		for (size_t i = 0; i < d.nr; i++)
			if (d.device[i].tag[0] && !obs_mounts_have(m, d.device[i].tag))
				note_tag(f, mounted ? "; not mounted: " : " (not mounted: ", &idle,
					 d.device[i].tag);
		obs_devices_free(&d);
	}
	fputs(mounted || idle ? ")" : "", f);
	fclose(f);
	return text;
}

static int no_mount(const struct cli_opts *o, const struct obs_mounts *m)
{
	_cleanup_free_ char *known = known_tags(m);

	if (o->tag)
		cli_error("no virtio-fs mount has tag %s%s; choose one that is mounted, or add "
			  "--wait to wait for it",
			  vqs_quote(o->tag).text, known ? known : "");
	else
		cli_error("no virtio-fs is mounted here%s; mount one (mount -t virtiofs TAG "
			  "FOLDER), or add --wait to wait for it",
			  known ? known : "");
	return CLI_NO_DEVICE;
}

/* Until the mounts change; false when the command is to end. */
static bool await_change(int mountinfo)
{
	struct pollfd p[] = {{.fd = mountinfo, .events = POLLPRI}, {.fd = STDOUT_FILENO}};

	return cli_poll(p, ARRAY_SIZE(p), NULL) > 0 && !cli_reader_gone(&p[1]);
}

static int find_mount(const struct cli_opts *o)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	bool told = false;

	if (!f) {
		cli_error("cannot read the mounts: /proc/self/mountinfo: %s; mount proc on /proc: "
			  "mount -t proc proc /proc",
			  strerror(errno));
		return CLI_FAILED;
	}
	for (;;) {
		struct obs_mounts m;
		int code = CLI_OK;

		/* The file remembers what it showed, so that no change between here and poll is
		 * lost. */
		rewind(f);
		if (obs_mounts_parse(f, &m)) {
			cli_error("out of memory");
			return CLI_MEMORY;
		}
		if (!obs_mounts_have(&m, o->tag))
			code = o->wait ? -1 : no_mount(o, &m);
		obs_mounts_free(&m);
		if (code >= 0)
			return code;
		if (!told)
			cli_note("waiting for a virtio-fs mount%s%s", o->tag ? " with tag " : "",
				 o->tag ? vqs_quote(o->tag).text : "");
		told = true;
		if (!await_change(fileno(f))) {
			cli_error("stopped before a virtio-fs was mounted");
			return CLI_NO_DEVICE;
		}
	}
}

/* --- queues, rights, memory --- */

/* Request queues that Linux uses, where sysfs does not say: the first before 6.11, then unknown. */
static uint32_t usable_queues(const struct obs_device *dev)
{
	if (dev->request_queues)
		return dev->request_queues;
	return obs_release_read("") < (6 << 16 | 11) ? 1 : OBS_MAX_QUEUES;
}

/* @total gets all queues there are; CLI_NO_DEVICE when --queue names none of them. */
static int count_queues(const struct cli_opts *o, uint32_t *total)
{
	struct obs_devices d;
	uint32_t most = 0;
	bool any = false;

	*total = 0;
	if (obs_devices_read("", &d)) {
		cli_error("out of memory");
		return CLI_MEMORY;
	}
	for (size_t i = 0; i < d.nr; i++) {
		const struct obs_device *dev = &d.device[i];

		/* hiprio, and before Linux 6.11 the one request queue that is used. */
		*total += 1 + (dev->request_queues ? dev->request_queues : 1);
		if (o->tag && dev->tag[0] && strcmp(o->tag, dev->tag))
			continue;
		any = true;
		if (usable_queues(dev) > most)
			most = usable_queues(dev);
	}
	obs_devices_free(&d);
	if (o->queue < 0 || !any || (uint32_t)o->queue <= most)
		return CLI_OK;
	cli_error("--queue: there is no queue %d; give 0 for hiprio or 1 to %u", o->queue, most);
	return CLI_NO_DEVICE;
}

static int check_btf(const struct cli_opts *o)
{
	char why[64];

	/* A kernel without types is for obs_guest_open() to tell; every one has this file. */
	if (!o->btf && access("/sys/kernel/notes", F_OK)) {
		cli_error("cannot read the kernel's types: /sys/kernel/notes: %s; mount sysfs on "
			  "/sys: "
			  "mount -t sysfs sysfs /sys",
			  strerror(errno));
		return CLI_FAILED;
	}
	if (!o->btf || !obs_btf_check(o->btf, why, sizeof(why)))
		return CLI_OK;
	cli_error("--btf: %s cannot be used: %s; give the BTF of this very kernel build, or leave "
		  "it out",
		  vqs_quote(o->btf).text, why);
	return CLI_USAGE;
}

static int check_rights(void)
{
	if (vqs_caps_can_trace(vqs_caps_effective()))
		return CLI_OK;
	cli_error("not permitted to trace the kernel: CAP_BPF and CAP_PERFMON are missing; run it "
		  "as root, such as sudo vqsteer");
	return CLI_PRIVILEGE;
}

int cli_exit_code(int r)
{
	switch (r) {
	case 0:
		return CLI_OK;
	case -EPERM:
	case -EACCES:
		return CLI_PRIVILEGE;
	case -ENOENT:
	case -ENOTSUP:
		return CLI_UNSUPPORTED;
	case -E2BIG:
	case -ENOMEM:
		return CLI_MEMORY;
	default:
		return CLI_FAILED;
	}
}

struct obs_guest_opts cli_guest_opts(const struct cli_opts *o, const struct obs_guest_opts *base)
{
	struct obs_guest_opts g;

	if (base)
		g = *base;
	else
		obs_guest_default_opts(&g);
	g.btf_path = o->btf;
	g.max_memory = o->max_memory;
	g.slots = o->slots;
	g.rungs = o->rungs;
	g.locks = g.locks && !o->no_locks;
	g.stacks = (g.stacks || o->stacks) && g.locks;
	g.timed = g.timed || o->self;
	if (g.detail_index < 0)
		g.detail_index = o->queue;
	return g;
}

/*
 * What runs on needs no capability: maps are mapped, symbols are read, and running the snapshot's
 * program or asking for run times takes a file descriptor only. Before Linux 5.19 ("bpf: refine
 * kernel.unprivileged_bpf_disabled behaviour") that sysctl asks for CAP_BPF on every call.
 */
void cli_drop_privileges(void)
{
	uint32_t kernel = obs_release_read("");
	uint64_t keep = kernel && kernel < (5 << 16 | 19) ? VQS_CAP(CAP_BPF) : 0;

	if (vqs_caps_drop(keep))
		cli_note("capabilities could not be given up; going on with them");
}

int cli_open_guest(const struct cli_opts *o, const struct obs_guest_opts *base,
		   struct obs_guest **g)
{
	struct obs_guest_opts opts = cli_guest_opts(o, base);
	uint32_t cpus = obs_possible_cpus(""), queues;
	_cleanup_free_ char *err = NULL;
	int r;

	*g = NULL;
	r = check_btf(o);
	if (!r)
		r = check_rights();
	if (!r)
		r = find_mount(o);
	if (!r)
		r = count_queues(o, &queues);
	if (r)
		return r;
	if (!opts.max_queues)
		opts.max_queues = queues > MIN_QUEUES ? queues : MIN_QUEUES;
	cli_note("BPF maps take %.1f MiB (%u queues, %u CPUs)",
		 (double)obs_guest_memory(&opts, opts.max_queues, cpus) / (1 << 20),
		 opts.max_queues, cpus);
	r = obs_guest_open(g, &opts, &err);
	if (r) {
		cli_error("%s%s", err ? err : strerror(-r),
			  o->btf ? "; --btf must be of this very kernel build" : "");
		return cli_exit_code(r);
	}
	if (opts.stacks && !obs_guest_names_stacks(*g))
		cli_note("the kernel hides its addresses from this process: stacks are without "
			 "names; run it with CAP_SYSLOG, vqsteer doctor says more");
	cli_drop_privileges();
	return CLI_OK;
}
