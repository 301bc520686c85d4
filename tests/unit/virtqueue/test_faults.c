// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every breach of the rules that a guest or a daemon can commit, and which fault it is called. A
 * broken ring stays broken and is left alone; nothing ends the process.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "ring_rig.h"

#define SIZE    4u
#define IOVS    (VQ_CHAIN_MAX + VQ_MEM_REGIONS)
#define NEXT    VRING_DESC_F_NEXT
#define WRITE   VRING_DESC_F_WRITE
#define TABLE   VRING_DESC_F_INDIRECT
#define DATA    RIG_DATA_GPA
#define EVENT   (1ULL << VIRTIO_RING_F_EVENT_IDX)
#define TABLES  (1ULL << VIRTIO_RING_F_INDIRECT_DESC)
#define DATA_OF 60000u

static struct rig rig;
static struct iovec iov[IOVS];
static struct vq_chain chain;

static int set_up(void **state)
{
	rig_init(&rig, SIZE, SIZE, EVENT | TABLES, 65535, DATA_OF);
	chain = (struct vq_chain){.iov = iov, .max_iov = IOVS};
	return 0;
}

static int tear_down(void **state)
{
	rig_free(&rig);
	return 0;
}

static struct vring_desc desc(uint64_t addr, uint32_t len, uint16_t flags, uint16_t next)
{
	return (struct vring_desc){.addr = addr, .len = len, .flags = flags, .next = next};
}

/* Writes an entry of a table in the data. */
static void set_entry(uint64_t gpa, struct vring_desc e)
{
	for (size_t i = 0; i < sizeof(e); i++)
		*rig_byte(&rig, gpa + i) = ((uint8_t *)&e)[i];
}

/* Makes the chain at @head available, whatever it is. */
static void offer(uint16_t head)
{
	struct vring_avail *a = rig.driver.ring.avail;

	a->ring[a->idx % SIZE] = head;
	a->idx++;
}

static void expect(enum vq_fault f)
{
	uint16_t base = vq_device_base(&rig.device);

	assert_int_equal(vq_device_pop(&rig.device, &chain), -EBADMSG);
	assert_string_equal(vq_fault_name(rig.device.pop.fault), vq_fault_name(f));
	/* It stays so, whatever the guest does, and nobody spins on it. */
	offer(0);
	assert_int_equal(vq_device_pop(&rig.device, &chain), -EBADMSG);
	assert_false(vq_device_enable_kicks(&rig.device));
	assert_int_equal(vq_device_base(&rig.device), base);
}

static void expect_chain(uint32_t nr_read, uint32_t nr_write)
{
	assert_int_equal(vq_device_pop(&rig.device, &chain), 1);
	assert_int_equal(chain.nr_read, nr_read);
	assert_int_equal(chain.nr_write, nr_write);
}

static void avail_jump(void **state)
{
	rig.driver.ring.avail->idx += SIZE + 1;
	expect(VQ_FAULT_AVAIL_JUMP);
}

static void avail_back(void **state)
{
	rig.driver.ring.avail->idx--;
	expect(VQ_FAULT_AVAIL_JUMP);
}

static void head_beyond(void **state)
{
	offer(SIZE);
	expect(VQ_FAULT_HEAD);
}

static void next_beyond(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA, 1, NEXT, SIZE);
	offer(0);
	expect(VQ_FAULT_NEXT);
}

static void loop(void **state)
{
	for (uint16_t i = 0; i < SIZE; i++)
		rig.driver.ring.desc[i] = desc(DATA, 1, NEXT, (i + 1) % SIZE);
	offer(2);
	expect(VQ_FAULT_LOOP);
}

static void loop_of_nothing(void **state)
{
	rig.driver.ring.desc[1] = desc(DATA, 0, NEXT, 1);
	offer(1);
	expect(VQ_FAULT_LOOP);
}

static void as_long_as_the_ring(void **state)
{
	for (uint16_t i = 0; i < SIZE; i++)
		rig.driver.ring.desc[i] = desc(DATA, 1, i < SIZE - 1 ? NEXT : 0, i + 1);
	offer(0);
	expect_chain(SIZE, 0);
}

static void empty_buffers(void **state)
{
	rig.driver.ring.desc[0] = desc(0, 0, NEXT, 1);
	rig.driver.ring.desc[1] = desc(DATA, 3, NEXT | WRITE, 2);
	rig.driver.ring.desc[2] = desc(UINT64_MAX, 0, WRITE, 0);
	offer(0);
	expect_chain(0, 1);
	assert_int_equal(chain.descs, 3);
	assert_int_equal(chain.write_bytes, 3);
}

static void order(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA, 1, NEXT | WRITE, 1);
	rig.driver.ring.desc[1] = desc(DATA, 1, 0, 0);
	offer(0);
	expect(VQ_FAULT_ORDER);
}

static void order_of_empty_buffers(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA, 0, NEXT | WRITE, 1);
	rig.driver.ring.desc[1] = desc(DATA, 1, 0, 0);
	offer(0);
	expect(VQ_FAULT_ORDER);
}

static void address_below(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA - 1, 2, 0, 0);
	offer(0);
	expect(VQ_FAULT_ADDRESS);
}

static void address_beyond(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA + DATA_OF - 1, 2, 0, 0);
	offer(0);
	expect(VQ_FAULT_ADDRESS);
}

static void address_wraps(void **state)
{
	rig.driver.ring.desc[0] = desc(UINT64_MAX - 1, 16, WRITE, 0);
	offer(0);
	expect(VQ_FAULT_ADDRESS);
}

static void too_fragmented(void **state)
{
	chain.max_iov = RIG_PARTS - 1;
	rig.driver.ring.desc[0] = desc(DATA, DATA_OF, 0, 0);
	offer(0);
	expect(VQ_FAULT_TOO_FRAGMENTED);
}

/* 2^32 bytes and more need memory as large: it is never touched, so an address will do. */
static void too_big(void **state)
{
	assert_int_equal(vq_mem_add(&rig.mem, 1ULL << 40, 1ULL << 33, rig.ring_mem), 0);
	rig.driver.ring.desc[0] = desc(1ULL << 40, UINT32_MAX, NEXT, 1);
	rig.driver.ring.desc[1] = desc(1ULL << 40, 1, 0, 1);
	offer(0);
	expect(VQ_FAULT_TOO_BIG);
}

static void table_of(uint32_t entries, uint16_t last_flags)
{
	for (uint16_t i = 0; i < entries; i++)
		set_entry(DATA + i * 16u,
			  desc(DATA, 1, i + 1u < entries ? NEXT : last_flags, (uint16_t)(i + 1)));
	rig.driver.ring.desc[0] = desc(DATA, entries * 16, TABLE, 0);
}

static void indirect(void **state)
{
	/* Longer than the ring, across a border of regions, WRITE to be ignored (2.7.5.3.2). */
	table_of(VQ_CHAIN_MAX, 0);
	rig.driver.ring.desc[0].flags |= WRITE;
	offer(0);
	expect_chain(VQ_CHAIN_MAX, 0);
	assert_true(chain.indirect);
}

static void indirect_across_regions(void **state)
{
	uint64_t at = DATA + rig.part_bytes[0] - 5;

	set_entry(at, desc(DATA, 2, NEXT, 1));
	set_entry(at + 16, desc(DATA + 7, 3, WRITE, 0));
	rig.driver.ring.desc[0] = desc(at, 32, TABLE, 0);
	offer(0);
	expect_chain(1, 1);
	assert_ptr_equal(iov[1].iov_base, rig_byte(&rig, DATA + 7));
}

static void direct_before_indirect(void **state)
{
	table_of(2, WRITE);
	rig.driver.ring.desc[1] = desc(DATA, 9, NEXT, 0);
	offer(1);
	expect_chain(2, 1);
	assert_int_equal(chain.read_bytes, 10);
}

static void too_long(void **state)
{
	table_of(VQ_CHAIN_MAX + 1, 0);
	offer(0);
	expect(VQ_FAULT_TOO_LONG);
}

static void indirect_off(void **state)
{
	vq_device_start(&rig.device, &rig.driver.ring, &rig.mem, 0, 65535);
	table_of(1, 0);
	offer(0);
	expect(VQ_FAULT_INDIRECT_OFF);
}

static void indirect_next(void **state)
{
	table_of(1, 0);
	rig.driver.ring.desc[0].flags |= NEXT;
	offer(0);
	expect(VQ_FAULT_INDIRECT_NEXT);
}

static void indirect_nested(void **state)
{
	table_of(2, TABLE);
	offer(0);
	expect(VQ_FAULT_INDIRECT_NESTED);
}

static void indirect_of_no_entry(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA, 0, TABLE, 0);
	offer(0);
	expect(VQ_FAULT_INDIRECT_LENGTH);
}

static void indirect_of_half_an_entry(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA, 24, TABLE, 0);
	offer(0);
	expect(VQ_FAULT_INDIRECT_LENGTH);
}

static void indirect_beyond(void **state)
{
	rig.driver.ring.desc[0] = desc(DATA + DATA_OF - 16, 32, TABLE, 0);
	offer(0);
	expect(VQ_FAULT_INDIRECT_ADDRESS);
}

static void indirect_next_beyond(void **state)
{
	table_of(2, NEXT);
	offer(0);
	expect(VQ_FAULT_NEXT);
}

static void indirect_loop(void **state)
{
	table_of(3, NEXT);
	set_entry(DATA + 32, desc(DATA, 1, NEXT, 0));
	offer(0);
	expect(VQ_FAULT_LOOP);
}

static void a_mistake_of_the_caller_is_no_fault(void **state)
{
	struct vq_used u[SIZE + 1] = {{.head = SIZE}};

	assert_int_equal(vq_device_push(&rig.device, u, 1), -EINVAL);
	u[0].head = 0;
	assert_int_equal(vq_device_push(&rig.device, u, SIZE + 1), -EINVAL);
	assert_int_equal(vq_device_publish(&rig.device), 0);
	assert_int_equal(rig.device.pop.fault, VQ_FAULT_NONE);
}

/* --- what the driver sees -------------------------------------------------------------------- */

static struct vq_reply reply;

static int send_one(uint64_t token)
{
	struct vq_range range = {.gpa = DATA, .len = 10};
	int head = vq_driver_add(&rig.driver, &range, 0, 1, false, token);

	vq_driver_publish(&rig.driver);
	return head;
}

static void use(uint32_t id, uint32_t len)
{
	struct vring_used *u = rig.driver.ring.used;

	u->ring[u->idx % SIZE] = (struct vring_used_elem){.id = id, .len = len};
	u->idx++;
}

static void expect_reply_fault(enum vq_fault f)
{
	assert_int_equal(vq_driver_get_used(&rig.driver, &reply), -EBADMSG);
	assert_string_equal(vq_fault_name(reply.fault), vq_fault_name(f));
	assert_int_equal(rig.driver.fault, f);
}

static void used_head(void **state)
{
	int head = send_one(5);

	use(SIZE, 1);
	use((uint32_t)head | 1u << 16, 1);
	use((uint32_t)head, 10);
	expect_reply_fault(VQ_FAULT_USED_HEAD);
	expect_reply_fault(VQ_FAULT_USED_HEAD);
	assert_int_equal(vq_driver_get_used(&rig.driver, &reply), 1);
	assert_int_equal(reply.token, 5);
}

static void used_twice(void **state)
{
	int head = send_one(5);

	use((uint32_t)head, 1);
	use((uint32_t)head, 1);
	assert_int_equal(vq_driver_get_used(&rig.driver, &reply), 1);
	expect_reply_fault(VQ_FAULT_USED_UNKNOWN);
	assert_int_equal(rig.driver.in_flight, 0);
	assert_int_equal(rig.driver.nr_free, SIZE);
}

static void used_never_sent(void **state)
{
	use(3, 1);
	expect_reply_fault(VQ_FAULT_USED_UNKNOWN);
	assert_int_equal(vq_driver_get_used(&rig.driver, &reply), 0);
}

static void used_length(void **state)
{
	int head = send_one(9);

	use((uint32_t)head, 11);
	expect_reply_fault(VQ_FAULT_USED_LENGTH);
	assert_int_equal(reply.token, 9);
	assert_int_equal(reply.len, 11);
	assert_int_equal(reply.write_bytes, 10);
	assert_int_equal(rig.driver.in_flight, 0);
}

static void used_jump(void **state)
{
	send_one(1);
	rig.driver.ring.used->idx += SIZE + 1;
	expect_reply_fault(VQ_FAULT_USED_JUMP);
	rig.driver.ring.used->idx -= SIZE;
	expect_reply_fault(VQ_FAULT_USED_JUMP);
	assert_false(vq_driver_enable_calls(&rig.driver));
	vq_driver_reset(&rig.driver, 0);
	assert_int_equal(vq_driver_get_used(&rig.driver, &reply), 0);
	assert_int_equal(rig.driver.in_flight, 0);
}

static void every_fault_has_words(void **state)
{
	for (int f = 0; f < VQ_FAULTS; f++) {
		assert_non_null(vq_fault_name(f));
		assert_true(strlen(vq_fault_text(f)) > 5);
		for (int g = 0; g < f; g++)
			assert_string_not_equal(vq_fault_name(f), vq_fault_name(g));
	}
	assert_string_equal(vq_fault_name(VQ_FAULTS), "unknown");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(avail_jump),
		T(avail_back),
		T(head_beyond),
		T(next_beyond),
		T(loop),
		T(loop_of_nothing),
		T(as_long_as_the_ring),
		T(empty_buffers),
		T(order),
		T(order_of_empty_buffers),
		T(address_below),
		T(address_beyond),
		T(address_wraps),
		T(too_fragmented),
		T(too_big),
		T(indirect),
		T(indirect_across_regions),
		T(direct_before_indirect),
		T(too_long),
		T(indirect_off),
		T(indirect_next),
		T(indirect_nested),
		T(indirect_of_no_entry),
		T(indirect_of_half_an_entry),
		T(indirect_beyond),
		T(indirect_next_beyond),
		T(indirect_loop),
		T(a_mistake_of_the_caller_is_no_fault),
		T(used_head),
		T(used_twice),
		T(used_never_sent),
		T(used_length),
		T(used_jump),
		T(every_fault_has_words),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
