// SPDX-License-Identifier: GPL-2.0-or-later
/* Mounts, devices and CPU lists out of made-up files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/devices.h"
#include "tree.h"

static const char mountinfo[] =
	"22 1 0:20 / / rw,relatime shared:1 - virtiofs rootfs rw\n"
	"23 22 0:21 / /proc rw,nosuid - proc proc rw\n"
	"30 22 0:30 / /mnt/a\\040b rw master:1 propagate_from:2 - virtiofs da\\134ta rw\n"
	"31 22 0:31 / /mnt/virtiofs rw - ext4 /dev/virtiofs rw\n"
	"32 22 0:32 / /odd rw -\n"
	"33 22 0:33 / /short\n"
	"\n"
	"34 22 0:34 / /last rw - virtiofs last ro";

static void mounts_are_found(void **state)
{
	_cleanup_fclose_ FILE *f = fmemopen((void *)mountinfo, sizeof(mountinfo) - 1, "r");
	struct obs_mounts m;

	assert_int_equal(obs_mounts_parse(f, &m), 0);
	assert_int_equal(m.nr, 3);
	assert_string_equal(m.mount[0].tag, "rootfs");
	assert_string_equal(m.mount[0].path, "/");
	assert_string_equal(m.mount[1].tag, "da\\ta");
	assert_string_equal(m.mount[1].path, "/mnt/a b");
	assert_string_equal(m.mount[2].tag, "last");
	assert_true(obs_mounts_have(&m, "rootfs"));
	assert_true(obs_mounts_have(&m, NULL));
	assert_false(obs_mounts_have(&m, "nope"));
	obs_mounts_free(&m);
	assert_false(obs_mounts_have(&m, NULL));
}

static void no_proc_is_an_error(void **state)
{
	_cleanup_tree_ struct tree t;
	struct obs_mounts m;

	assert_int_equal(tree_make(&t), 0);
	assert_int_equal(obs_mounts_read(t.root, &m), -ENOENT);
	assert_int_equal(m.nr, 0);
	tree_put(&t, "/proc/self/mountinfo", mountinfo);
	assert_int_equal(obs_mounts_read(t.root, &m), 0);
	assert_int_equal(m.nr, 3);
	obs_mounts_free(&m);
}

static void no_device(void **state)
{
	_cleanup_tree_ struct tree t;
	struct obs_devices d;

	assert_int_equal(tree_make(&t), 0);
	assert_int_equal(obs_devices_read(t.root, &d), 0);
	assert_int_equal(d.nr, 0);
	obs_devices_free(&d);
}

static void put_device(const struct tree *t, const char *index, const char *tag)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/fs/virtiofs/%s/tag", index);
	tree_put(t, path, tag);
}

static void put_queue(const struct tree *t, const char *index, int queue, const char *cpus)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/fs/virtiofs/%s/mqs/%d/cpu_list", index, queue);
	tree_put(t, path, cpus);
}

/* Linux 6.12: two devices, one of them with a map. */
static void devices_with_queues(void **state)
{
	_cleanup_tree_ struct tree t;
	struct obs_devices d;

	assert_int_equal(tree_make(&t), 0);
	put_device(&t, "10", "data\n");
	put_queue(&t, "10", 0, "0, 1, 2, 3\n");
	put_queue(&t, "10", 1, "0, 2\n");
	put_queue(&t, "10", 2, "3\n");
	put_queue(&t, "10", 3, "\n");
	put_device(&t, "2", "home\n");
	put_device(&t, "junk", "no\n");
	assert_int_equal(obs_devices_read(t.root, &d), 0);
	assert_int_equal(d.nr, 2);
	assert_int_equal(d.device[0].virtio_index, 2);
	assert_string_equal(d.device[0].tag, "home");
	assert_int_equal(d.device[0].request_queues, 0);
	assert_int_equal(d.device[0].nr_map, 0);
	assert_string_equal(d.device[1].tag, "data");
	assert_int_equal(d.device[1].request_queues, 3);
	assert_int_equal(d.device[1].nr_map, 4);
	assert_int_equal(d.device[1].map[0], 1);
	assert_int_equal(d.device[1].map[1], OBS_NO_QUEUE);
	assert_int_equal(d.device[1].map[2], 1);
	assert_int_equal(d.device[1].map[3], 2);
	obs_devices_free(&d);
}

/* Linux 6.1: only the driver's folder. */
static void devices_without_sysfs(void **state)
{
	_cleanup_tree_ struct tree t;
	struct obs_devices d;

	assert_int_equal(tree_make(&t), 0);
	tree_put(&t, "/sys/bus/virtio/drivers/virtiofs/virtio3/features", "");
	tree_put(&t, "/sys/bus/virtio/drivers/virtiofs/bind", "");
	tree_put(&t, "/sys/bus/virtio/drivers/virtiofs/virtiox", "");
	assert_int_equal(obs_devices_read(t.root, &d), 0);
	assert_int_equal(d.nr, 1);
	assert_int_equal(d.device[0].virtio_index, 3);
	assert_string_equal(d.device[0].tag, "");
	obs_devices_free(&d);
}

static void collect(uint32_t cpu, void *arg)
{
	uint64_t *bits = arg;

	if (cpu < 64)
		*bits |= 1ULL << cpu;
}

static void cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int want;
		uint64_t bits;
	} lists[] = {
		{"", 0, 0},
		{"\n", 0, 0},
		{"0", 0, 1},
		{"0\n", 0, 1},
		{"0, 2, 3\n", 0, 13},
		{"0-3,7", 0, 143},
		{" 5 ,6 ", 0, 96},
		{"3-3", 0, 8},
		{"8191", 0, 0},
		{"8192", -EINVAL, 0},
		{"3-1", -EINVAL, 0},
		{"1-", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"a", -EINVAL, 0},
		{"1 2", -EINVAL, 2},
		{"1,,2", -EINVAL, 2},
		{"4294967297", -EINVAL, 0},
		{"1-99999999999", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		uint64_t bits = 0;

		assert_int_equal(obs_cpu_list_parse(lists[i].text, collect, &bits), lists[i].want);
		assert_int_equal(bits, lists[i].bits);
	}
}

static void possible_cpus(void **state)
{
	_cleanup_tree_ struct tree t;

	assert_int_equal(tree_make(&t), 0);
	assert_int_equal(obs_possible_cpus(t.root), 1);
	tree_put(&t, "/sys/devices/system/cpu/possible", "0-7\n");
	assert_int_equal(obs_possible_cpus(t.root), 8);
	tree_put(&t, "/sys/devices/system/cpu/possible", "nonsense\n");
	assert_int_equal(obs_possible_cpus(t.root), 1);
}

static void lines(void **state)
{
	_cleanup_tree_ struct tree t;
	char buf[8];

	assert_int_equal(tree_make(&t), 0);
	assert_int_equal(obs_read_line(t.root, "/none", buf, sizeof(buf)), -ENOENT);
	tree_put(&t, "/f", "1234567\nmore");
	assert_int_equal(obs_read_line(t.root, "/f", buf, sizeof(buf)), -E2BIG);
	tree_put(&t, "/f", "1234567");
	assert_int_equal(obs_read_line(t.root, "/f", buf, sizeof(buf)), 7);
	tree_put(&t, "/f", "123\nmore");
	assert_int_equal(obs_read_line(t.root, "/f", buf, sizeof(buf)), 3);
	assert_string_equal(buf, "123");
	tree_put(&t, "/f", "");
	assert_int_equal(obs_read_line(t.root, "/f", buf, sizeof(buf)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_are_found),
		cmocka_unit_test(no_proc_is_an_error),
		cmocka_unit_test(no_device),
		cmocka_unit_test(devices_with_queues),
		cmocka_unit_test(devices_without_sysfs),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(possible_cpus),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
