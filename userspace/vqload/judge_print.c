// SPDX-License-Identifier: GPL-2.0-or-later
/* What the judge found, for people and as JSON. */
#include <errno.h>
#include <inttypes.h>

#include "export/build.h"
#include "vqload/judge_priv.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "  length           3  queue 1: 2, queue 4: 1" */
static void print_finding(const struct load_judge *j, enum load_finding f, FILE *out)
{
	const char *sep = "  ";

	fprintf(out, "  %-17s %8" PRIu64, load_finding_name(f), load_judge_count(j, f));
	for (uint32_t q = 0; q < j->nr_queues; q++) {
		uint64_t n = load_judge_queue_count(j, q, f);

		if (!n)
			continue;
		fprintf(out, "%squeue %u: %" PRIu64, sep, q, n);
		sep = ", ";
	}
	fputs(load_finding_is_fault(f) ? "\n" : "  (no fault)\n", out);
}

static void print_detail(const struct load_detail *d, FILE *out)
{
	fprintf(out,
		"  %s: queue %u %s unique %" PRIu64 " age %" PRIu64 ".%06" PRIu64 " ms expected "
		"%" PRId64 " got %" PRId64 "\n",
		load_finding_name(d->finding), d->queue, load_op_name(d->opcode), d->unique,
		d->age_ns / 1000000, d->age_ns % 1000000, d->expected, d->got);
}

int load_judge_text(const struct load_judge *j, FILE *out)
{
	const struct load_detail *d;
	uint64_t faults = 0;

	for (int f = 0; f < LOAD_FINDINGS; f++)
		if (load_finding_is_fault((enum load_finding)f))
			faults += load_judge_count(j, (enum load_finding)f);
	fprintf(out, "%" PRIu64 " repl%s judged, %" PRIu64 " error%s, ", j->replies,
		j->replies == 1 ? "y" : "ies", j->errors, plural(j->errors));
	if (faults)
		fprintf(out, "%" PRIu64 " fault%s\n", faults, plural(faults));
	else
		fprintf(out, "clean\n");
	for (int f = 0; f < LOAD_FINDINGS; f++)
		if (load_judge_count(j, (enum load_finding)f))
			print_finding(j, (enum load_finding)f, out);
	if (load_judge_detail(j, 0))
		fprintf(out, "the first:\n");
	for (size_t i = 0; (d = load_judge_detail(j, i)); i++)
		print_detail(d, out);
	return ferror(out) ? -EIO : 0;
}

static void put_queues(struct exp_build *b, struct json_object *o, const struct load_judge *j)
{
	struct json_object *queues = exp_put_array(b, o, "queues");

	for (uint32_t q = 0; q < j->nr_queues; q++) {
		struct json_object *e = NULL;

		for (int f = 0; f < LOAD_FINDINGS; f++) {
			uint64_t n = j->queue[q].count[f];

			if (!n)
				continue;
			if (!e) {
				e = exp_add_object(b, queues);
				exp_put_u64(b, e, "index", q);
			}
			exp_put_u64(b, e, load_finding_name((enum load_finding)f), n);
		}
	}
}

static void put_details(struct exp_build *b, struct json_object *o, const struct load_judge *j)
{
	struct json_object *details = exp_put_array(b, o, "details");
	const struct load_detail *d;

	for (size_t i = 0; (d = load_judge_detail(j, i)); i++) {
		struct json_object *e = exp_add_object(b, details);

		exp_put_text(b, e, "finding", load_finding_name(d->finding), SIZE_MAX);
		exp_put_u64(b, e, "queue", d->queue);
		exp_put_text(b, e, "op", load_op_name(d->opcode), SIZE_MAX);
		exp_put_u64(b, e, "unique", d->unique);
		exp_put_u64(b, e, "age_ns", d->age_ns);
		exp_put_i64(b, e, "expected", d->expected);
		exp_put_i64(b, e, "got", d->got);
	}
}

int load_judge_json(const struct load_judge *j, struct json_object **out)
{
	struct json_object *o = json_object_new_object(), *found;
	struct exp_build b = {.err = o ? 0 : -ENOMEM};

	exp_put_bool(&b, o, "clean", load_judge_clean(j));
	exp_put_u64(&b, o, "replies", j->replies);
	exp_put_u64(&b, o, "errors", j->errors);
	found = exp_put_object(&b, o, "findings");
	for (int f = 0; f < LOAD_FINDINGS; f++)
		exp_put_u64(&b, found, load_finding_name((enum load_finding)f),
			    load_judge_count(j, (enum load_finding)f));
	put_queues(&b, o, j);
	put_details(&b, o, j);
	if (b.err) {
		json_object_put(o);
		return b.err;
	}
	*out = o;
	return 0;
}
