/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One record per finished request, for `vqsteer trace`; compiled away unless it runs. */
#ifndef BPF_TRACE_H
#define BPF_TRACE_H

#include "tables.bpf.h"

INLINE bool trace_wanted(const struct vqs_slot *s, __u32 index, __u32 opcode, __u32 pid,
			 __s32 error, __u64 last_ns)
{
	if (cfg.trace_index >= 0 && (__u32)cfg.trace_index != index)
		return false;
	if (cfg.trace_op >= 0 && (__u32)cfg.trace_op != opcode)
		return false;
	if (cfg.trace_pid && cfg.trace_pid != pid)
		return false;
	if (cfg.trace_errors && error >= 0)
		return false;
	return !cfg.trace_slower_ns ||
	       elapsed(s->start_ns ?: s->submit_ns, last_ns) >= cfg.trace_slower_ns;
}

static __noinline int trace_request(const struct vqs_slot *s, __u64 req_addr, __u32 index,
				    __u64 wake_ns)
{
	struct fuse_req *req = (struct fuse_req *)req_addr;
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 opcode = BPF_CORE_READ(req, in.h.opcode);
	__u32 pid = BPF_CORE_READ(req, in.h.pid);
	__s32 error = BPF_CORE_READ(req, out.h.error);
	struct vqs_trace *t;
	void *ring;

	if (!trace_wanted(s, index, opcode, pid, error, wake_ns ?: s->end_ns))
		return 0;
	ring = bpf_map_lookup_elem(&trace_rings, &cpu);
	if (!ring)
		return 0;
	t = bpf_ringbuf_reserve(ring, sizeof(*t), 0);
	if (!t) {
		count(&globals.trace_lost, 1);
		return 0;
	}
	t->req = req_addr;
	t->unique = BPF_CORE_READ(req, in.h.unique);
	t->nodeid = BPF_CORE_READ(req, in.h.nodeid);
	t->start_ns = s->start_ns;
	t->dispatch_ns = s->dispatch_ns == VQS_DISPATCH_PENDING ? 0 : s->dispatch_ns;
	t->full_ns = s->full_ns;
	t->submit_ns = s->submit_ns;
	t->collect_ns = s->collect_ns;
	t->end_ns = s->end_ns;
	t->wake_ns = wake_ns;
	t->pid = pid;
	t->error = error;
	t->bytes_in = BPF_CORE_READ(req, in.h.len);
	t->bytes_out = BPF_CORE_READ(req, out.h.len);
	t->opcode = opcode;
	t->queue = s->queue;
	t->cpu = s->cpu;
	bpf_ringbuf_submit(t, 0);
	return 0;
}

#endif
