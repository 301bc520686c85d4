// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load JOBS COUNT SECONDS FILE: JOBS processes, one per CPU in turn, each ask for FILE's attributes
 * with AT_STATX_FORCE_SYNC, which is one synchronous FUSE_GETATTR a call and nothing else, COUNT
 * times (0: for SECONDS). Prints how many calls were made, and the p50 and p99 of what each took.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CALLS (1u << 20) /* a job's times are kept */

struct job {
	uint64_t calls;
	uint64_t ns[MAX_CALLS];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int run_job(struct job *j, int index, uint64_t count, double seconds, const char *path)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	int fd = open(path, O_PATH | O_CLOEXEC), cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct statx st;
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0)
		return 1;
	CPU_ZERO(&set);
	CPU_SET(index % cpus, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (j->calls < MAX_CALLS && (count ? j->calls < count : now_ns() < end)) {
		uint64_t start = now_ns();

		if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st))
			return 1;
		j->ns[j->calls++] = now_ns() - start;
	}
	return 0;
}

static int cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int report(struct job *jobs, int n)
{
	uint64_t total = 0, *all, at = 0;

	for (int i = 0; i < n; i++)
		total += jobs[i].calls;
	all = malloc((total + 1) * sizeof(*all));
	if (!all)
		return 1;
	for (int i = 0; i < n; i++)
		for (uint64_t c = 0; c < jobs[i].calls; c++)
			all[at++] = jobs[i].ns[c];
	qsort(all, total, sizeof(*all), cmp);
	printf("{\"calls\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 "}\n", total,
	       total ? all[total / 2] : 0, total ? all[total * 99 / 100] : 0);
	free(all);
	return 0;
}

int main(int argc, char **argv)
{
	int jobs = argc == 5 ? atoi(argv[1]) : 0, failed = 0, status;
	struct job *j;

	if (jobs < 1 || jobs > 64) {
		fprintf(stderr, "usage: load JOBS COUNT SECONDS FILE\n");
		return 2;
	}
	j = mmap(NULL, jobs * sizeof(*j), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		 0);
	if (j == MAP_FAILED)
		return 1;
	for (int i = 0; i < jobs; i++)
		if (!fork())
			_exit(run_job(&j[i], i, strtoull(argv[2], NULL, 10), atof(argv[3]),
				      argv[4]));
	while (wait(&status) > 0)
		failed |= status;
	return report(j, jobs) || failed;
}
