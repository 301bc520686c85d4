// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/devices.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/cleanup.h"

/* 8192 CPUs as "8191, " each; sysfs itself stops at a page. */
#define LIST_MAX 65536

int obs_read_line(const char *root, const char *path, char *buf, size_t size)
{
	_cleanup_fclose_ FILE *f = NULL;
	char full[PATH_MAX];
	size_t n;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	f = fopen(full, "re");
	if (!f)
		return -errno;
	n = fread(buf, 1, size - 1, f);
	if (ferror(f))
		return errno ? -errno : -EIO;
	buf[n] = '\0';
	if (!strchr(buf, '\n') && n == size - 1 && fgetc(f) != EOF)
		return -E2BIG;
	buf[strcspn(buf, "\n")] = '\0';
	return (int)strlen(buf);
}

/* Digits at *p, below @limit; moves *p on. */
static int parse_u32(const char **p, uint32_t limit, uint32_t *out)
{
	uint32_t v = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++) {
		v = v * 10 + (uint32_t)(**p - '0');
		if (v >= limit)
			return -EINVAL;
	}
	*out = v;
	return 0;
}

int obs_cpu_list_parse(const char *text, void (*fn)(uint32_t cpu, void *arg), void *arg)
{
	const char *p = text;
	uint32_t first, last;

	while (isspace((unsigned char)*p))
		p++;
	while (*p) {
		if (parse_u32(&p, OBS_MAX_CPUS, &first))
			return -EINVAL;
		last = first;
		if (*p == '-') {
			p++;
			if (parse_u32(&p, OBS_MAX_CPUS, &last) || last < first)
				return -EINVAL;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			fn(cpu, arg);
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return 0;
		if (*p++ != ',')
			return -EINVAL;
		while (isspace((unsigned char)*p))
			p++;
	}
	return 0;
}

static void highest_cpu(uint32_t cpu, void *arg)
{
	uint32_t *nr = arg;

	if (cpu + 1 > *nr)
		*nr = cpu + 1;
}

uint32_t obs_possible_cpus(const char *root)
{
	char line[4096];
	uint32_t nr = 0;

	if (obs_read_line(root, "/sys/devices/system/cpu/possible", line, sizeof(line)) < 0)
		return 1;
	obs_cpu_list_parse(line, highest_cpu, &nr);
	return nr ? nr : 1;
}

/* --- mounts --- */

/* Space, tab, newline, backslash and '#' come as \ooo; undone in place. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

static int add_mount(struct obs_mounts *m, const char *tag, const char *path)
{
	struct obs_mount *more = reallocarray(m->mount, m->nr + 1, sizeof(*more));
	struct obs_mount *new;

	if (!more)
		return -ENOMEM;
	m->mount = more;
	new = &m->mount[m->nr];
	new->path = strdup(path);
	if (!new->path)
		return -ENOMEM;
	snprintf(new->tag, sizeof(new->tag), "%s", tag);
	m->nr++;
	return 0;
}

/* 36 35 98:0 /root /mount/point rw,noatime master:1 - virtiofs tag rw */
static int take_mount(struct obs_mounts *m, char *line)
{
	char *fields[5], *save = NULL, *type, *tag, *word;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strtok_r(i ? NULL : line, " \n", &save);
		if (!fields[i])
			return 0;
	}
	do {
		word = strtok_r(NULL, " \n", &save);
	} while (word && strcmp(word, "-"));
	type = word ? strtok_r(NULL, " \n", &save) : NULL;
	tag = type ? strtok_r(NULL, " \n", &save) : NULL;
	if (!tag || strcmp(type, "virtiofs"))
		return 0;
	unescape(tag);
	unescape(fields[4]);
	return add_mount(m, tag, fields[4]);
}

int obs_mounts_parse(FILE *mountinfo, struct obs_mounts *out)
{
	_cleanup_free_ char *line = NULL;
	struct obs_mounts m = {0};
	size_t size = 0;
	int r = 0;

	while (!r && getline(&line, &size, mountinfo) > 0)
		r = take_mount(&m, line);
	if (r) {
		obs_mounts_free(&m);
		return r;
	}
	*out = m;
	return 0;
}

int obs_mounts_read(const char *root, struct obs_mounts *out)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[PATH_MAX];

	*out = (struct obs_mounts){0};
	if (snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	return obs_mounts_parse(f, out);
}

void obs_mounts_free(struct obs_mounts *m)
{
	for (size_t i = 0; i < m->nr; i++)
		free(m->mount[i].path);
	free(m->mount);
	*m = (struct obs_mounts){0};
}

bool obs_mounts_have(const struct obs_mounts *m, const char *tag)
{
	for (size_t i = 0; i < m->nr; i++)
		if (!tag || !strcmp(m->mount[i].tag, tag))
			return true;
	return false;
}

/* --- devices --- */

struct map_queue {
	struct obs_device *device;
	uint32_t queue;
	bool failed;
};

static void map_cpu(uint32_t cpu, void *arg)
{
	struct map_queue *m = arg;
	struct obs_device *d = m->device;

	if (cpu >= d->nr_map) {
		uint32_t *more = reallocarray(d->map, cpu + 1, sizeof(*more));

		if (!more) {
			m->failed = true;
			return;
		}
		for (size_t i = d->nr_map; i <= cpu; i++)
			more[i] = OBS_NO_QUEUE;
		d->map = more;
		d->nr_map = cpu + 1;
	}
	d->map[cpu] = m->queue;
}

/* mqs/Q/{name,cpu_list}, Q as the kernel numbers virtqueues: 0 is hiprio, which serves every CPU.
 */
static int read_queues(const char *root, struct obs_device *d)
{
	_cleanup_free_ char *list = malloc(LIST_MAX);
	char path[96];

	if (!list)
		return -ENOMEM;
	for (uint32_t q = 1; q <= OBS_MAX_QUEUES; q++) {
		struct map_queue m = {.device = d, .queue = q};

		snprintf(path, sizeof(path), "/sys/fs/virtiofs/%u/mqs/%u/cpu_list", d->virtio_index,
			 q);
		if (obs_read_line(root, path, list, LIST_MAX) < 0)
			return 0;
		d->request_queues = q;
		/* More than some 800 CPUs do not fit the kernel's page: what came is right. */
		obs_cpu_list_parse(list, map_cpu, &m);
		if (m.failed)
			return -ENOMEM;
	}
	return 0;
}

static int add_device(const char *root, uint32_t virtio_index, struct obs_devices *out)
{
	struct obs_device *more = reallocarray(out->device, out->nr + 1, sizeof(*more));
	struct obs_device *d;
	char path[96];

	if (!more)
		return -ENOMEM;
	out->device = more;
	d = &out->device[out->nr++];
	*d = (struct obs_device){.virtio_index = virtio_index};
	snprintf(path, sizeof(path), "/sys/fs/virtiofs/%u/tag", virtio_index);
	if (obs_read_line(root, path, d->tag, sizeof(d->tag)) < 0)
		d->tag[0] = '\0';
	return read_queues(root, d);
}

/* Every entry of @root/@dir that is @prefix and a number. */
static int scan(const char *root, const char *dir, const char *prefix, struct obs_devices *out)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int r = 0;

	if (snprintf(path, sizeof(path), "%s%s", root, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	d = opendir(path);
	if (!d)
		return 0;
	while (!r && (e = readdir(d))) {
		const char *p = e->d_name;
		uint32_t index;

		if (strncmp(p, prefix, strlen(prefix)))
			continue;
		p += strlen(prefix);
		if (!parse_u32(&p, 1U << 20, &index) && !*p)
			r = add_device(root, index, out);
	}
	closedir(d);
	return r;
}

static int by_index(const void *a, const void *b)
{
	const struct obs_device *x = a, *y = b;

	return (x->virtio_index > y->virtio_index) - (x->virtio_index < y->virtio_index);
}

int obs_devices_read(const char *root, struct obs_devices *out)
{
	int r;

	*out = (struct obs_devices){0};
	/* Linux 6.9 "virtiofs: export filesystem tags through sysfs"; before, the driver knows. */
	r = scan(root, "/sys/fs/virtiofs", "", out);
	if (!r && !out->nr)
		r = scan(root, "/sys/bus/virtio/drivers/virtiofs", "virtio", out);
	if (r) {
		obs_devices_free(out);
		return r;
	}
	if (out->nr)
		qsort(out->device, out->nr, sizeof(*out->device), by_index);
	return 0;
}

void obs_devices_free(struct obs_devices *d)
{
	for (size_t i = 0; i < d->nr; i++)
		free(d->device[i].map);
	free(d->device);
	*d = (struct obs_devices){0};
}
