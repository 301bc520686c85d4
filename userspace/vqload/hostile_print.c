// SPDX-License-Identifier: GPL-2.0-or-later
/* What the hostile guest found, for people and as JSON, and its command. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "export/build.h"
#include "vqload/hooks.h"
#include "vqload/hostile.h"

static const char *const names[] = {
	[LOAD_ANSWERED] = "answered",
	[LOAD_RESTARTED] = "restarted",
	[LOAD_RECONNECTED] = "reconnected",
	[LOAD_CLOSED] = "closed",
	[LOAD_DIED] = "died",
	[LOAD_HUNG] = "hung",
	[LOAD_GONE] = "gone",
	[LOAD_ESCAPED] = "escaped",
	[LOAD_WALKED] = "walked",
	[LOAD_OVERWROTE] = "overwrote",
	[LOAD_WRONG] = "wrong",
};
_Static_assert(ARRAY_SIZE(names) == LOAD_OUTCOMES, "every outcome has a name");

const char *load_outcome_name(enum load_outcome o)
{
	return o >= 0 && o < LOAD_OUTCOMES ? names[o] : "none";
}

/* --- text ------------------------------------------------------------------------------------ */

static bool any(const struct load_hostile_report *r, uint32_t kind)
{
	for (int o = 0; o < LOAD_OUTCOMES; o++)
		if (r->count[kind][o])
			return true;
	return false;
}

static uint64_t total(const struct load_hostile_report *r, int outcome)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < r->nr_kinds; k++)
		n += r->count[k][outcome];
	return n;
}

/* Columns: outcomes that are no finding, always; findings that there were. */
static bool column(const struct load_hostile_report *r, int outcome)
{
	return !load_outcome_is_finding((enum load_outcome)outcome) || total(r, outcome);
}

static void print_counts(const struct load_hostile_report *r, FILE *out, int kind)
{
	for (int o = 0; o < LOAD_OUTCOMES; o++) {
		uint64_t n = kind < 0 ? total(r, o) : r->count[kind][o];

		if (!column(r, o))
			continue;
		if (n)
			fprintf(out, " %11" PRIu64, n);
		else
			fprintf(out, " %11s", "-");
	}
	fputc('\n', out);
}

int load_hostile_text(const struct load_hostile_report *r, FILE *out)
{
	fprintf(out, "%-5s %-18s", "", "");
	for (int o = 0; o < LOAD_OUTCOMES; o++)
		if (column(r, o))
			fprintf(out, " %11s", names[o]);
	fputc('\n', out);
	for (uint32_t k = 0; k < r->nr_kinds; k++) {
		if (!any(r, k))
			continue;
		fprintf(out, "%-5s %-18s", r->family[k], r->kind[k]);
		print_counts(r, out, (int)k);
	}
	fprintf(out, "%-24s", "all");
	print_counts(r, out, -1);
	fprintf(out, "%" PRIu64 " cases of seed %" PRIu64 ", %" PRIu64 " finding%s", r->cases,
		r->seed, r->nr_findings, r->nr_findings == 1 ? "" : "s");
	if (r->unanswered)
		fprintf(out, ", %" PRIu64 " request%s whose buffers never came back", r->unanswered,
			r->unanswered == 1 ? "" : "s");
	if (r->starts)
		fprintf(out, ", daemon started %" PRIu64 " times", r->starts);
	fputc('\n', out);
	return ferror(out) ? -EIO : 0;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_kinds(struct exp_build *b, struct json_object *o,
		      const struct load_hostile_report *r)
{
	struct json_object *kinds = exp_put_array(b, o, "kinds");

	for (uint32_t k = 0; k < r->nr_kinds; k++) {
		struct json_object *e;

		if (!any(r, k))
			continue;
		e = exp_add_object(b, kinds);
		exp_put_text(b, e, "kind", r->kind[k], SIZE_MAX);
		exp_put_text(b, e, "family", r->family[k], SIZE_MAX);
		for (int out = 0; out < LOAD_OUTCOMES; out++)
			exp_put_u64(b, e, names[out], r->count[k][out]);
	}
}

static void put_findings(struct exp_build *b, struct json_object *o,
			 const struct load_hostile_report *r)
{
	struct json_object *findings = exp_put_array(b, o, "details");

	for (uint64_t i = 0; i < r->nr_findings && i < LOAD_HOSTILE_FINDINGS; i++) {
		struct json_object *e = exp_add_object(b, findings);

		exp_put_u64(b, e, "case", r->finding[i].number);
		exp_put_text(b, e, "kind", r->finding[i].kind, SIZE_MAX);
		exp_put_text(b, e, "outcome", load_outcome_name(r->finding[i].outcome), SIZE_MAX);
		exp_put_text(b, e, "text", r->finding[i].text, sizeof(r->finding[i].text));
	}
}

int load_hostile_json(const struct load_hostile_report *r, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct exp_build b = {.err = o ? 0 : -ENOMEM};

	exp_put_text(&b, o, "schema", "vqload/1", SIZE_MAX);
	exp_put_text(&b, o, "command", "hostile", SIZE_MAX);
	exp_put_u64(&b, o, "seed", r->seed);
	exp_put_u64(&b, o, "cases", r->cases);
	exp_put_u64(&b, o, "findings", r->nr_findings);
	exp_put_u64(&b, o, "unanswered", r->unanswered);
	exp_put_u64(&b, o, "daemon_starts", r->starts);
	if (r->err)
		exp_put_text(&b, o, "error", r->error, sizeof(r->error));
	put_kinds(&b, o, r);
	put_findings(&b, o, r);
	return exp_write_line(&b, o, out);
}

/* --- the command ----------------------------------------------------------------------------- */

static enum load_exit exit_of(const struct load_hostile_report *r)
{
	if (r->nr_findings)
		return LOAD_EXIT_FAULTS;
	switch (r->err) {
	case 0:
		return LOAD_EXIT_CLEAN;
	case -EINVAL:
		return LOAD_EXIT_USAGE;
	case -ENOENT:
	case -ECONNREFUSED:
		return LOAD_EXIT_CONNECT;
	case -ETIMEDOUT:
		return LOAD_EXIT_TIMEOUT;
	case -ECONNRESET:
	case -EPIPE:
		return LOAD_EXIT_CLOSED;
	case -EROFS:
	case -EACCES:
	case -EPERM:
	case -ENOSPC:
		return LOAD_EXIT_SHARE;
	default:
		return LOAD_EXIT_FAILED;
	}
}

enum load_exit load_hostile_main(const struct load_hook_args *a)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	_cleanup_free_ struct load_hostile_report *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return LOAD_EXIT_FAILED;
	o.socket = a->device.socket;
	o.seed = a->seed;
	o.timeout_ms = (uint32_t)(a->device.timeout_ns / 1000000);
	o.features_off = a->device.features_off;
	o.wait = a->device.wait;
	o.run_ns = a->time_ns;
	o.stop = a->stop;
	o.cases = a->cases;
	o.single = a->has_case;
	o.which = a->number;
	o.only = a->only;
	o.restart = a->restart;
	o.verbose = a->verbose;
	o.findings = a->json ? NULL : stdout;
	load_hostile_run(&o, r);
	err = a->json               ? load_hostile_json(r, stdout)
	      : r->cases || !r->err ? load_hostile_text(r, stdout)
				    : 0;
	if (r->err)
		fprintf(stderr, "vqload hostile: %s\n", r->error);
	return err || fflush(stdout) ? LOAD_EXIT_OUTPUT : exit_of(r);
}
