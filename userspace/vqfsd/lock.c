// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/lock.h"

#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <sys/syscall.h>

/* Before it sleeps: what is held while popping is held for a microsecond. */
#define SPINS 100

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void fsd_lock_wait(struct fsd_lock *l)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t free = 0;

		if (!__atomic_load_n(&l->word, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		pause_cpu();
	}
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void fsd_lock_wake(struct fsd_lock *l)
{
	syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void fsd_futex_wait(uint32_t *word, uint32_t seen, uint32_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
}

void fsd_futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
