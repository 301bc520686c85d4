/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inodes that the guest knows: each an O_PATH descriptor, found by what it is on the host,
 * named to the guest by its slot. While one is here its descriptor keeps the host from giving its
 * number to another file, so equal identity is the same file.
 *
 * An inode stays while the guest's lookup count is not 0 (all of them together hold one reference)
 * or a request uses it (one reference each). Memory: 64 bytes, 4 to 8 of a hash table, and
 * in the host's kernel a struct file (256 bytes), whose dentry and inode cannot be reclaimed.
 */
#ifndef VQFSD_INODE_H
#define VQFSD_INODE_H

#include "vqfsd/slots.h"

#define FSD_SHARDS 64u

/* Which file it is on the host. */
struct fsd_identity {
	uint64_t dev, ino, mount;
};

struct fsd_inode {
	struct fsd_slot slot;
	struct fsd_identity identity;
	uint64_t lookups; /* the guest's; under the shard's lock */
	int fd;           /* O_PATH */
	uint32_t type;    /* S_IFMT bits */
	uint32_t hash;
	uint32_t next; /* index of the next one in the bucket; under the shard's lock */
};
_Static_assert(sizeof(struct fsd_inode) == 64, "a cache line each");

struct fsd_shard {
	_Alignas(64) pthread_mutex_t lock;
	uint32_t *bucket; /* indices of slots */
	uint32_t buckets; /* a power of two */
	uint32_t nr;
};

struct fsd_inodes {
	struct fsd_slots slots;
	struct fsd_shard shard[FSD_SHARDS];
};

/* 0 or -ENOMEM. */
int fsd_inodes_init(struct fsd_inodes *t);
/* Closes all. Nobody uses one. */
void fsd_inodes_free(struct fsd_inodes *t);

/* One more lookup of what is known under @identity: its number; 0: unknown. */
uint64_t fsd_inodes_find(struct fsd_inodes *t, const struct fsd_identity *identity);
/*
 * The same, and an unknown one is added. @fd is taken over in any case. 0 with *@id, or -ENOMEM.
 * The first one ever is the root: its number is FUSE_ROOT_ID, and no forget removes it.
 */
int fsd_inodes_add(struct fsd_inodes *t, const struct fsd_identity *identity, uint32_t type, int fd,
		   uint64_t *id);
/* Takes up to @lookups back; unknown numbers are ignored. */
void fsd_inodes_forget(struct fsd_inodes *t, uint64_t id, uint64_t lookups);
/* Everything but the root. */
void fsd_inodes_forget_all(struct fsd_inodes *t);

static inline struct fsd_inode *fsd_inode_get(const struct fsd_inodes *t, uint64_t id)
{
	return fsd_slots_get(&t->slots, id);
}
/* NULL is allowed. */
void fsd_inode_put(struct fsd_inodes *t, struct fsd_inode *i);

#endif
