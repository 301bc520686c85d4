// SPDX-License-Identifier: GPL-2.0-or-later
/* Inodes: a hash table in shards over the slots. */
#include "vqfsd/inode.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fuse_abi.h"

#define BUCKETS_MIN 16u

int fsd_inodes_init(struct fsd_inodes *t)
{
	int err = fsd_slots_init(&t->slots, sizeof(struct fsd_inode));

	if (err)
		return err;
	for (uint32_t s = 0; s < FSD_SHARDS; s++) {
		t->shard[s] = (struct fsd_shard){.buckets = BUCKETS_MIN};
		pthread_mutex_init(&t->shard[s].lock, NULL);
		t->shard[s].bucket = calloc(BUCKETS_MIN, sizeof(uint32_t));
		if (!t->shard[s].bucket)
			err = -ENOMEM;
	}
	if (err)
		fsd_inodes_free(t);
	return err;
}

void fsd_inodes_free(struct fsd_inodes *t)
{
	struct fsd_inode *i;
	uint32_t at = 1;

	if (!t->slots.chunk)
		return;
	while ((i = fsd_slots_next(&t->slots, &at)))
		close(i->fd);
	for (uint32_t s = 0; s < FSD_SHARDS; s++) {
		free(t->shard[s].bucket);
		pthread_mutex_destroy(&t->shard[s].lock);
	}
	fsd_slots_free(&t->slots);
}

/* splitmix64's finish: low bits choose the shard, those above it the bucket. */
static uint32_t hash(const struct fsd_identity *id)
{
	uint64_t x = id->ino + id->dev * 0x9e3779b97f4a7c15ULL + id->mount * 0xd1342543de82ef95ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)(x >> 32 ^ x);
}

static struct fsd_inode *at(struct fsd_inodes *t, uint32_t index)
{
	char *chunk = t->slots.chunk[index / FSD_SLOT_CHUNK];

	return (struct fsd_inode *)(chunk + index % FSD_SLOT_CHUNK * sizeof(struct fsd_inode));
}

static struct fsd_shard *shard_of(struct fsd_inodes *t, uint32_t h)
{
	return &t->shard[h % FSD_SHARDS];
}

static uint32_t *bucket_of(struct fsd_shard *s, uint32_t h)
{
	return &s->bucket[h / FSD_SHARDS & (s->buckets - 1)];
}

/* Under the shard's lock, as all below. */
static struct fsd_inode *search(struct fsd_inodes *t, struct fsd_shard *s, uint32_t h,
				const struct fsd_identity *id)
{
	for (uint32_t n = *bucket_of(s, h); n; n = at(t, n)->next) {
		struct fsd_inode *i = at(t, n);

		if (i->identity.ino == id->ino && i->identity.dev == id->dev &&
		    i->identity.mount == id->mount)
			return i;
	}
	return NULL;
}

/* Twice as many buckets; without memory for them the chains get longer. */
static void grow(struct fsd_inodes *t, struct fsd_shard *s)
{
	uint32_t buckets = s->buckets, *old = s->bucket;
	uint32_t *new = calloc(buckets * 2ULL, sizeof(uint32_t));

	if (!new)
		return;
	s->bucket = new;
	s->buckets = buckets * 2;
	for (uint32_t b = 0; b < buckets; b++) {
		for (uint32_t n = old[b], next; n; n = next) {
			uint32_t *to = bucket_of(s, at(t, n)->hash);

			next = at(t, n)->next;
			at(t, n)->next = *to;
			*to = n;
		}
	}
	free(old);
}

static void insert(struct fsd_inodes *t, struct fsd_shard *s, struct fsd_inode *i)
{
	uint32_t *to;

	if (s->nr >= s->buckets)
		grow(t, s);
	to = bucket_of(s, i->hash);
	i->next = *to;
	*to = i->slot.index;
	s->nr++;
}

static void unhash(struct fsd_inodes *t, struct fsd_shard *s, struct fsd_inode *i)
{
	uint32_t *to = bucket_of(s, i->hash);

	while (*to != i->slot.index)
		to = &at(t, *to)->next;
	*to = i->next;
	s->nr--;
}

uint64_t fsd_inodes_find(struct fsd_inodes *t, const struct fsd_identity *identity)
{
	uint32_t h = hash(identity);
	struct fsd_shard *s = shard_of(t, h);
	struct fsd_inode *i;
	uint64_t id = 0;

	pthread_mutex_lock(&s->lock);
	i = search(t, s, h, identity);
	if (i) {
		i->lookups++;
		id = fsd_slot_id(&i->slot);
	}
	pthread_mutex_unlock(&s->lock);
	return id;
}

int fsd_inodes_add(struct fsd_inodes *t, const struct fsd_identity *identity, uint32_t type, int fd,
		   uint64_t *id)
{
	uint32_t h = hash(identity);
	struct fsd_shard *s = shard_of(t, h);
	struct fsd_inode *i = fsd_slots_take(&t->slots), *other;

	if (!i) {
		close(fd);
		return -ENOMEM;
	}
	i->identity = *identity;
	i->type = type;
	i->hash = h;
	i->lookups = 1;
	i->fd = fd;
	pthread_mutex_lock(&s->lock);
	/* Another thread may have looked it up meanwhile. */
	other = search(t, s, h, identity);
	if (other) {
		other->lookups++;
		*id = fsd_slot_id(&other->slot);
	} else {
		insert(t, s, i);
		*id = fsd_slot_id(&i->slot);
		fsd_slot_publish(&i->slot, 1);
	}
	pthread_mutex_unlock(&s->lock);
	if (other) {
		close(fd);
		fsd_slots_return(&t->slots, &i->slot);
	}
	return 0;
}

void fsd_inode_put(struct fsd_inodes *t, struct fsd_inode *i)
{
	if (!i || !fsd_slot_put(&i->slot))
		return;
	close(i->fd);
	fsd_slots_return(&t->slots, &i->slot);
}

static void forget(struct fsd_inodes *t, struct fsd_inode *i, uint64_t lookups)
{
	struct fsd_shard *s = shard_of(t, i->hash);
	bool last;

	if (fsd_slot_id(&i->slot) == FUSE_ROOT_ID)
		return;
	pthread_mutex_lock(&s->lock);
	last = i->lookups && lookups >= i->lookups;
	if (last) {
		i->lookups = 0;
		unhash(t, s, i);
	} else if (i->lookups) {
		i->lookups -= lookups;
	}
	pthread_mutex_unlock(&s->lock);
	if (last)
		fsd_inode_put(t, i);
}

void fsd_inodes_forget(struct fsd_inodes *t, uint64_t id, uint64_t lookups)
{
	struct fsd_inode *i = fsd_inode_get(t, id);

	if (!i)
		return;
	forget(t, i, lookups);
	fsd_inode_put(t, i);
}

void fsd_inodes_forget_all(struct fsd_inodes *t)
{
	struct fsd_inode *i;
	uint32_t at = 1;

	while ((i = fsd_slots_next(&t->slots, &at))) {
		forget(t, i, UINT64_MAX);
		fsd_inode_put(t, i);
	}
}
