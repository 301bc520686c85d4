/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest for tests: memory in regions that are allocations of their own, so that ASan sees every
 * byte too far, a driver in it and a device on it.
 */
#ifndef TESTS_UNIT_VIRTQUEUE_RING_RIG_H
#define TESTS_UNIT_VIRTQUEUE_RING_RIG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "virtqueue/device.h"
#include "virtqueue/driver.h"

#define RIG_RING_GPA 0x40000000ULL
#define RIG_DATA_GPA 0x80000000ULL
#define RIG_PARTS    3 /* regions of the data, touching each other in the guest, not here */

struct rig {
	struct vq_mem mem;
	void *ring_mem;
	uint64_t data_bytes;
	uint8_t *part[RIG_PARTS];
	uint64_t part_bytes[RIG_PARTS];
	struct vq_driver driver;
	struct vq_device device;
};

#define RIG_CHECK(x)             \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static inline void rig_init(struct rig *r, uint32_t size, uint32_t table_max, uint64_t features,
			    uint16_t start, uint64_t data_bytes)
{
	uint64_t gpa = RIG_DATA_GPA;
	struct vq_layout l;

	memset(r, 0, sizeof(*r));
	RIG_CHECK(!vq_driver_layout(size, table_max, &l));
	r->ring_mem = aligned_alloc(64, l.bytes);
	RIG_CHECK(r->ring_mem && !vq_mem_add(&r->mem, RIG_RING_GPA, l.bytes, r->ring_mem));
	r->data_bytes = data_bytes;
	for (int i = 0; i < RIG_PARTS; i++) {
		/* Of odd sizes, so that whatever is laid out evenly crosses the borders. */
		r->part_bytes[i] = i < RIG_PARTS - 1 ? data_bytes / 3 | 1 : data_bytes;
		data_bytes -= r->part_bytes[i];
		r->part[i] = malloc(r->part_bytes[i]);
		RIG_CHECK(r->part[i] && !vq_mem_add(&r->mem, gpa, r->part_bytes[i], r->part[i]));
		gpa += r->part_bytes[i];
	}
	RIG_CHECK(!vq_driver_init(&r->driver, size, table_max, features, r->ring_mem, RIG_RING_GPA,
				  start));
	RIG_CHECK(!vq_device_start(&r->device, &r->driver.ring, &r->mem, features, start));
}

static inline void rig_free(struct rig *r)
{
	vq_driver_free(&r->driver);
	free(r->ring_mem);
	for (int i = 0; i < RIG_PARTS; i++)
		free(r->part[i]);
}

/* A byte of the data, found without the code under test. */
static inline uint8_t *rig_byte(struct rig *r, uint64_t gpa)
{
	uint64_t off = gpa - RIG_DATA_GPA;
	int i = 0;

	while (i < RIG_PARTS - 1 && off >= r->part_bytes[i])
		off -= r->part_bytes[i++];
	RIG_CHECK(off < r->part_bytes[i]);
	return &r->part[i][off];
}

#endif
