// SPDX-License-Identifier: GPL-2.0-or-later
/* What workers and pool threads have in common: their start, their books. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "vqfsd/device.h"
#include "vqfsd/engine.h"

#define WAIT_MS 1000

int fsd_runner_spawn(struct fsd_runner *x, pthread_t *thread, void *(*main)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	x->start_err = 0;
	x->started = 0;
	sigfillset(&all);
	/* Faults are the thread's own: SIGBUS must arrive. */
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(thread, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return err;
	while (!__atomic_load_n(&x->started, __ATOMIC_ACQUIRE))
		fsd_futex_wait(&x->started, 0, WAIT_MS);
	err = x->start_err;
	if (err)
		pthread_join(*thread, NULL);
	return err;
}

bool fsd_runner_begin(struct fsd_runner *x, uint32_t slot, uint32_t kind, uint32_t index,
		      const char *name)
{
	struct vqs_fsd_thread *t = &x->dev->stats.thread[slot];

	pthread_setname_np(pthread_self(), name);
	x->stats = t;
	x->nr_done = 0;
	x->start_err = fsd_thread_new(&x->thread, x->dev->fs);
	if (!x->start_err) {
		fsd_set32(&t->index, index);
		__atomic_store_n(&t->tid, gettid(), __ATOMIC_RELAXED);
		fsd_set(&t->started_ns, vqs_now_ns(CLOCK_MONOTONIC));
		fsd_set(&t->waiting_ns, 0);
		fsd_set32(&t->kind, kind);
	}
	__atomic_store_n(&x->started, 1, __ATOMIC_RELEASE);
	fsd_futex_wake(&x->started);
	return !x->start_err;
}

void fsd_runner_end(struct fsd_runner *x)
{
	fsd_run_flush(x);
	fsd_set32(&x->stats->kind, VQS_FSD_FREE);
	fsd_thread_free(x->thread);
	x->thread = NULL;
}

uint64_t fsd_runner_sleeps(struct fsd_runner *x)
{
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC);

	fsd_set(&x->stats->waiting_from_ns, now);
	return now;
}

uint64_t fsd_runner_wakes(struct fsd_runner *x, uint64_t since)
{
	struct vqs_fsd_thread *t = x->stats;
	uint64_t ns = vqs_now_ns(CLOCK_MONOTONIC) - since;

	fsd_set(&t->waiting_from_ns, 0);
	fsd_add(&t->waiting_ns, ns);
	fsd_add(&t->waits, 1);
	return ns;
}
