// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor --json. What varies from boot to boot or from one update to the next is in fields called
 * "detail", in "kernel" and in "memory", so that the rest can be compared.
 */
#include <string.h>

#include "cli/doctor.h"
#include "export/build.h"
#include "observe/probes.h"

static void put_string(struct exp_build *b, struct json_object *o, const char *key,
		       const char *text)
{
	exp_put_text(b, o, key, text, strlen(text));
}

static void put_fact(struct exp_build *b, struct json_object *o, const struct obs_fact *f)
{
	put_string(b, o, "id", f->id);
	put_string(b, o, "label", f->label);
	put_string(b, o, "value", f->value);
	put_string(b, o, "verdict", obs_verdict_name(f->verdict));
	if (f->costs[0])
		put_string(b, o, "costs", f->costs);
	if (f->remedy[0])
		put_string(b, o, "remedy", f->remedy);
	if (f->detail[0])
		put_string(b, o, "detail", f->detail);
}

static void put_mount(struct exp_build *b, struct json_object *o, const struct doctor *d,
		      const struct obs_mount *m)
{
	const struct obs_device *dev = doctor_device(d, m);
	struct json_object *queues;
	char cpus[1024];

	put_string(b, o, "tag", m->tag);
	put_string(b, o, "path", m->path);
	if (!dev)
		return;
	exp_put_u64(b, o, "virtio", dev->virtio_index);
	if (!dev->request_queues)
		return;
	queues = exp_put_array(b, o, "queues");
	for (uint32_t q = 1; q <= dev->request_queues; q++) {
		struct json_object *queue = exp_add_object(b, queues);

		doctor_cpus(dev, q, cpus, sizeof(cpus));
		exp_put_u64(b, queue, "index", q);
		put_string(b, queue, "cpus", cpus);
	}
}

static void put_probe(struct exp_build *b, struct json_object *o, const struct obs_probe_status *p)
{
	put_string(b, o, "name", p->name);
	put_string(b, o, "purpose", p->purpose);
	exp_put_bool(b, o, "required", p->required);
	put_string(b, o, "rung", obs_rung_name(p->rung));
	put_string(b, o, "symbol", p->symbol);
	if (p->why[0])
		put_string(b, o, "why", p->why);
}

static void put_attach(struct exp_build *b, struct json_object *o, const struct doctor *d)
{
	struct json_object *attach = exp_put_object(b, o, "attach"), *probes;

	exp_put_bool(b, attach, "tried", d->tried);
	if (d->error)
		put_string(b, attach, "error", d->error);
	probes = exp_put_array(b, o, "probes");
	for (size_t i = 0; i < d->nr_probes; i++)
		put_probe(b, exp_add_object(b, probes), &d->probe[i]);
}

int doctor_json(const struct doctor *d)
{
	const struct obs_fact *kernel = obs_system_fact(&d->sys, "kernel");
	struct json_object *o = json_object_new_object(), *array;
	struct exp_build b = {0};

	put_string(&b, o, "schema", "vqsteer-doctor/1");
	put_string(&b, o, "kernel", kernel ? kernel->detail : "");
	exp_put_u64(&b, o, "exit", (uint64_t)d->exit);
	exp_put_u64(&b, o, "possible_cpus", d->sys.possible_cpus);
	array = exp_put_array(&b, o, "facts");
	for (size_t i = 0; i < d->sys.nr_facts; i++)
		put_fact(&b, exp_add_object(&b, array), &d->sys.fact[i]);
	if (d->lock_fact.id)
		put_fact(&b, exp_add_object(&b, array), &d->lock_fact);
	array = exp_put_array(&b, o, "mounts");
	for (size_t i = 0; i < d->sys.mounts.nr; i++)
		put_mount(&b, exp_add_object(&b, array), d, &d->sys.mounts.mount[i]);
	put_attach(&b, o, d);
	if (d->bpf_memory_bytes)
		exp_put_u64(&b, exp_put_object(&b, o, "memory"), "bpf_bytes", d->bpf_memory_bytes);
	return exp_write_line(&b, o, stdout);
}
