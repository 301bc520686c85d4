// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace records: one ring buffer per CPU, read in turn. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "observe/guest_priv.h"

#include "guest.skel.h" /* uses the types above */

static int deliver(void *ctx, void *data, size_t size)
{
	struct obs_guest *g = ctx;
	const struct vqs_queue *queues = guest_map(g, MAP_QUEUES);
	const struct vqs_device *devices = guest_map(g, MAP_DEVICES);
	const struct vqs_trace *t = data;
	char tag[VQS_TAG_LEN] = "", name[VQS_QUEUE_NAME_LEN] = "";
	uint32_t index = 0;

	if (size < sizeof(*t))
		return 0;
	if (t->queue < g->dims.max_queues) {
		const struct vqs_queue *q = &queues[t->queue];

		index = q->index;
		memcpy(name, q->name, sizeof(name) - 1);
		if (q->device < g->dims.max_devices)
			memcpy(tag, devices[q->device].tag, sizeof(tag) - 1);
	}
	g->trace_fn(t, tag, name, index, g->trace_arg);
	return 0;
}

static int open_ring(struct obs_guest *g, uint32_t cpu)
{
	int err;

	g->ring_fd[cpu] =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "trace_ring", 0, 0, g->dims.ring_bytes, NULL);
	if (g->ring_fd[cpu] < 0)
		return g->ring_fd[cpu];
	err = bpf_map_update_elem(bpf_map__fd(g->skel->maps.trace_rings), &cpu, &g->ring_fd[cpu],
				  BPF_ANY);
	if (err)
		return err;
	if (g->rings)
		return ring_buffer__add(g->rings, g->ring_fd[cpu], deliver, g);
	g->rings = ring_buffer__new(g->ring_fd[cpu], deliver, g, NULL);
	return g->rings ? 0 : -errno;
}

int guest_open_rings(struct obs_guest *g)
{
	int err = 0;

	g->ring_fd = malloc(g->dims.cpus * sizeof(*g->ring_fd));
	if (!g->ring_fd)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < g->dims.cpus; cpu++)
		g->ring_fd[cpu] = -1;
	for (uint32_t cpu = 0; cpu < g->dims.cpus && !err; cpu++)
		err = open_ring(g, cpu);
	return err;
}

void guest_close_rings(struct obs_guest *g)
{
	ring_buffer__free(g->rings);
	g->rings = NULL;
	for (uint32_t cpu = 0; g->ring_fd && cpu < g->dims.cpus; cpu++)
		if (g->ring_fd[cpu] >= 0)
			close(g->ring_fd[cpu]);
	free(g->ring_fd);
	g->ring_fd = NULL;
}

int obs_guest_trace(struct obs_guest *g, obs_trace_fn fn, void *arg, int timeout_ms)
{
	g->trace_fn = fn;
	g->trace_arg = arg;
	return g->rings ? ring_buffer__poll(g->rings, timeout_ms) : -EINVAL;
}

uint64_t obs_guest_trace_lost(const struct obs_guest *g)
{
	const struct vqs_globals *all = &g->skel->bss->globals;

	return all->trace_lost + all->wake_missed;
}
