// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any bytes may be guest memory. The device pops until the ring is broken or
 * empty, reads and writes every byte it was given (the rings may be among them, as a guest can
 * arrange), answers; the driver takes whatever the used ring says. The first bytes choose sizes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "virtqueue/device.h"
#include "virtqueue/driver.h"

#define RING_GPA 0x1000
#define IOVS     (VQ_CHAIN_MAX + VQ_MEM_REGIONS)
#define POPS_MAX 3000

struct fuzz {
	struct vq_mem mem;
	struct vq_driver driver;
	struct vq_device device;
	uint8_t *ring, *more[2];
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

static const uint8_t *take(const uint8_t **data, size_t *size, size_t n)
{
	const uint8_t *at = *data;

	if (*size < n)
		return NULL;
	*data += n;
	*size -= n;
	return at;
}

/* Memory of exactly @n bytes, from what is left of the input. */
static uint8_t *region(struct fuzz *f, uint64_t gpa, size_t n, const uint8_t **data, size_t *size)
{
	size_t have = n < *size ? n : *size;
	uint8_t *p;

	check(!posix_memalign((void **)&p, 64, n) && !vq_mem_add(&f->mem, gpa, n, p));
	memset(p, 0, n);
	memcpy(p, take(data, size, have), have);
	return p;
}

static void touch(struct vq_chain *c)
{
	uint64_t bytes[2] = {0, 0};
	uint8_t sum = 0;

	check(c->nr_read + c->nr_write <= c->max_iov);
	for (uint32_t i = 0; i < c->nr_read + c->nr_write; i++) {
		uint8_t *p = c->iov[i].iov_base;

		bytes[i >= c->nr_read] += c->iov[i].iov_len;
		for (size_t k = 0; i < c->nr_read && k < c->iov[i].iov_len; k++)
			sum ^= p[k];
		if (i >= c->nr_read)
			memset(p, sum, c->iov[i].iov_len);
	}
	check(bytes[0] == c->read_bytes && bytes[1] == c->write_bytes);
}

static void serve(struct fuzz *f)
{
	static struct iovec iov[IOVS];
	struct vq_chain c = {.iov = iov, .max_iov = IOVS};
	int got = 1;

	for (int i = 0; i < POPS_MAX && (got = vq_device_pop(&f->device, &c)) > 0; i++) {
		check(c.head < f->device.ring.size);
		touch(&c);
		check(vq_device_finish(&f->device, c.head, c.write_bytes) >= 0);
		vq_device_depth(&f->device);
	}
	check(got >= 0 || (got == -EBADMSG && f->device.pop.fault));
	check(!f->device.pop.fault || !vq_device_enable_kicks(&f->device));
}

static void reap(struct fuzz *f)
{
	struct vq_reply r;
	uint32_t known = f->driver.in_flight;
	int got = 1;

	for (int i = 0; i < POPS_MAX && got; i++) {
		got = vq_driver_get_used(&f->driver, &r);
		known -= got > 0 || r.fault == VQ_FAULT_USED_LENGTH;
		check(got >= 0 || r.fault);
		check(f->driver.in_flight == known);
	}
	check(f->driver.nr_free + f->driver.in_flight == f->driver.ring.size);
}

/*
 * Some requests are in flight, by the driver's own records; what it wrote into the ring for them is
 * then replaced by the input.
 */
static void set_up(struct fuzz *f, uint32_t ring, uint64_t features, size_t bytes)
{
	struct vq_range one = {.gpa = RING_GPA, .len = 16};
	uint8_t *input = malloc(bytes);

	check(input);
	memcpy(input, f->ring, bytes);
	check(!vq_driver_init(&f->driver, ring, 2, features, f->ring, RING_GPA, 0));
	for (uint32_t i = 0; i < ring / 2; i++)
		check(vq_driver_add(&f->driver, &one, 0, 1, false, i) >= 0);
	memcpy(f->ring, input, bytes);
	check(!vq_device_start(&f->device, &f->driver.ring, &f->mem, features, 0));
	free(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *head = take(&data, &size, 4);
	struct fuzz f = {0};
	struct vq_layout l;
	uint64_t features;
	uint32_t ring;

	if (!head)
		return 0;
	ring = 1u << head[0] % 5;
	features = (uint64_t)(head[1] & 1) << VIRTIO_RING_F_EVENT_IDX |
		   (uint64_t)(head[1] >> 1 & 1) << VIRTIO_RING_F_INDIRECT_DESC;
	check(!vq_driver_layout(ring, 2, &l));
	f.ring = region(&f, RING_GPA, l.bytes, &data, &size);
	/* One that touches it, one apart, of any length. */
	f.more[0] = region(&f, RING_GPA + l.bytes, 1 + head[2], &data, &size);
	f.more[1] = region(&f, 0, 1 + head[3], &data, &size);
	set_up(&f, ring, features, l.bytes);
	reap(&f);
	serve(&f);
	reap(&f);
	vq_driver_free(&f.driver);
	free(f.ring);
	free(f.more[0]);
	free(f.more[1]);
	return 0;
}
