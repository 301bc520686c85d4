// SPDX-License-Identifier: GPL-2.0-or-later
/* One finished request as JSON, and the hops that its timestamps bound. */
#include "export/json.h"

#include <string.h>

#include "export/build.h"

static bool between(uint64_t from, uint64_t to, uint64_t *ns)
{
	if (!from || !to)
		return false;
	/* As the histograms have it: clocks of two CPUs may disagree by a few nanoseconds. */
	*ns = to > from ? to - from : 0;
	return true;
}

bool exp_trace_hop(const struct vqs_trace *t, enum vqs_hop hop, uint64_t *ns)
{
	switch (hop) {
	case VQS_HOP_BACKGROUND:
		return between(t->start_ns, t->dispatch_ns, ns);
	case VQS_HOP_INPUT:
		return between(t->dispatch_ns ? t->dispatch_ns : t->start_ns, t->submit_ns, ns);
	case VQS_HOP_DEVICE:
		return between(t->submit_ns, t->collect_ns, ns);
	case VQS_HOP_COMPLETE:
		return between(t->collect_ns, t->end_ns, ns);
	case VQS_HOP_WAKE:
		return between(t->end_ns, t->wake_ns, ns);
	case VQS_HOP_TOTAL:
		return between(t->start_ns, t->end_ns, ns);
	case VQS_HOP_RING_FULL:
		return between(t->full_ns, t->submit_ns, ns);
	default: /* interrupts belong to no request */
		return false;
	}
}

static void put_trace(struct exp_build *b, struct json_object *o, const struct vqs_trace *t)
{
	struct json_object *hops;
	uint64_t ns;

	exp_put_u64(b, o, "unique", t->unique);
	exp_put_u64(b, o, "nodeid", t->nodeid);
	exp_put_u64(b, o, "cpu", t->cpu);
	exp_put_u64(b, o, "pid", t->pid);
	exp_put_u64(b, o, "opcode", t->opcode);
	exp_put_text(b, o, "op", obs_op_name(t->opcode), SIZE_MAX);
	exp_put_u64(b, o, "bytes_in", t->bytes_in);
	exp_put_u64(b, o, "bytes_out", t->bytes_out);
	if (t->error) {
		const char *name = t->error < 0 ? strerrorname_np(-t->error) : NULL;

		exp_put_i64(b, o, "error", t->error);
		if (name)
			exp_put_text(b, o, "errno", name, SIZE_MAX);
	}
	exp_put_u64(b, o, "end_ns", t->end_ns);
	hops = exp_put_object(b, o, "hops");
	for (int i = 0; i < VQS_HOPS; i++)
		if (exp_trace_hop(t, (enum vqs_hop)i, &ns))
			exp_put_u64(b, hops, obs_hop_name((enum vqs_hop)i), ns);
}

int exp_trace_json(const struct vqs_trace *t, const char *tag, const char *queue,
		   uint32_t queue_index, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct exp_build b = {0};

	exp_put_text(&b, o, "schema", EXP_TRACE_SCHEMA, SIZE_MAX);
	exp_put_text(&b, o, "tag", tag, SIZE_MAX);
	exp_put_u64(&b, o, "queue", queue_index);
	exp_put_text(&b, o, "queue_name", queue, SIZE_MAX);
	put_trace(&b, o, t);
	return exp_write_line(&b, o, out);
}
