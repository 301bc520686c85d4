/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finding things by a kernel address, without hash maps: a table is an array of sets, the address
 * picks the set, and all ways of the set are compared. Claiming a way is one compare-and-swap on
 * its key, giving it back one store of 0.
 */
#ifndef BPF_TABLES_H
#define BPF_TABLES_H

#include "maps.bpf.h"

#define GOLDEN_RATIO_64 0x61C8864680B583EBULL /* include/linux/hash.h */

/* The top 32 - @shift bits of a multiplicative hash. */
INLINE __u32 hash_addr(__u64 addr, __u32 shift)
{
	return (addr * GOLDEN_RATIO_64) >> 32 >> shift;
}

/* --- address -> u32 (virtqueues, locks) --- */

INLINE int index_find(void *map, __u64 addr, __u32 *val)
{
	__u32 set = hash_addr(addr, cfg.index_shift);
	struct vqs_index *ix = bpf_map_lookup_elem(map, &set);

	if (!ix || !addr) /* 0 is what free ways hold */
		return 0;
	for (int way = 0; way < VQS_INDEX_WAYS; way++) {
		if (ix->key[way] == addr) {
			*val = ix->val[way];
			return 1;
		}
	}
	return 0;
}

/* 1 when @addr is in the table afterwards. val is written before the key becomes visible, so two
 * that insert the same address must insert the same value. */
INLINE int index_insert(void *map, __u64 addr, __u32 val)
{
	__u32 set = hash_addr(addr, cfg.index_shift), seen;
	struct vqs_index *ix;

	if (index_find(map, addr, &seen))
		return 1;
	ix = bpf_map_lookup_elem(map, &set);
	if (!ix)
		return 0;
	for (int way = 0; way < VQS_INDEX_WAYS; way++) {
		if (__sync_val_compare_and_swap(&ix->key[way], 0, 1) != 0)
			continue;
		ix->val[way] = val;
		__sync_lock_test_and_set(&ix->key[way], addr);
		return 1;
	}
	count(&globals.index_full, 1);
	return 0;
}

INLINE void index_remove(void *map, __u64 addr)
{
	__u32 set = hash_addr(addr, cfg.index_shift);
	struct vqs_index *ix = bpf_map_lookup_elem(map, &set);

	if (!ix || !addr)
		return;
	for (int way = 0; way < VQS_INDEX_WAYS; way++)
		if (ix->key[way] == addr)
			ix->key[way] = 0;
}

/* --- request -> slot --- */

INLINE struct vqs_slot_set *slot_set_of(__u64 req)
{
	__u32 set = hash_addr(req, cfg.slot_set_shift);

	return bpf_map_lookup_elem(&slot_sets, &set);
}

/* Way of @req in @set, VQS_WAYS when it has none. */
INLINE __u32 slot_way(const struct vqs_slot_set *set, __u64 req)
{
	for (__u32 way = 0; way < VQS_WAYS; way++)
		if (set->req[way] == req)
			return way;
	return VQS_WAYS;
}

INLINE struct vqs_slot *slot_find(__u64 req, struct vqs_slot_set **set, __u32 *way)
{
	struct vqs_slot_set *s = slot_set_of(req);
	__u32 w;

	if (!s)
		return NULL;
	w = slot_way(s, req);
	if (w >= VQS_WAYS)
		return NULL;
	*set = s;
	*way = w & (VQS_WAYS - 1);
	return &s->slot[w & (VQS_WAYS - 1)];
}

/* A free slot of @set, now of @req; NULL when all ways are taken. */
INLINE struct vqs_slot *slot_claim(struct vqs_slot_set *set, __u64 req)
{
	for (__u32 way = 0; way < VQS_WAYS; way++)
		if (!set->req[way] && __sync_val_compare_and_swap(&set->req[way], 0, req) == 0)
			return &set->slot[way];
	return NULL;
}

INLINE void slot_free(struct vqs_slot_set *set, __u32 way)
{
	set->req[way & (VQS_WAYS - 1)] = 0;
}

#endif
