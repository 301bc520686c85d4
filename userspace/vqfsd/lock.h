/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A lock of one word for the way of a request: uncontended, one atomic operation to take it and
 * one to give it. Waiters sleep in a futex; the words are 0 free, 1 taken, 2 taken and waited for
 * (U. Drepper, "Futexes are tricky", mutex 2).
 */
#ifndef VQFSD_LOCK_H
#define VQFSD_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

struct fsd_lock {
	uint32_t word;
};

void fsd_lock_wait(struct fsd_lock *l);
void fsd_lock_wake(struct fsd_lock *l);

static inline void fsd_lock_take(struct fsd_lock *l)
{
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		fsd_lock_wait(l);
}

static inline void fsd_lock_give(struct fsd_lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		fsd_lock_wake(l);
}

/*
 * Sleeps while *word is @seen, at most @ms; wakes by itself now and then for no reason. Writers
 * change the word, then call fsd_futex_wake().
 */
void fsd_futex_wait(uint32_t *word, uint32_t seen, uint32_t ms);
void fsd_futex_wake(uint32_t *word);

/*
 * Counters in shared memory: written by one thread at a time (the owner of the structure, or the
 * holder of its lock), read by anybody.
 */
static inline void fsd_set(__u64 *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline void fsd_set32(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline uint64_t fsd_get(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint32_t fsd_get32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* One writer: no atomic addition is needed. */
static inline void fsd_add(__u64 *p, uint64_t n)
{
	fsd_set(p, fsd_get(p) + n);
}

#endif
