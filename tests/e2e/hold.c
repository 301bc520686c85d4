// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold DEVICE_INDEX HOLD_US: holds that virtio-fs device's queue lock for HOLD_US at each submit
 * until its standard input ends; then prints what it really did, as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hold.skel.h"

int main(int argc, char **argv)
{
	struct hold_bpf *b;
	uint64_t n;
	char c;

	if (argc != 3) {
		fprintf(stderr, "usage: hold DEVICE_INDEX HOLD_US\n");
		return 2;
	}
	b = hold_bpf__open();
	if (!b)
		return 1;
	b->rodata->device_index = strtoul(argv[1], NULL, 10);
	b->rodata->hold_ns = strtoull(argv[2], NULL, 10) * 1000;
	if (hold_bpf__load(b) || hold_bpf__attach(b)) {
		fprintf(stderr, "hold: cannot attach to virtqueue_add_sgs\n");
		hold_bpf__destroy(b);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	n = b->bss->holds;
	printf("{\"holds\":%" PRIu64 ",\"mean_ns\":%" PRIu64 ",\"longest_ns\":%" PRIu64 "}\n", n,
	       n ? (uint64_t)b->bss->held_ns / n : 0, (uint64_t)b->bss->longest_ns);
	hold_bpf__destroy(b);
	return 0;
}
