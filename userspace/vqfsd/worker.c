// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/worker.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "vqfsd/device.h"

#define WAKE   UINT32_MAX /* in epoll's data, beside numbers of queues */
#define EVENTS 64

/* The first step of adapted polling: about a wake-up by eventfd on the build machines, 10 us. */
#define POLL_MIN_NS 10000u

enum { RUNS, RETIRED, ENDING };

/* --- sets of queues -------------------------------------------------------------------------- */

static void set_bit(uint64_t *set, uint32_t queue)
{
	__atomic_fetch_or(&set[queue / 64], 1ULL << queue % 64, __ATOMIC_ACQ_REL);
}

static void clear_bit(uint64_t *set, uint32_t queue)
{
	__atomic_fetch_and(&set[queue / 64], ~(1ULL << queue % 64), __ATOMIC_ACQ_REL);
}

/* The first queue of @set from @from on, or -1. */
static int next_bit(const uint64_t *set, uint32_t from)
{
	for (uint32_t i = from / 64; i < FSD_QUEUE_WORDS; i++) {
		uint64_t word = __atomic_load_n(&set[i], __ATOMIC_RELAXED);

		if (i == from / 64)
			word &= ~0ULL << from % 64;
		if (word)
			return (int)(i * 64 + (uint32_t)__builtin_ctzll(word));
	}
	return -1;
}

#define for_each_queue(i, set) for (int i = next_bit(set, 0); i >= 0; i = next_bit(set, i + 1))

static bool is_empty(const uint64_t *set)
{
	return next_bit(set, 0) < 0;
}

/* --- for others ------------------------------------------------------------------------------ */

static void wake(struct fsd_worker *w)
{
	uint64_t one = 1;

	/* EAGAIN: so many wake-ups wait that one more says nothing. */
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void fsd_worker_poke(struct fsd_worker *w, uint32_t queue)
{
	set_bit(w->poked, queue);
	wake(w);
}

/*
 * Edge-triggered and never read: each kick is a new edge, and reading would be a system call per
 * wake-up to learn a number that nobody needs.
 */
static int watch(struct fsd_worker *w, uint32_t data, int fd)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = data};

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int fsd_worker_watch(struct fsd_worker *w, uint32_t queue, int kick_fd)
{
	int err = watch(w, queue, kick_fd);

	if (!err)
		set_bit(w->owned, queue);
	return err;
}

void fsd_worker_unwatch(struct fsd_worker *w, uint32_t queue, int kick_fd)
{
	clear_bit(w->owned, queue);
	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, kick_fd, NULL);
}

/* --- the thread ------------------------------------------------------------------------------ */

static struct fsd_queue *queue_of(struct fsd_worker *w, int index)
{
	return &w->dev->queue[index];
}

static void take_pokes(struct fsd_worker *w)
{
	for (uint32_t i = 0; i < FSD_QUEUE_WORDS; i++)
		if (__atomic_load_n(&w->poked[i], __ATOMIC_RELAXED))
			w->active[i] |= __atomic_exchange_n(&w->poked[i], 0, __ATOMIC_ACQ_REL);
}

/* Queues that have something by now: a kick would say so too, but only to who sleeps. */
static bool look_around(struct fsd_worker *w)
{
	bool found = false;

	take_pokes(w);
	for_each_queue(i, w->owned)
	{
		if (w->active[i / 64] >> i % 64 & 1)
			continue;
		if (fsd_queue_peek(queue_of(w, i), w)) {
			w->active[i / 64] |= 1ULL << i % 64;
			found = true;
		}
	}
	return found;
}

/* One batch of each active queue. Whether there was any. */
static bool serve(struct fsd_worker *w)
{
	bool progress = false;

	for_each_queue(i, w->active)
	{
		struct fsd_queue *q = queue_of(w, i);
		int n = fsd_queue_pop(q, w);

		if (n > 0) {
			fsd_engines[fsd_get32(&q->engine)].execute(w, q, (uint32_t)n);
			progress = true;
		} else if (n == -ENOENT || n == -EBUSY) {
			w->active[i / 64] &= ~(1ULL << i % 64);
		}
	}
	return progress;
}

/* Asks for kicks of what seems empty. Whether all of it is, so that it may sleep. */
static bool arm(struct fsd_worker *w)
{
	bool found = false;

	for_each_queue(i, w->active)
	{
		if (fsd_queue_arm(queue_of(w, i), w))
			found = true;
		else
			w->active[i / 64] &= ~(1ULL << i % 64);
	}
	return !found;
}

/* Looks at the rings until something comes, or for as long as it seems worth it. */
static bool poll_rings(struct fsd_worker *w)
{
	uint64_t start, now, looks = 0;
	bool found = false;

	if (!w->poll_ns)
		return false;
	start = now = vqs_now_ns(CLOCK_MONOTONIC);
	while (!found && now - start < w->poll_ns) {
		take_pokes(w);
		for_each_queue(i, w->owned) found |= fsd_queue_peek(queue_of(w, i), w);
		looks++;
		now = vqs_now_ns(CLOCK_MONOTONIC);
	}
	fsd_add(&w->runner.stats->polls, looks);
	fsd_add(&w->runner.stats->polling_ns, now - start);
	return found && (look_around(w), true);
}

/* After a sleep that polling would have spared, poll longer; after a long one, shorter. */
static void adapt(struct fsd_worker *w, uint64_t slept_ns)
{
	uint64_t max = w->dev->opts.busy_poll_us * 1000ULL, ns = w->poll_ns;

	if (slept_ns < max)
		ns = ns ? 2 * ns : POLL_MIN_NS;
	else
		ns = ns / 2 < POLL_MIN_NS ? 0 : ns / 2;
	w->poll_ns = (uint32_t)(ns > max ? max : ns);
}

static void wait_for_kick(struct fsd_worker *w)
{
	struct epoll_event e[EVENTS];
	uint64_t since = fsd_runner_sleeps(&w->runner);
	int n = epoll_wait(w->epoll_fd, e, EVENTS, -1);

	adapt(w, fsd_runner_wakes(&w->runner, since));
	for (int i = 0; i < n; i++)
		if (e[i].data.u32 != WAKE)
			w->active[e[i].data.u32 / 64] |= 1ULL << e[i].data.u32 % 64;
	take_pokes(w);
}

static bool ends(struct fsd_worker *w)
{
	uint32_t asked = RETIRED;

	return __atomic_load_n(&w->retired, __ATOMIC_ACQUIRE) == RETIRED && is_empty(w->active) &&
	       __atomic_compare_exchange_n(&w->retired, &asked, ENDING, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* The wake-up that told so may be consumed already, while rings were still to be looked at. */
static bool is_asked_to_end(const struct fsd_worker *w)
{
	return __atomic_load_n(&w->retired, __ATOMIC_ACQUIRE) == RETIRED;
}

static void *work(void *arg)
{
	struct fsd_worker *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "vqfsd-w%u", w->index);
	if (!fsd_runner_begin(&w->runner, w->index, VQS_FSD_WORKER, w->index, name))
		return NULL;
	while (!ends(w)) {
		if (serve(w)) {
			look_around(w);
			continue;
		}
		if (poll_rings(w))
			continue;
		if (!arm(w))
			sched_yield(); /* to whoever wants a queue */
		else if (!is_asked_to_end(w))
			wait_for_kick(w);
	}
	fsd_runner_end(&w->runner);
	return NULL;
}

/* --- its life -------------------------------------------------------------------------------- */

static void close_fds(struct fsd_worker *w)
{
	vqs_closep(&w->epoll_fd);
	vqs_closep(&w->wake_fd);
	w->epoll_fd = w->wake_fd = -1;
}

static int open_fds(struct fsd_worker *w)
{
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->epoll_fd < 0 || w->wake_fd < 0 ? -errno : watch(w, WAKE, w->wake_fd);
}

int fsd_worker_start(struct fsd_worker *w)
{
	uint32_t asked = RETIRED;
	int err;

	if (w->made) {
		if (__atomic_compare_exchange_n(&w->retired, &asked, RUNS, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED) ||
		    asked == RUNS)
			return 0;
		fsd_worker_join(w);
	}
	w->retired = RUNS;
	w->poll_ns = w->dev->opts.busy_poll_us * 1000;
	w->runner.dev = w->dev;
	memset(w->active, 0, sizeof(w->active));
	err = open_fds(w);
	if (!err)
		err = fsd_runner_spawn(&w->runner, &w->thread, work, w);
	if (err)
		close_fds(w);
	else
		w->made = true;
	return err;
}

void fsd_worker_retire(struct fsd_worker *w)
{
	uint32_t running = RUNS;

	if (!w->made)
		return;
	__atomic_compare_exchange_n(&w->retired, &running, RETIRED, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	wake(w);
}

void fsd_worker_join(struct fsd_worker *w)
{
	if (!w->made)
		return;
	pthread_join(w->thread, NULL);
	close_fds(w);
	w->made = false;
}
