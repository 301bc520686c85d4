// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's process, by /proc. Whatever cannot be read makes it unknown, not wrong. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cleanup.h"
#include "vqload/report.h"

/* utime and stime of stat: of all threads, ended ones included. */
static bool read_cpu(pid_t pid, uint64_t *ns)
{
	_cleanup_fclose_ FILE *f = NULL;
	unsigned long long user, system;
	char path[64], line[1024], *end;
	long hz = sysconf(_SC_CLK_TCK);

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		return false;
	/* The name may have blanks and brackets in it; it ends at the last one. */
	end = strrchr(line, ')');
	if (!end || hz <= 0 ||
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
		   &system) != 2)
		return false;
	*ns = (user + system) * (VQS_SECOND_NS / (uint64_t)hz);
	return true;
}

static void read_status(pid_t pid, struct load_process *p)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmHWM: %" SCNu64, &p->peak_kb) == 1 ||
		    sscanf(line, "VmRSS: %" SCNu64, &p->rss_kb) == 1)
			continue;
		sscanf(line, "Threads: %" SCNu32, &p->threads);
	}
}

static uint32_t count_fds(pid_t pid)
{
	char path[64];
	uint32_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

void load_process_read(pid_t pid, struct load_process *p)
{
	*p = (struct load_process){0};
	p->known = pid > 0 && read_cpu(pid, &p->cpu_ns);
	if (!p->known)
		return;
	read_status(pid, p);
	p->fds = count_fds(pid);
}
