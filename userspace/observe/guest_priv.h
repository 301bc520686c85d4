/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guest*.c share: the open object, its sizes and its mappings. */
#ifndef OBSERVE_GUEST_PRIV_H
#define OBSERVE_GUEST_PRIV_H

#include <bpf/libbpf.h>

#include "observe/devices.h"
#include "observe/guest.h"
#include "observe/ksyms.h"
#include "observe/probes.h"
#include "observe/system.h"

struct guest_bpf;

/* Dimensions of the maps; every size follows from these. */
struct guest_dims {
	uint32_t cpus, max_queues, max_devices, max_ops, slot_set_bits, index_bits, max_stacks;
	uint32_t ring_bytes; /* of each CPU's trace ring; 0: no tracing */
	bool detail;
};

enum guest_map {
	MAP_QUEUES,
	MAP_DEVICES,
	MAP_HISTS,
	MAP_OP_INDEX,
	MAP_OP_TOTALS,
	MAP_OP_HOPS,
	MAP_ERRORS,
	MAP_CPU_QUEUE,
	MAP_LOCKS,
	MAP_SLOT_SETS,
	MAP_VQ_INDEX,
	MAP_LOCK_INDEX,
	MAP_STACK_STATS,
	GUEST_MAPS,
};

struct guest_mapping {
	void *addr;
	size_t size;
};

#define GUEST_MAX_LINKS 64

struct obs_guest {
	struct obs_guest_opts opts;
	struct guest_dims dims;
	struct guest_bpf *skel;
	struct guest_mapping mapping[GUEST_MAPS]; /* read-only */
	struct bpf_link *link[GUEST_MAX_LINKS];
	size_t nr_links;
	struct probe_plan *plan;         /* [obs_nr_probe_defs] */
	struct obs_probe_status *status; /* same */
	struct ksyms *syms;
	enum obs_spin spin; /* how spinlocks wait here; looked up by the first snapshot */
	bool spin_known;
	struct obs_devices sysfs; /* as sysfs described them ... */
	uint32_t sysfs_seen;      /* ... when BPF had seen this many */
	int stats_fd;             /* BPF_ENABLE_STATS is on while open; -1 */
	int *ring_fd;             /* [cpus] */
	struct ring_buffer *rings;
	obs_trace_fn trace_fn; /* of the obs_guest_trace() in progress */
	void *trace_arg;
};

static inline const void *guest_map(const struct obs_guest *g, enum guest_map m)
{
	return g->mapping[m].addr;
}

/* guest_maps.c */
void guest_dims(const struct obs_guest_opts *o, uint32_t queues, uint32_t cpus,
		struct guest_dims *d);
uint64_t guest_dims_bytes(const struct guest_dims *d);
int guest_size_maps(struct guest_bpf *skel, const struct guest_dims *d);
int guest_map_maps(struct obs_guest *g);
void guest_unmap_maps(struct obs_guest *g);

/* guest_attach.c */
int guest_attach_all(struct obs_guest *g, char **err);
void guest_tear_down(struct obs_guest *g);
unsigned int guest_allowed_rungs(const struct obs_guest_opts *o);
/* Puts a message into *err (NULL: nobody wants it) and returns @code. */
int guest_error(char **err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* guest_self.c: the parts of a snapshot that are about the programs; 0 or -errno. */
int guest_fill_self(const struct obs_guest *g, struct vqs_snapshot *s);
int guest_fill_stacks(const struct obs_guest *g, struct vqs_snapshot *s);

/* guest_trace.c */
int guest_open_rings(struct obs_guest *g);
void guest_close_rings(struct obs_guest *g);

#endif
