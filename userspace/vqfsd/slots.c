// SPDX-License-Identifier: GPL-2.0-or-later
/* Slots: chunks that stay where they are, a list of the free ones. */
#include "vqfsd/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GENERATION (1ULL << 32)

int fsd_slots_init(struct fsd_slots *t, size_t size)
{
	*t = (struct fsd_slots){.size = size};
	t->chunk = calloc(FSD_SLOT_CHUNKS, sizeof(*t->chunk));
	if (!t->chunk)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	return 0;
}

void fsd_slots_free(struct fsd_slots *t)
{
	if (!t->chunk)
		return;
	for (uint32_t i = 0; i < FSD_SLOT_CHUNKS && t->chunk[i]; i++)
		free(t->chunk[i]);
	free(t->chunk);
	t->chunk = NULL;
	pthread_mutex_destroy(&t->lock);
}

static struct fsd_slot *at(const struct fsd_slots *t, uint32_t index)
{
	uint32_t n = index / FSD_SLOT_CHUNK;
	char *chunk;

	if (!index || n >= FSD_SLOT_CHUNKS)
		return NULL;
	chunk = atomic_load_explicit(&t->chunk[n], memory_order_acquire);
	return chunk ? (struct fsd_slot *)(chunk + index % FSD_SLOT_CHUNK * t->size) : NULL;
}

/* The next index that was never used. Under the lock. */
static struct fsd_slot *make(struct fsd_slots *t)
{
	uint32_t index = t->made + 1, n = index / FSD_SLOT_CHUNK;
	struct fsd_slot *s;
	char *chunk;

	if (n >= FSD_SLOT_CHUNKS)
		return NULL;
	if (!t->chunk[n]) {
		chunk = aligned_alloc(64, FSD_SLOT_CHUNK * t->size);
		if (!chunk)
			return NULL;
		memset(chunk, 0, FSD_SLOT_CHUNK * t->size);
		atomic_store_explicit(&t->chunk[n], chunk, memory_order_release);
	}
	s = at(t, index);
	s->index = index;
	atomic_store_explicit(&t->made, index, memory_order_release);
	return s;
}

void *fsd_slots_take(struct fsd_slots *t)
{
	struct fsd_slot *s;

	pthread_mutex_lock(&t->lock);
	if (t->free) {
		s = at(t, t->free);
		t->free = s->next_free;
	} else {
		s = make(t);
	}
	pthread_mutex_unlock(&t->lock);
	if (s)
		atomic_fetch_add_explicit(&t->live, 1, memory_order_relaxed);
	return s;
}

void fsd_slot_publish(struct fsd_slot *s, uint32_t refs)
{
	atomic_fetch_add_explicit(&s->state, refs, memory_order_release);
}

void fsd_slots_return(struct fsd_slots *t, struct fsd_slot *s)
{
	/* Nobody else writes a state without references. */
	uint64_t state = atomic_load_explicit(&s->state, memory_order_relaxed);

	atomic_store_explicit(&s->state, state + GENERATION, memory_order_release);
	atomic_fetch_sub_explicit(&t->live, 1, memory_order_relaxed);
	pthread_mutex_lock(&t->lock);
	s->next_free = t->free;
	t->free = s->index;
	pthread_mutex_unlock(&t->lock);
}

/* A reference, if there are any, and of generation *@generation unless that is NULL. */
static bool get(struct fsd_slot *s, const uint32_t *generation)
{
	uint64_t state = atomic_load_explicit(&s->state, memory_order_relaxed);

	do {
		if (!(uint32_t)state || (generation && state >> 32 != *generation))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->state, &state, state + 1, memory_order_acquire, memory_order_relaxed));
	return true;
}

void *fsd_slots_get(const struct fsd_slots *t, uint64_t id)
{
	struct fsd_slot *s = at(t, (uint32_t)id);
	uint32_t generation = (uint32_t)(id >> 32);

	return s && get(s, &generation) ? s : NULL;
}

void *fsd_slots_next(const struct fsd_slots *t, uint32_t *index)
{
	uint32_t made = atomic_load_explicit(&t->made, memory_order_acquire);

	while (*index <= made) {
		struct fsd_slot *s = at(t, (*index)++);

		if (s && get(s, NULL))
			return s;
	}
	return NULL;
}
