// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Native cost of each guest program's body, by BPF_PROG_RUN: rounds interleave all programs
 * (A B C ... A B C ...), the figure is the median over rounds, the spread beside it the quartiles.
 * Steps of a request's life are cumulative programs, so a step is the difference of two medians.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include <vqsteer/guest_abi.h>

#include "bodies.skel.h"

#define REPEAT    200000
#define ROUNDS    31
#define QUEUES    64
#define MAX_PROGS 32

struct bench {
	const char *name;
	int fd;
	double ns[ROUNDS];
};

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int run(int fd, int repeat, double *ns)
{
	char packet[64] = {};
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = repeat);
	int err = bpf_prog_test_run_opts(fd, &o);

	*ns = o.duration; /* of one run, averaged by the kernel */
	return err;
}

static int size_maps(struct bodies_bpf *b)
{
	bpf_map__set_max_entries(b->maps.queues, QUEUES);
	bpf_map__set_max_entries(b->maps.devices, 8);
	bpf_map__set_max_entries(b->maps.hists, QUEUES * VQS_HOPS);
	bpf_map__set_max_entries(b->maps.op_index, QUEUES * VQS_OPS);
	bpf_map__set_max_entries(b->maps.op_totals, QUEUES * 16);
	bpf_map__set_max_entries(b->maps.errors, QUEUES * VQS_ERRNOS);
	bpf_map__set_max_entries(b->maps.cpu_queue, QUEUES * 256);
	bpf_map__set_max_entries(b->maps.locks, QUEUES * VQS_QUEUE_LOCKS + 8 * VQS_DEVICE_LOCKS);
	bpf_map__set_max_entries(b->maps.slot_sets, 2048);
	bpf_map__set_max_entries(b->maps.vq_index, 256);
	return bpf_map__set_max_entries(b->maps.lock_index, 256);
}

static int load(struct bodies_bpf **out)
{
	struct bodies_bpf *b = bodies_bpf__open();
	double ns;

	if (!b)
		return -1;
	*(struct vqs_config *)&b->rodata->cfg = (struct vqs_config){
		.cpus = 256,
		.max_queues = QUEUES,
		.max_devices = 8,
		.max_ops = QUEUES * 16,
		.slot_set_shift = 32 - 11,
		.index_shift = 32 - 8,
		.max_stacks = 1,
		.locks = 1,
		.wake = 1,
		.trace_op = -1,
		.trace_index = -1,
		.detail_index = -1,
	};
	*out = b;
	if (size_maps(b) || bodies_bpf__load(b))
		return -1;
	return run(bpf_program__fd(b->progs.setup), 1, &ns);
}

static double quartile(const struct bench *b, int q)
{
	return b->ns[(ROUNDS - 1) * q / 4];
}

static void report(struct bench *b, size_t n)
{
	double before = 0, empty = quartile(&b[0], 2);

	printf("%-22s %8s %8s %8s %8s\n", "body", "ns", "q1", "q3", "step ns");
	for (size_t i = 0; i < n; i++) {
		double median = quartile(&b[i], 2) - empty;

		printf("%-22s %8.0f %8.0f %8.0f", b[i].name, median, quartile(&b[i], 1) - empty,
		       quartile(&b[i], 3) - empty);
		if (!strncmp(b[i].name, "life_", 5)) {
			printf(" %8.0f", median - before);
			before = median;
		}
		putchar('\n');
	}
	printf("one synchronous request, all bodies: %.0f ns (aim: 150)\n", before);
}

int main(void)
{
	struct bodies_bpf *b = NULL;
	struct bench bench[MAX_PROGS];
	struct bpf_program *prog;
	size_t n = 0;

	if (load(&b)) {
		fprintf(stderr, "bench bodies: cannot load BPF programs here; run as root\n");
		bodies_bpf__destroy(b);
		return 1;
	}
	bpf_object__for_each_program (prog, b->obj) {
		if (n < MAX_PROGS && strcmp(bpf_program__name(prog), "setup"))
			bench[n++] = (struct bench){.name = bpf_program__name(prog),
						    .fd = bpf_program__fd(prog)};
	}
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			if (run(bench[i].fd, REPEAT, &bench[i].ns[round]))
				return 1;
	for (size_t i = 0; i < n; i++)
		qsort(bench[i].ns, ROUNDS, sizeof(double), cmp);
	report(bench, n);
	bodies_bpf__destroy(b);
	return 0;
}
