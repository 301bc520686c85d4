// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>

/* Regions of all devices of the process. */
#define GUARDED_MAX 256

struct guarded {
	uintptr_t addr; /* atomic, written last; 0: free */
	size_t bytes;
	uint32_t *broken;
};

static struct guarded table[GUARDED_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

/* Whether the access was to a region; then it can run again. */
static int replace(uintptr_t at)
{
	for (int i = 0; i < GUARDED_MAX; i++) {
		struct guarded *g = &table[i];
		uintptr_t addr = __atomic_load_n(&g->addr, __ATOMIC_ACQUIRE);

		if (!addr || at < addr || at - addr >= g->bytes)
			continue;
		/* The wrapper of mmap() is not on the list of what handlers may call. */
		if (syscall(SYS_mmap, addr, g->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) < 0)
			return 0;
		__atomic_store_n(g->broken, 1, __ATOMIC_RELEASE);
		return 1;
	}
	return 0;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (!replace((uintptr_t)info->si_addr)) {
		/* Not ours: the access runs again and meets who was there before. */
		if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
			before.sa_sigaction(sig, info, context);
		else
			sigaction(SIGBUS, &before, NULL);
	}
	errno = saved;
}

int fsd_guard_install(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sigaction now;
	int err = 0;

	sigemptyset(&sa.sa_mask);
	pthread_mutex_lock(&table_lock);
	if (sigaction(SIGBUS, NULL, &now))
		err = -errno;
	else if (now.sa_sigaction != on_sigbus && sigaction(SIGBUS, &sa, &before))
		err = -errno;
	pthread_mutex_unlock(&table_lock);
	return err;
}

int fsd_guard_add(void *addr, size_t bytes, uint32_t *broken)
{
	int err = -ENOSPC;

	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < GUARDED_MAX && err; i++) {
		if (table[i].addr)
			continue;
		table[i].bytes = bytes;
		table[i].broken = broken;
		__atomic_store_n(&table[i].addr, (uintptr_t)addr, __ATOMIC_RELEASE);
		err = 0;
	}
	pthread_mutex_unlock(&table_lock);
	return err;
}

void fsd_guard_remove(void *addr)
{
	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < GUARDED_MAX; i++)
		if (table[i].addr == (uintptr_t)addr)
			__atomic_store_n(&table[i].addr, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table_lock);
}
