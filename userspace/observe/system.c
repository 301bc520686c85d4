// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/system.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "observe/system_priv.h"

struct obs_fact *fact_add(struct gathering *g, const char *id, const char *label, const char *fmt,
			  ...)
{
	/* The last one takes what does not fit: a fact too many must not become an overflow. */
	size_t at = g->sys->nr_facts < OBS_MAX_FACTS ? g->sys->nr_facts++ : OBS_MAX_FACTS - 1;
	struct obs_fact *f = &g->sys->fact[at];
	va_list ap;

	*f = (struct obs_fact){.id = id, .label = label};
	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
	return f;
}

void fact_detail(struct obs_fact *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
}

void fact_flaw(struct obs_fact *f, enum obs_verdict verdict, enum obs_problem problem,
	       const char *costs, const char *remedy)
{
	if (verdict <= f->verdict)
		return;
	f->verdict = verdict;
	f->problem = problem;
	snprintf(f->costs, sizeof(f->costs), "%s", costs);
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

int file_check(const struct gathering *g, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", g->src->root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	return access(full, R_OK) ? -errno : 0;
}

bool file_absent(const struct gathering *g, int err, const char *witness)
{
	return err == -ENOENT && !file_check(g, witness);
}

int file_lists(const struct gathering *g, const char *path, const char *word)
{
	_cleanup_fclose_ FILE *f = NULL;
	char full[PATH_MAX], line[512], first[64], second[64];

	if (snprintf(full, sizeof(full), "%s%s", g->src->root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	f = fopen(full, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		int n = sscanf(line, "%63s %63s", first, second);

		if (n >= 1 && !strcmp(first, word))
			return 1;
		if (n == 2 && !strcmp(first, "nodev") && !strcmp(second, word))
			return 1;
	}
	return ferror(f) ? -EIO : 0;
}

/* How to make @path visible, given why it is not. */
static const char *sight_remedy(const struct gathering *g, const char *path, int err)
{
	if (err == -EACCES || err == -EPERM)
		return "run it as root, such as sudo vqsteer";
	if (strncmp(path, "/proc/", 6))
		return "mount sysfs on /sys: mount -t sysfs sysfs /sys";
	/* The switches of the whole system are shown in the first network namespace only. */
	if (!strncmp(path, "/proc/sys/net/", 14) && !file_check(g, "/proc/sys/net/core"))
		return "run it in the first network namespace: nsenter -t 1 -n vqsteer doctor";
	if (!file_check(g, "/proc/self"))
		return "mount proc on /proc without subset=pid, or run it outside of the container";
	return "mount proc on /proc: mount -t proc proc /proc";
}

struct obs_fact *fact_hidden(struct gathering *g, const char *id, const char *label,
			     const char *path, int err, enum obs_verdict verdict, const char *costs)
{
	struct obs_fact *f = fact_add(g, id, label, "cannot be read");

	fact_detail(f, "%s: %s", path, strerror(-err));
	fact_flaw(f, verdict, verdict == OBS_FAIL ? OBS_HIDDEN : OBS_NO_PROBLEM, costs,
		  sight_remedy(g, path, err));
	return f;
}

bool has_symbol(const struct gathering *g, const char *name)
{
	return g->syms && ksyms_has(g->syms, name);
}

uint32_t obs_release_parse(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%5u.%5u", &major, &minor) != 2 || major > 255 || minor > 65535)
		return 0;
	return KERNEL(major, minor);
}

uint32_t obs_release_read(const char *root)
{
	char release[65];

	if (obs_read_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release)) < 0)
		return 0;
	return obs_release_parse(release);
}

/* --- mounts --- */

static void fact_mounts(struct gathering *g)
{
	const struct obs_system *s = g->sys;
	struct obs_fact *f;

	if (g->mounts_err) {
		fact_hidden(g, "mounts", "virtio-fs mounts", "/proc/self/mountinfo", g->mounts_err,
			    OBS_FAIL, "no command knows what to look at");
		return;
	}
	if (s->mounts.nr) {
		f = fact_add(g, "mounts", "virtio-fs mounts", "%zu", s->mounts.nr);
		return;
	}
	f = fact_add(g, "mounts", "virtio-fs mounts", "none");
	fact_flaw(f, OBS_FAIL, OBS_NO_MOUNT, "there is nothing to look at",
		  s->devices.nr ? "mount one: mount -t virtiofs TAG FOLDER (a device is there)"
				: "give this machine a virtio-fs device, and mount it: mount -t "
				  "virtiofs TAG FOLDER");
}

static int read_all(struct gathering *g)
{
	struct obs_system *s = g->sys;
	char kallsyms[PATH_MAX];

	if (obs_read_line(g->src->root, "/proc/sys/kernel/osrelease", g->release,
			  sizeof(g->release)) < 0)
		g->release[0] = '\0';
	s->kernel = obs_release_parse(g->release);
	s->possible_cpus = obs_possible_cpus(g->src->root);
	snprintf(kallsyms, sizeof(kallsyms), "%s/proc/kallsyms", g->src->root);
	g->syms_err = ksyms_load(&g->syms, kallsyms);
	if (g->syms_err == -ENOMEM)
		return g->syms_err;
	g->mounts_err = obs_mounts_read(g->src->root, &s->mounts);
	if (g->mounts_err == -ENOMEM)
		return g->mounts_err;
	return obs_devices_read(g->src->root, &s->devices);
}

int obs_system_read(const struct obs_system_source *src, struct obs_system *out)
{
	struct gathering g = {.src = src, .sys = out};
	int r;

	*out = (struct obs_system){0};
	r = read_all(&g);
	if (!r) {
		facts_kernel(&g);
		facts_rights(&g);
		facts_spin(&g);
		fact_mounts(&g);
	}
	ksyms_free(g.syms);
	if (r)
		obs_system_free(out);
	return r;
}

void obs_system_free(struct obs_system *s)
{
	obs_mounts_free(&s->mounts);
	obs_devices_free(&s->devices);
}

const struct obs_fact *obs_system_fact(const struct obs_system *s, const char *id)
{
	for (size_t i = 0; i < s->nr_facts; i++)
		if (!strcmp(s->fact[i].id, id))
			return &s->fact[i];
	return NULL;
}

const char *obs_verdict_name(enum obs_verdict v)
{
	static const char *const names[] = {
		[OBS_FINE] = "ok", [OBS_WARN] = "warn", [OBS_FAIL] = "fail"};

	_Static_assert(ARRAY_SIZE(names) == OBS_VERDICTS, "every verdict has a name");
	return (unsigned int)v < OBS_VERDICTS ? names[v] : "?";
}
