/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest side of observe: loads the BPF programs, attaches each on the best rung this kernel
 * has, and turns their maps into snapshots and trace records. It owns every BPF object, link and
 * mapping it makes; obs_guest_close() (or the process's end, however it comes) leaves nothing
 * attached.
 */
#ifndef OBSERVE_GUEST_H
#define OBSERVE_GUEST_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/snapshot.h"

struct obs_guest;

enum obs_rung { OBS_RUNG_NONE, OBS_RUNG_FENTRY, OBS_RUNG_KPROBE, OBS_RUNG_TRACEPOINT, OBS_RUNGS };

struct obs_guest_opts {
	const char *btf_path; /* --btf; NULL: the kernel's own */
	uint64_t max_memory;  /* bytes of BPF maps allowed; refused above (-E2BIG) */
	uint32_t slots;       /* requests that can be followed at once */
	uint32_t max_queues;  /* virtqueues there is room for; 0: 64 */
	bool locks;           /* watch locks */
	bool stacks;          /* keep waiters' stacks */
	bool timed;           /* count the programs' own run time (--self) */
	bool trace;           /* write trace records */
	bool trace_errors;
	int trace_op;    /* -1: all */
	int trace_index; /* queue index, -1: all */
	uint32_t trace_pid;
	uint64_t trace_slower_ns;
	int detail_index; /* queue whose opcodes show every hop, -1: none */
	uint32_t rungs;   /* bits of 1 << enum obs_rung that may be used; 0: all */
};

/* What became of one probe; doctor's table. */
struct obs_probe_status {
	const char *name;    /* "virtqueue_add_sgs" */
	const char *purpose; /* "submit: counts, time on the ring, ring full" */
	enum obs_rung rung;  /* OBS_RUNG_NONE: not attached */
	bool required;       /* nothing works without */
	char symbol[96];     /* what it is attached to */
	char why[160];       /* why no better rung, or why none; "" when the best */
};

void obs_guest_default_opts(struct obs_guest_opts *o);

/* BPF map bytes that @o takes for @queues queues on @cpus CPUs: the formula of docs/performance.md.
 */
uint64_t obs_guest_memory(const struct obs_guest_opts *o, uint32_t queues, uint32_t cpus);

/*
 * Loads and attaches. On failure *err (if not NULL) gets a message with thing, reason and remedy
 * that the caller frees. -EPERM, -ENOENT (no BTF, or symbols of virtio-fs missing: module not
 * loaded), -E2BIG (memory), -ENOTSUP (a required probe has no rung), -ENOMEM or libbpf's error.
 */
int obs_guest_open(struct obs_guest **g, const struct obs_guest_opts *o, char **err);
void obs_guest_close(struct obs_guest *g);
static inline void obs_guest_closep(struct obs_guest **g)
{
	obs_guest_close(*g);
}

/* All counters now. 0 or -errno. */
int obs_guest_snapshot(struct obs_guest *g, struct vqs_snapshot **out);

/* Whether stacks have names: false where the kernel hides addresses from this process. */
bool obs_guest_names_stacks(const struct obs_guest *g);

const struct obs_probe_status *obs_guest_probes(const struct obs_guest *g, size_t *nr);

/* Finished requests, each CPU's in order of their end; at most @timeout_ms for the first. Returns
 * how many were delivered or -errno (-EINTR on a signal). */
typedef void (*obs_trace_fn)(const struct vqs_trace *t, const char *tag, const char *queue,
			     uint32_t queue_index, void *arg);
int obs_guest_trace(struct obs_guest *g, obs_trace_fn fn, void *arg, int timeout_ms);
/*
 * Records that were not delivered: a full ring buffer, or an end or wake-up that was not seen. The
 * latter are noticed when the kernel uses the request's memory again.
 */
uint64_t obs_guest_trace_lost(const struct obs_guest *g);

#endif
