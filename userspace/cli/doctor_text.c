// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor for people: 80 columns, what is in the way in words, with the remedy beside it. */
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/render.h"
#include "common/cleanup.h"
#include "observe/probes.h"

#define VERDICT_WIDTH 5
#define LABEL_WIDTH   21
#define TEXT_COLUMN   (2 + VERDICT_WIDTH + 1 + LABEL_WIDTH + 1)

static enum rend_style style_of(enum obs_verdict v)
{
	return v == OBS_FINE ? REND_GOOD : v == OBS_WARN ? REND_WARN : REND_BAD;
}

static void indent_to(struct rend *r, int column)
{
	int left = column - (int)r->column;

	if (left > 0)
		rend_printf(r, REND_PLAIN, "%*s", left, "");
}

/* @text from outside, wrapped at @column; the line stays open. */
static void put_words(struct rend *r, enum rend_style style, int column, const char *text)
{
	char safe[512], *save = NULL;

	indent_to(r, column);
	rend_safe(safe, sizeof(safe), text);
	for (char *w = strtok_r(safe, " ", &save); w; w = strtok_r(NULL, " ", &save))
		rend_word(r, style, (unsigned int)column, w);
}

static void put_note(struct rend *r, const char *what, const char *text)
{
	int column = TEXT_COLUMN + (int)strlen(what) + 1;

	if (!text[0])
		return;
	indent_to(r, TEXT_COLUMN);
	rend_text(r, REND_DIM, what);
	put_words(r, REND_PLAIN, column, text);
	rend_end(r);
}

static void put_fact(struct rend *r, const struct obs_fact *f)
{
	char text[256];

	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, style_of(f->verdict), VERDICT_WIDTH, obs_verdict_name(f->verdict));
	rend_text(r, REND_PLAIN, " ");
	rend_left(r, REND_PLAIN, LABEL_WIDTH, f->label);
	if (f->detail[0])
		snprintf(text, sizeof(text), "%s (%s)", f->value, f->detail);
	else
		snprintf(text, sizeof(text), "%s", f->value);
	put_words(r, REND_PLAIN, TEXT_COLUMN, text);
	rend_end(r);
	put_note(r, "costs:", f->costs);
	put_note(r, "do:", f->remedy);
}

static void heading(struct rend *r, const char *text)
{
	rend_end(r);
	rend_text(r, REND_BOLD, text);
	rend_end(r);
}

static void put_map(struct rend *r, const struct obs_device *dev)
{
	char cpus[256], text[320];

	for (uint32_t q = 1; q <= dev->request_queues; q++) {
		doctor_cpus(dev, q, cpus, sizeof(cpus));
		if (cpus[0])
			snprintf(text, sizeof(text), "CPU %s -> queue %u", cpus, q);
		else
			snprintf(text, sizeof(text), "no CPU -> queue %u", q);
		put_words(r, cpus[0] ? REND_PLAIN : REND_WARN, 4, text);
		rend_end(r);
	}
}

static void put_mount(struct rend *r, const struct doctor *d, const struct obs_mount *m)
{
	const struct obs_device *dev = doctor_device(d, m);
	char tag[VQS_TAG_LEN], text[512];

	rend_safe(tag, sizeof(tag), m->tag);
	if (!dev)
		snprintf(text, sizeof(text), "%s on %s", tag, m->path);
	else if (!dev->request_queues)
		snprintf(text, sizeof(text),
			 "%s on %s: virtio%u; this kernel does not say how many queues it has", tag,
			 m->path, dev->virtio_index);
	else
		snprintf(text, sizeof(text), "%s on %s: virtio%u, %u request queue%s", tag, m->path,
			 dev->virtio_index, dev->request_queues,
			 dev->request_queues == 1 ? "" : "s");
	put_words(r, REND_PLAIN, 2, text);
	rend_end(r);
	if (dev && dev->nr_map)
		put_map(r, dev);
}

static void put_probe(struct rend *r, const struct obs_probe_status *p)
{
	enum rend_style style = p->rung == OBS_RUNG_NONE ? REND_WARN : REND_GOOD;

	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, style, 11, obs_rung_name(p->rung));
	rend_left(r, REND_PLAIN, 29, p->name);
	put_words(r, REND_PLAIN, 43, p->purpose);
	rend_end(r);
	if (p->symbol[0] && strcmp(p->symbol, p->name)) {
		indent_to(r, 13);
		rend_text(r, REND_DIM, "on");
		put_words(r, REND_PLAIN, 16, p->symbol);
		rend_end(r);
	}
	if (p->why[0]) {
		indent_to(r, 13);
		rend_text(r, REND_DIM, "why:");
		put_words(r, REND_PLAIN, 18, p->why);
		rend_end(r);
	}
}

static void put_probes(struct rend *r, const struct doctor *d)
{
	heading(r, "Probes, each on the best rung this kernel gives it");
	if (!d->tried) {
		put_words(r, REND_PLAIN, 2, "Not tried: what failed above is in the way.");
		rend_end(r);
	}
	if (d->error) {
		rend_text(r, REND_BAD, "  fail");
		put_words(r, REND_PLAIN, 8, d->error);
		rend_end(r);
	}
	for (size_t i = 0; i < d->nr_probes; i++)
		put_probe(r, &d->probe[i]);
}

static void put_result(struct rend *r, const struct doctor *d)
{
	size_t count[OBS_VERDICTS] = {0};
	char bytes[REND_NUM];

	for (size_t i = 0; i < d->sys.nr_facts; i++)
		count[d->sys.fact[i].verdict]++;
	count[d->lock_fact.verdict]++;
	count[OBS_FAIL] += d->error != NULL;
	rend_end(r);
	if (d->bpf_memory_bytes) {
		rend_printf(r, REND_PLAIN, "BPF maps took %s. ",
			    rend_bytes(bytes, d->bpf_memory_bytes));
		rend_end(r);
	}
	if (d->exit) {
		rend_printf(r, REND_BAD, "%zu in the way, %zu to know.", count[OBS_FAIL],
			    count[OBS_WARN]);
		if (count[OBS_FAIL] > (d->error != NULL))
			rend_text(r, REND_PLAIN,
				  " The lines that begin with do: say how to go on.");
	} else {
		rend_text(r, REND_GOOD, "Ready.");
		if (count[OBS_WARN])
			rend_printf(r, REND_PLAIN, " %zu to know, see above.", count[OBS_WARN]);
		rend_text(r, REND_PLAIN, " Where does the time go? vqsteer stat -i 5");
	}
	rend_end(r);
}

void doctor_text(const struct doctor *d, bool color)
{
	struct rend r = {.out = stdout, .color = color};

	rend_text(&r, REND_BOLD, "This machine");
	rend_end(&r);
	for (size_t i = 0; i < d->sys.nr_facts; i++)
		put_fact(&r, &d->sys.fact[i]);
	if (d->lock_fact.id)
		put_fact(&r, &d->lock_fact);
	if (d->sys.mounts.nr)
		heading(&r, "Mounts");
	for (size_t i = 0; i < d->sys.mounts.nr; i++)
		put_mount(&r, d, &d->sys.mounts.mount[i]);
	put_probes(&r, d);
	put_result(&r, d);
}
