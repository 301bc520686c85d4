// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/mqmap.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

static bool read_line(const char *path, char *buf, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, size, f))
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* "0, 2-3" or "0-1,5": both separators were seen in kernels. */
static void assign_cpus(const char *list, uint32_t queue, uint32_t *map, uint32_t cpus)
{
	const char *p = list;
	char *end;

	while (*p) {
		unsigned long first, last;

		p += strspn(p, ", \t");
		first = last = strtoul(p, &end, 10);
		if (end == p)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long c = first; c <= last && c < cpus; c++)
			map[c] = queue;
		p = end;
	}
}

static bool has_tag(const char *dir, const char *tag)
{
	char path[512], line[64];

	snprintf(path, sizeof(path), "%s/tag", dir);
	return read_line(path, line, sizeof(line)) && !strcmp(line, tag);
}

static int read_device(const char *dir, uint32_t cpus, uint32_t **map, size_t *nr)
{
	char pattern[512], line[4096];
	glob_t queues;

	snprintf(pattern, sizeof(pattern), "%s/mqs/[0-9]*", dir);
	if (glob(pattern, 0, NULL, &queues))
		return 0;
	*map = calloc(cpus, sizeof(**map));
	for (size_t i = 0; *map && i < queues.gl_pathc; i++) {
		const char *name = strrchr(queues.gl_pathv[i], '/') + 1;
		unsigned long queue = strtoul(name, NULL, 10);
		char path[512];

		snprintf(path, sizeof(path), "%s/cpu_list", queues.gl_pathv[i]);
		/* Queue 0, hiprio, lists every CPU: forgets go there from anywhere. */
		if (queue && queue <= 255 && read_line(path, line, sizeof(line)))
			assign_cpus(line, queue, *map, cpus);
	}
	globfree(&queues);
	*nr = *map ? cpus : 0;
	return *map ? 0 : -ENOMEM;
}

int mqmap_read(const char *root, const char *tag, uint32_t cpus, uint32_t **map, size_t *nr)
{
	char pattern[256];
	glob_t devices;
	int err = 0;

	*map = NULL;
	*nr = 0;
	snprintf(pattern, sizeof(pattern), "%s/sys/fs/virtiofs/[0-9]*", root);
	if (glob(pattern, 0, NULL, &devices))
		return 0;
	for (size_t i = 0; i < devices.gl_pathc && !err; i++) {
		if (!has_tag(devices.gl_pathv[i], tag))
			continue;
		err = read_device(devices.gl_pathv[i], cpus, map, nr);
		break;
	}
	globfree(&devices);
	return err;
}
