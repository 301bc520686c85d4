// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin THREADS SECONDS: threads of one process duplicate and close a descriptor, which takes the
 * spinlock of the process' file table each time: contended spinlocks and no virtio-fs. Prints how
 * many pairs a second.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_ulong pairs;
static atomic_bool stop;

static void *run(void *unused)
{
	unsigned long n = 0;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		int fd = dup(0);

		if (fd >= 0)
			close(fd);
		n++;
	}
	atomic_fetch_add(&pairs, n);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	double seconds = argc == 3 ? atof(argv[2]) : 0;
	pthread_t t[64];

	if (threads < 1 || threads > 64 || seconds <= 0) {
		fprintf(stderr, "usage: spin THREADS SECONDS\n");
		return 2;
	}
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 1;
	usleep(seconds * 1e6);
	atomic_store(&stop, true);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("%.0f\n", pairs / seconds);
	return 0;
}
