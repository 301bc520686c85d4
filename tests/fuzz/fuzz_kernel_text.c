// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any bytes may be what /proc and /sys say. The input is split at NULs and laid
 * out as the files of a machine in memory (/dev/shm), which is then read as doctor reads it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "observe/system.h"

static const char *const files[] = {
	"/proc/self/mountinfo",
	"/sys/fs/virtiofs/2/tag",
	"/sys/fs/virtiofs/2/mqs/1/cpu_list",
	"/sys/fs/virtiofs/2/mqs/2/cpu_list",
	"/sys/devices/system/cpu/possible",
	"/proc/sys/kernel/osrelease",
	"/proc/self/status",
	"/proc/modules",
	"/proc/filesystems",
	"/proc/self/limits",
	"/proc/sys/kernel/kptr_restrict",
	"/sys/kernel/security/lockdown",
	"/proc/cmdline",
	"/proc/kallsyms",
	"/proc/version",
};

static char root[64];

static void forget_root(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	if (system(cmd))
		perror(cmd);
}

static void path_of(char *buf, size_t size, size_t i)
{
	snprintf(buf, size, "%s%s", root, files[i]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[256];

	snprintf(root, sizeof(root), "%s/vqsteer-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(root))
		abort();
	atexit(forget_root);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		path_of(path, sizeof(path), i);
		for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	}
	return 0;
}

static void put(size_t i, const uint8_t *text, size_t len)
{
	char path[256];
	FILE *f;

	path_of(path, sizeof(path), i);
	f = fopen(path, "we");
	if (!f)
		abort();
	fwrite(text, 1, len, f);
	fclose(f);
}

static void check(const struct obs_system *s)
{
	if (s->nr_facts > OBS_MAX_FACTS || s->possible_cpus < 1 || s->possible_cpus > OBS_MAX_CPUS)
		abort();
	for (size_t i = 0; i < s->devices.nr; i++) {
		const struct obs_device *d = &s->devices.device[i];

		if (d->request_queues > OBS_MAX_QUEUES || d->nr_map > OBS_MAX_CPUS)
			abort();
		for (size_t cpu = 0; cpu < d->nr_map; cpu++)
			if (d->map[cpu] != OBS_NO_QUEUE && d->map[cpu] > d->request_queues)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct obs_system_source src = {
		.root = root, .machine = "x86_64", .hypervisor = OBS_HV_KVM_PV};
	static struct obs_system sys;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t len = size ? strnlen((const char *)data, size) : 0;

		put(i, data, len);
		data += len + (len < size);
		size -= len + (len < size);
	}
	if (!obs_system_read(&src, &sys)) {
		check(&sys);
		obs_system_free(&sys);
	}
	return 0;
}
