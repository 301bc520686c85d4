// SPDX-License-Identifier: GPL-2.0-or-later
/* What "status" answers: the mapping, and where each queue stands. */
#include <string.h>

#include "common/clock.h"
#include "common/cpus.h"
#include "vqfsd/control_priv.h"

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_text(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static struct json_object *state_words(uint32_t state)
{
	static const char *const words[] = {"started",  "enabled", "paused",
					    "stopping", "drained", "broken"};
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (state >> i & 1)
			json_object_array_add(a, json_object_new_string(words[i]));
	return a;
}

static void add_oldest(struct json_object *o, const struct fsd_device *dev, uint32_t queue)
{
	uint32_t opcode = 0;
	uint64_t began = fsd_stats_oldest(&dev->stats, queue, &opcode);
	struct json_object *oldest;

	if (!began)
		return;
	oldest = json_object_new_object();
	add_u64(oldest, "opcode", opcode);
	if (fsd_opcode_name(opcode))
		add_text(oldest, "name", fsd_opcode_name(opcode));
	add_u64(oldest, "age_ns", vqs_now_ns(CLOCK_MONOTONIC) - began);
	json_object_object_add(o, "oldest", oldest);
}

static struct json_object *queue_object(const struct fsd_device *dev, uint32_t i)
{
	const struct vqs_fsd_queue *s = &dev->stats.queue[i];
	struct json_object *o = json_object_new_object();
	uint64_t pushes = fsd_get(&s->pushes), back = fsd_get(&s->given_back);

	add_u64(o, "queue", i);
	add_u64(o, "worker", fsd_get32(&s->worker));
	add_text(o, "engine", fsd_engines[fsd_get32(&s->engine) % VQS_FSD_ENGINES].name);
	add_u64(o, "threshold", fsd_get32(&s->threshold));
	json_object_object_add(o, "state", state_words(fsd_get32(&s->state)));
	add_u64(o, "size", fsd_get32(&s->ring_size));
	add_u64(o, "popped", fsd_get(&s->pops));
	add_u64(o, "pushed", pushes);
	add_u64(o, "in_flight", fsd_get(&s->pops) - back - pushes);
	add_u64(o, "waiting", fsd_get(&s->waiting));
	add_u64(o, "errors", fsd_get(&s->errors));
	add_u64(o, "moves", fsd_get(&s->moves));
	add_u64(o, "last_pause_ns", fsd_get(&s->last_pause_ns));
	add_oldest(o, dev, i);
	return o;
}

static struct json_object *worker_object(const struct fsd_device *dev, uint32_t i)
{
	const struct vqs_fsd_thread *t = &dev->stats.thread[i];
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC), from = fsd_get(&t->waiting_from_ns);
	uint64_t waiting = fsd_get(&t->waiting_ns) + (from && from < now ? now - from : 0);
	uint64_t life = now - fsd_get(&t->started_ns);
	struct json_object *o = json_object_new_object(), *queues = json_object_new_array();
	char text[1024];
	cpu_set_t cpus;

	add_u64(o, "worker", i);
	add_u64(o, "tid", (uint64_t)t->tid);
	if (!sched_getaffinity(t->tid, sizeof(cpus), &cpus))
		add_text(o, "cpus", vqs_cpus_print(&cpus, text, sizeof(text)));
	for (uint32_t q = 0; q < dev->nr_queues; q++)
		if (fsd_queue_owner(&dev->queue[q])->index == i)
			json_object_array_add(queues, json_object_new_uint64(q));
	json_object_object_add(o, "queues", queues);
	add_u64(o, "busy_ns", life > waiting ? life - waiting : 0);
	add_u64(o, "waiting_ns", waiting);
	add_u64(o, "requests", fsd_get(&t->requests));
	return o;
}

void fsd_control_status(const struct fsd_control *x, struct json_object *reply)
{
	const struct fsd_device *dev = x->dev;
	const struct vqs_fsd_header *h = dev->stats.header;
	struct json_object *queues = json_object_new_array(), *workers = json_object_new_array();
	struct json_object *lease = json_object_new_object();

	add_text(reply, "version", VQS_VERSION);
	add_text(reply, "tag", dev->opts.tag);
	add_u64(reply, "pid", (uint64_t)h->pid);
	json_object_object_add(reply, "connected",
			       json_object_new_boolean((int)fsd_get32(&h->connected)));
	add_u64(reply, "connections", fsd_get(&h->connections));
	json_object_object_add(lease, "held", json_object_new_boolean(x->holder != NULL));
	add_u64(lease, "generation", x->generation);
	json_object_object_add(reply, "lease", lease);
	add_u64(reply, "pool_size", fsd_pool_size(&dev->pool));
	for (uint32_t i = 0; i <= dev->nr_workers; i++)
		json_object_array_add(workers, worker_object(dev, i));
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		json_object_array_add(queues, queue_object(dev, i));
	json_object_object_add(reply, "workers", workers);
	json_object_object_add(reply, "queues", queues);
}
