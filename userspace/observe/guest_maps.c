// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes of the guest maps, what they cost, and their mappings. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

/* Trace rings: 256 KiB hold 1,600 records; on large machines less each, 16 MiB in all. */
#define RING_BYTES_MAX (256u << 10)
#define RING_BYTES_MIN (16u << 10)
#define RING_BYTES_ALL (16u << 20)
#define OPS_PER_QUEUE  16 /* a busy queue of a mixed load was seen to use 9 to 15 */

static uint32_t log2_up(uint32_t n)
{
	uint32_t bits = 0;

	while (bits < 31 && (1u << bits) < n)
		bits++;
	return bits;
}

static uint32_t ring_bytes(uint32_t cpus)
{
	uint32_t bytes = RING_BYTES_MAX;

	while (bytes > RING_BYTES_MIN && (uint64_t)bytes * cpus > RING_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

void guest_dims(const struct obs_guest_opts *o, uint32_t queues, uint32_t cpus,
		struct guest_dims *d)
{
	uint32_t locks;

	*d = (struct guest_dims){
		.cpus = cpus,
		.max_queues = queues,
		.max_devices = queues / 2 < 8 ? 8 : queues / 2,
		.max_ops = queues * OPS_PER_QUEUE,
		.slot_set_bits = log2_up(o->slots / VQS_WAYS),
		.max_stacks = o->stacks ? 1024 : 1,
		.detail = o->detail_index >= 0,
		.ring_bytes = o->trace ? ring_bytes(cpus) : 0,
	};
	locks = d->max_queues * VQS_QUEUE_LOCKS + d->max_devices * VQS_DEVICE_LOCKS;
	/* Room for every lock at half load of four-way buckets: an insert that fails is rare. */
	d->index_bits = log2_up(locks * 2 / VQS_INDEX_WAYS + 64);
}

struct map_size {
	uint64_t entries, value;
};

static void map_sizes(const struct guest_dims *d, struct map_size size[GUEST_MAPS])
{
	const uint64_t q = d->max_queues;

	size[MAP_QUEUES] = (struct map_size){q, sizeof(struct vqs_queue)};
	size[MAP_DEVICES] = (struct map_size){d->max_devices, sizeof(struct vqs_device)};
	size[MAP_HISTS] = (struct map_size){q * VQS_HOPS, sizeof(struct vqs_hist)};
	size[MAP_OP_INDEX] = (struct map_size){q * VQS_OPS, sizeof(__u64)};
	size[MAP_OP_TOTALS] = (struct map_size){d->max_ops, sizeof(struct vqs_hist)};
	size[MAP_OP_HOPS] =
		(struct map_size){d->detail ? VQS_OPS * VQS_HOPS : 1, sizeof(struct vqs_hist)};
	size[MAP_ERRORS] = (struct map_size){q * VQS_ERRNOS, sizeof(__u64)};
	size[MAP_CPU_QUEUE] = (struct map_size){q * d->cpus, sizeof(__u64)};
	size[MAP_LOCKS] =
		(struct map_size){q * VQS_QUEUE_LOCKS + (uint64_t)d->max_devices * VQS_DEVICE_LOCKS,
				  sizeof(struct vqs_lock)};
	size[MAP_SLOT_SETS] =
		(struct map_size){1ull << d->slot_set_bits, sizeof(struct vqs_slot_set)};
	size[MAP_VQ_INDEX] = (struct map_size){1ull << d->index_bits, sizeof(struct vqs_index)};
	size[MAP_LOCK_INDEX] = size[MAP_VQ_INDEX];
	size[MAP_STACK_STATS] = (struct map_size){d->max_stacks, sizeof(struct vqs_stack_stat)};
}

static uint64_t map_bytes(const struct map_size *s)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t stride = (s->value + 7) / 8 * 8; /* kernel/bpf/arraymap.c: elem_size */

	return (s->entries * stride + page - 1) / page * page;
}

uint64_t guest_dims_bytes(const struct guest_dims *d)
{
	struct map_size size[GUEST_MAPS];
	uint64_t bytes = 0;

	map_sizes(d, size);
	for (size_t i = 0; i < GUEST_MAPS; i++)
		bytes += map_bytes(&size[i]);
	bytes += (uint64_t)d->cpus * d->ring_bytes;
	if (d->max_stacks > 1)
		bytes += (uint64_t)d->max_stacks * VQS_STACK_DEPTH * sizeof(__u64);
	return bytes;
}

uint64_t obs_guest_memory(const struct obs_guest_opts *o, uint32_t queues, uint32_t cpus)
{
	struct guest_dims d;

	guest_dims(o, queues, cpus, &d);
	return guest_dims_bytes(&d);
}

static void skel_maps(struct guest_bpf *skel, struct bpf_map *map[GUEST_MAPS])
{
	map[MAP_QUEUES] = skel->maps.queues;
	map[MAP_DEVICES] = skel->maps.devices;
	map[MAP_HISTS] = skel->maps.hists;
	map[MAP_OP_INDEX] = skel->maps.op_index;
	map[MAP_OP_TOTALS] = skel->maps.op_totals;
	map[MAP_OP_HOPS] = skel->maps.op_hops;
	map[MAP_ERRORS] = skel->maps.errors;
	map[MAP_CPU_QUEUE] = skel->maps.cpu_queue;
	map[MAP_LOCKS] = skel->maps.locks;
	map[MAP_SLOT_SETS] = skel->maps.slot_sets;
	map[MAP_VQ_INDEX] = skel->maps.vq_index;
	map[MAP_LOCK_INDEX] = skel->maps.lock_index;
	map[MAP_STACK_STATS] = skel->maps.stack_stats;
}

int guest_size_maps(struct guest_bpf *skel, const struct guest_dims *d)
{
	struct map_size size[GUEST_MAPS];
	struct bpf_map *map[GUEST_MAPS];
	int err = 0;

	map_sizes(d, size);
	skel_maps(skel, map);
	for (size_t i = 0; i < GUEST_MAPS && !err; i++)
		err = bpf_map__set_max_entries(map[i], size[i].entries);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.stacks, d->max_stacks);
	if (!err && d->ring_bytes)
		err = bpf_map__set_max_entries(skel->maps.trace_rings, d->cpus);
	return err;
}

int guest_map_maps(struct obs_guest *g)
{
	struct map_size size[GUEST_MAPS];
	struct bpf_map *map[GUEST_MAPS];

	map_sizes(&g->dims, size);
	skel_maps(g->skel, map);
	for (size_t i = 0; i < GUEST_MAPS; i++) {
		size_t bytes = map_bytes(&size[i]);
		void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map[i]), 0);

		if (p == MAP_FAILED)
			return -errno;
		g->mapping[i] = (struct guest_mapping){.addr = p, .size = bytes};
	}
	return 0;
}

void guest_unmap_maps(struct obs_guest *g)
{
	for (size_t i = 0; i < GUEST_MAPS; i++)
		if (g->mapping[i].addr)
			munmap(g->mapping[i].addr, g->mapping[i].size);
}
