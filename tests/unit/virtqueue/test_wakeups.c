// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No wake-up is lost, in any interleaving. A model checker runs the code of driver.c and device.c
 * themselves: their accesses to indices, flags and events go through hooks, of which each is one
 * step, and every order of the steps of a driver and a device thread is tried, with stores that
 * stay in the storer's buffer for as long as they like (TSO, as on x86). A state in which both
 * wait and requests are open is a wake-up lost.
 *
 * That the checker sees such a thing is shown by taking away one barrier, or one second look, at a
 * time: each of them is needed. Weaker orders than TSO are not modelled; there the code relies on
 * release and acquire.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

/* --- the code under test, on hooks ----------------------------------------------------------- */

static uint16_t hook_load(const void *p);
static void hook_store(void *p, uint16_t v);
static void hook_fence(void);

#define vq_load_acquire  plain_load_acquire
#define vq_load          plain_load
#define vq_store_release plain_store_release
#define vq_store         plain_store
#define vq_full_barrier  plain_full_barrier
#include "virtqueue/ring.h"
#undef vq_load_acquire
#undef vq_load
#undef vq_store_release
#undef vq_store
#undef vq_full_barrier
#define vq_load_acquire(p)     hook_load(p)
#define vq_load(p)             hook_load(p)
#define vq_store_release(p, v) hook_store(p, v)
#define vq_store(p, v)         hook_store(p, v)
#define vq_full_barrier()      hook_fence()

#include "virtqueue/device.c"
#include "virtqueue/driver.c"

/* --- states ---------------------------------------------------------------------------------- */

#define RING_SIZE 2u
#define MEM_BYTES 256u
#define BUFFER    12u /* stores waiting; more than one call makes */
#define LOG       16u /* steps within one call */

enum { DRIVER, DEVICE, AGENTS };

/* Where an agent is: the call it makes next, or is in. */
enum at {
	ADD,
	PUBLISH,
	KICK,
	SEND_KICK,
	GET_USED,
	ENABLE_CALLS,
	WAIT_CALL,
	DISABLE_CALLS,
	DONE,
	DISABLE_KICKS,
	POP,
	PUSH,
	PUBLISH_USED,
	CALL,
	SEND_CALL,
	ENABLE_KICKS,
	WAIT_KICK,
};

struct store {
	uint16_t offset, value;
};

struct agent {
	uint8_t at, in_log, in_buffer, woken;
	uint16_t log[LOG]; /* what the steps of this call returned so far */
	struct store buffer[BUFFER];
};

struct state {
	_Alignas(64) uint8_t mem[MEM_BYTES];
	struct agent agent[AGENTS];
	struct vq_driver driver;
	struct vq_slot slot[RING_SIZE];
	struct vq_push push;
	struct vq_pop pop;
	uint16_t heads[RING_SIZE]; /* popped, not pushed */
	uint8_t nr_heads, submitted, completed;
};

enum mutation {
	NOTHING,
	NO_BARRIER_BEFORE_KICK,
	NO_BARRIER_BEFORE_CALL,
	NO_BARRIER_IN_ENABLE_KICKS,
	NO_BARRIER_IN_ENABLE_CALLS,
	NO_SECOND_LOOK_FOR_REQUESTS,
	NO_SECOND_LOOK_FOR_REPLIES,
	MUTATIONS,
};

static const char *const mutation_name[MUTATIONS] = {
	"nothing",
	"barrier between publishing and asking whether to kick",
	"barrier between publishing and asking whether to call",
	"barrier in enable_kicks",
	"barrier in enable_calls",
	"second look after enable_kicks",
	"second look after enable_calls",
};

static struct {
	uint64_t features;
	uint8_t requests;
	bool batch; /* answers all that was popped at once */
	enum mutation without;
} config;

/* What a step works on. */
static _Alignas(64) uint8_t mem[MEM_BYTES];
static struct vq_slot slots[RING_SIZE];
static struct vq_driver driver;
static struct vq_device device;
static struct vq_mem guest;
static struct agent *self;
static uint32_t step_pos;
static bool step_done;
static jmp_buf step_end;
static bool hooked; /* else: setting up */

/* --- steps ----------------------------------------------------------------------------------- */

/*
 * A call is begun anew for each of its steps: the steps it did before return what they returned,
 * one is done, and before the next it is left. So its locals need not be kept.
 */
static bool replay(uint16_t *v)
{
	if (step_pos < self->in_log) {
		*v = self->log[step_pos++];
		return true;
	}
	if (step_done)
		longjmp(step_end, 1);
	if (self->in_log == LOG)
		abort();
	step_done = true;
	step_pos++;
	self->in_log++;
	return false;
}

static uint16_t *word(uint16_t offset)
{
	return (uint16_t *)(void *)&mem[offset];
}

static uint16_t hook_load(const void *p)
{
	uint16_t offset = (uint16_t)((const uint8_t *)p - mem), v;

	if (!hooked)
		return *word(offset);
	if (replay(&v))
		return v;
	v = *word(offset);
	for (uint32_t i = 0; i < self->in_buffer; i++)
		if (self->buffer[i].offset == offset)
			v = self->buffer[i].value; /* the newest of its own */
	return self->log[self->in_log - 1] = v;
}

static void flush_one(struct agent *a)
{
	*word(a->buffer[0].offset) = a->buffer[0].value;
	a->in_buffer--;
	memmove(a->buffer, a->buffer + 1, a->in_buffer * sizeof(a->buffer[0]));
	a->buffer[a->in_buffer] = (struct store){0};
}

static void hook_store(void *p, uint16_t v)
{
	uint16_t offset = (uint16_t)((uint8_t *)p - mem), ignored;

	if (!hooked) {
		*word(offset) = v;
		return;
	}
	if (replay(&ignored))
		return;
	if (self->in_buffer == BUFFER)
		flush_one(self);
	self->buffer[self->in_buffer++] = (struct store){offset, v};
}

static void drain_buffer(struct agent *a)
{
	while (a->in_buffer)
		flush_one(a);
}

static void hook_fence(void)
{
	static const uint8_t place[MUTATIONS] = {
		[NO_BARRIER_BEFORE_KICK] = KICK,
		[NO_BARRIER_BEFORE_CALL] = CALL,
		[NO_BARRIER_IN_ENABLE_KICKS] = ENABLE_KICKS,
		[NO_BARRIER_IN_ENABLE_CALLS] = ENABLE_CALLS,
	};
	uint16_t ignored;

	/* The partial flushes that may come before are steps of their own. */
	if (!hooked || (place[config.without] && self->at == place[config.without]) ||
	    replay(&ignored))
		return;
	drain_buffer(self);
}

/* A system call on an eventfd: its lock is a barrier, and the other side will wake. */
static void wake(struct state *s, int who)
{
	drain_buffer(self);
	s->agent[who].woken = 1;
}

/* --- the two threads ------------------------------------------------------------------------- */

static enum at after_add(struct state *s)
{
	struct vq_range range = {.gpa = 0, .len = 1};
	int head = s->submitted < config.requests
			   ? vq_driver_add(&driver, &range, 0, 1, false, s->submitted)
			   : -ENOSPC;

	if (head < 0)
		return GET_USED;
	s->submitted++;
	return PUBLISH;
}

static enum at after_get_used(struct state *s)
{
	struct vq_reply r;
	int got = vq_driver_get_used(&driver, &r);

	if (got < 0)
		abort(); /* also a finding: the ring went wrong */
	if (!got)
		return ENABLE_CALLS;
	s->completed++;
	return s->completed == config.requests ? DONE : ADD;
}

static enum at driver_call(struct state *s)
{
	bool more;

	switch (self->at) {
	case ADD:
		return after_add(s);
	case PUBLISH:
		vq_driver_publish(&driver);
		return KICK;
	case KICK:
		return vq_driver_should_kick(&driver) ? SEND_KICK : ADD;
	case SEND_KICK:
		wake(s, DEVICE);
		return ADD;
	case GET_USED:
		return after_get_used(s);
	case ENABLE_CALLS:
		more = vq_driver_enable_calls(&driver);
		if (config.without == NO_SECOND_LOOK_FOR_REPLIES)
			more = false;
		return more ? DISABLE_CALLS : WAIT_CALL;
	default: /* WAIT_CALL too: it has been woken */
		vq_driver_disable_calls(&driver);
		return GET_USED;
	}
}

static enum at after_pop(struct state *s)
{
	static struct iovec iov[4];
	struct vq_chain c = {.iov = iov, .max_iov = 4};
	int got = vq_device_pop(&device, &c);

	if (got < 0)
		abort();
	if (got)
		s->heads[s->nr_heads++] = c.head;
	if (s->nr_heads && (!got || !config.batch))
		return PUSH;
	return got ? POP : ENABLE_KICKS;
}

static enum at after_push(struct state *s)
{
	for (uint8_t i = 0; i < s->nr_heads; i++) {
		struct vq_used u = {.head = s->heads[i], .len = 1};

		if (vq_device_push(&device, &u, 1))
			abort();
	}
	memset(s->heads, 0, sizeof(s->heads));
	s->nr_heads = 0;
	return PUBLISH_USED;
}

static enum at device_call(struct state *s)
{
	bool more;

	switch (self->at) {
	case POP:
		return after_pop(s);
	case PUSH:
		return after_push(s);
	case PUBLISH_USED:
		vq_device_publish(&device);
		return CALL;
	case CALL:
		return vq_device_should_call(&device) ? SEND_CALL : POP;
	case SEND_CALL:
		wake(s, DRIVER);
		return POP;
	case ENABLE_KICKS:
		more = vq_device_enable_kicks(&device);
		if (config.without == NO_SECOND_LOOK_FOR_REQUESTS)
			more = false;
		return more ? DISABLE_KICKS : WAIT_KICK;
	default:
		vq_device_disable_kicks(&device);
		return POP;
	}
}

static bool waits(const struct agent *a)
{
	return a->at == DONE || ((a->at == WAIT_CALL || a->at == WAIT_KICK) && !a->woken);
}

/* One step of one agent, from @s to *next. */
static void step(const struct state *s, int who, struct state *next)
{
	enum at to;

	*next = *s;
	memcpy(mem, s->mem, sizeof(mem));
	memcpy(slots, s->slot, sizeof(slots));
	driver = s->driver;
	device.pop = s->pop;
	device.push = s->push;
	self = &next->agent[who];
	step_pos = 0;
	step_done = false;
	if (!setjmp(step_end)) {
		to = who == DRIVER ? driver_call(next) : device_call(next);
		if (self->at == WAIT_CALL || self->at == WAIT_KICK)
			self->woken = 0;
		self->at = (uint8_t)to;
		self->in_log = 0;
		memset(self->log, 0, sizeof(self->log));
		next->driver = driver;
		memcpy(next->slot, slots, sizeof(slots));
		next->pop = device.pop;
		next->push = device.push;
	} else {
		/* Left in its midst: what it counted will be counted again. */
		next->submitted = s->submitted;
		next->completed = s->completed;
		next->nr_heads = s->nr_heads;
		memcpy(next->heads, s->heads, sizeof(next->heads));
	}
	memcpy(next->mem, mem, sizeof(mem));
}

/* --- search ---------------------------------------------------------------------------------- */

#define SEEN_BITS  22u
#define DEPTH_MAX  600u
#define STATES_MAX (1u << (SEEN_BITS - 1))

static uint64_t *seen;
static uint32_t nr_seen;

static uint64_t hash_of(const struct state *s)
{
	const uint64_t *w = (const void *)s;
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < sizeof(*s) / sizeof(*w); i++) {
		h = (h ^ w[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* True: it was not there yet. (64 bits: of a million states two are taken for one once in 10^7.) */
static bool see(const struct state *s)
{
	uint64_t h = hash_of(s);
	uint32_t i = (uint32_t)(h >> (64 - SEEN_BITS));

	while (seen[i] && seen[i] != h)
		i = (i + 1) & ((1u << SEEN_BITS) - 1);
	if (seen[i])
		return false;
	seen[i] = h;
	if (++nr_seen > STATES_MAX)
		abort(); /* the model has grown: make the table so too */
	return true;
}

/* Whether some path from @s ends with both waiting and a request open. */
static bool loses_wakeup(const struct state *s, uint32_t depth)
{
	struct state next;
	bool stuck = true;

	if (depth > DEPTH_MAX)
		abort();
	for (int who = 0; who < AGENTS; who++) {
		if (s->agent[who].in_buffer) {
			stuck = false;
			next = *s;
			memcpy(mem, s->mem, sizeof(mem));
			flush_one(&next.agent[who]);
			memcpy(next.mem, mem, sizeof(mem));
			if (see(&next) && loses_wakeup(&next, depth + 1))
				return true;
		}
		if (waits(&s->agent[who]))
			continue;
		stuck = false;
		step(s, who, &next);
		if (see(&next) && loses_wakeup(&next, depth + 1))
			return true;
	}
	return stuck && s->completed < config.requests;
}

static void first_state(struct state *s)
{
	struct vq_layout l;

	memset(s, 0, sizeof(*s));
	hooked = false;
	if (vq_driver_layout(RING_SIZE, 0, &l) || l.bytes > MEM_BYTES ||
	    vq_driver_init(&driver, RING_SIZE, 0, config.features, mem, 0, 65535))
		abort();
	free(driver.slot);
	driver.slot = slots;
	vq_driver_reset(&driver, 65535);
	guest.nr = 0;
	if (vq_mem_add(&guest, 0, MEM_BYTES, mem) ||
	    vq_device_start(&device, &driver.ring, &guest, config.features, 65535))
		abort();
	hooked = true;
	memcpy(s->mem, mem, sizeof(mem));
	memcpy(&s->driver, &driver, sizeof(driver));
	memcpy(s->slot, slots, sizeof(slots));
	memcpy(&s->pop, &device.pop, sizeof(s->pop));
	memcpy(&s->push, &device.push, sizeof(s->push));
	s->agent[DRIVER].at = ADD;
	s->agent[DEVICE].at = DISABLE_KICKS;
}

static bool search(uint64_t features, uint8_t requests, bool batch, enum mutation without)
{
	struct state s;
	bool lost;

	config.features = features;
	config.requests = requests;
	config.batch = batch;
	config.without = without;
	seen = calloc(1u << SEEN_BITS, sizeof(*seen));
	if (!seen)
		abort();
	nr_seen = 0;
	first_state(&s);
	lost = see(&s) && loses_wakeup(&s, 0);
	free(seen);
	printf("  %s, %u requests, %s, without %s: %u states, %s\n",
	       features ? "EVENT_IDX" : "flags", requests,
	       batch ? "answered together" : "one by one", mutation_name[without], nr_seen,
	       lost ? "a wake-up is lost" : "none is lost");
	return lost;
}

#define EVENT (1ULL << VIRTIO_RING_F_EVENT_IDX)

static void none_is_lost_with_event_idx(void **state)
{
	assert_false(search(EVENT, 3, false, NOTHING));
	assert_false(search(EVENT, 6, false, NOTHING));
	assert_false(search(EVENT, 6, true, NOTHING));
}

static void none_is_lost_with_flags(void **state)
{
	assert_false(search(0, 3, false, NOTHING));
	assert_false(search(0, 6, false, NOTHING));
	assert_false(search(0, 6, true, NOTHING));
}

static void every_barrier_and_look_is_needed(void **state)
{
	for (int m = NOTHING + 1; m < MUTATIONS; m++) {
		assert_true(search(EVENT, 3, false, m));
		assert_true(search(0, 3, false, m));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_lost_with_event_idx),
		cmocka_unit_test(none_is_lost_with_flags),
		cmocka_unit_test(every_barrier_and_look_is_needed),
	};

	return cmocka_run_group_tests_name("wakeups", tests, NULL, NULL);
}
