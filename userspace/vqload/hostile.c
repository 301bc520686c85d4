// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop over cases, and what is made of what the daemon does after each. */
#include "vqload/hostile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <sys/wait.h>

#include "common/clock.h"
#include "vqload/hostile_priv.h"

static const struct {
	const char *name;
	const struct host_kind *kind;
	const uint32_t *nr;
} families[] = {
	[HOST_RING] = {"ring", host_ring_kinds, &host_ring_nr},
	[HOST_FUSE] = {"fuse", host_fuse_kinds, &host_fuse_nr},
	[HOST_PROTO] = {"proto", host_proto_kinds, &host_proto_nr},
};

void host_say(struct host *h, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(h->detail, sizeof(h->detail), format, args);
	va_end(args);
}

/* --- which case ------------------------------------------------------------------------------ */

struct choice {
	enum host_family family;
	const struct host_kind *kind;
	uint32_t column; /* of the report */
};

/* Kinds in turn, so that each comes as often as the others. */
static struct choice choose(uint64_t number)
{
	uint32_t i = (uint32_t)(number % (host_ring_nr + host_fuse_nr + host_proto_nr));
	struct choice c = {.column = i};

	while (i >= *families[c.family].nr) {
		i -= *families[c.family].nr;
		c.family++;
	}
	c.kind = &families[c.family].kind[i];
	return c;
}

static bool wanted(const struct load_hostile_options *o, const struct choice *c)
{
	return !o->only || !strcmp(o->only, c->kind->name) ||
	       !strcmp(o->only, families[c->family].name);
}

static bool known(const struct load_hostile_options *o, struct load_hostile_report *r)
{
	bool any = false;

	r->nr_kinds = host_ring_nr + host_fuse_nr + host_proto_nr;
	for (uint32_t i = 0; i < r->nr_kinds; i++) {
		struct choice c = choose(i);

		r->kind[i] = c.kind->name;
		r->family[i] = families[c.family].name;
		any |= wanted(o, &c);
	}
	return any;
}

/* --- what became of the daemon --------------------------------------------------------------- */

/* By what it ended, if that is a finding; the shell says 128 + n, Rust's panic 101. */
static bool died(struct host *h)
{
	int status = h->exit_status, sig = 0;

	h->exit_status = -1;
	if (status == -1)
		return false;
	if (WIFSIGNALED(status))
		sig = WTERMSIG(status);
	else if (WEXITSTATUS(status) > 128)
		sig = WEXITSTATUS(status) - 128;
	else if (WEXITSTATUS(status) == 101)
		sig = -1;
	if (!sig)
		return false;
	if (sig > 0)
		snprintf(h->r->error, sizeof(h->r->error), "died by signal %d (%s)", sig,
			 strsignal(sig));
	else
		snprintf(h->r->error, sizeof(h->r->error), "died by a panic (exit status 101)");
	return true;
}

/* A new connection, as @closed by this side or the other. */
static enum load_outcome reopen(struct host *h, enum load_outcome fine)
{
	int err;

	host_close(h);
	host_await_end(h);
	err = host_open(h);
	if (died(h))
		return LOAD_DIED;
	if (!err)
		return fine;
	if (err == -ETIMEDOUT && h->child)
		snprintf(h->r->error, sizeof(h->r->error),
			 "it neither ends nor serves a new connection");
	if (err == -ETIMEDOUT)
		return LOAD_HUNG;
	return err == -ECONNREFUSED || err == -ENOENT || err == -ECONNRESET ? LOAD_GONE
									    : LOAD_WRONG;
}

static bool is_end(int err)
{
	return err == -ECONNRESET || err == -EPIPE || err == -ENODATA || err == -ENOTCONN;
}

static enum load_outcome answered_wrongly(struct host *h)
{
	snprintf(h->r->error, sizeof(h->r->error), "GETATTR of the root is answered wrongly");
	return LOAD_WRONG;
}

static enum load_outcome after_fuse(struct host *h)
{
	int err = h->must_reopen ? host_init(h) : 0;

	/* What a second INIT is answered is the daemon's business. */
	if (err != -ETIMEDOUT && !is_end(err))
		err = host_health(h);
	if (is_end(err))
		return reopen(h, LOAD_CLOSED);
	if (err == -ETIMEDOUT) {
		snprintf(h->r->error, sizeof(h->r->error),
			 "no answer on a connection that stays open");
		return LOAD_HUNG;
	}
	if (h->must_reopen)
		return reopen(h, err ? LOAD_RECONNECTED : LOAD_ANSWERED);
	return err ? answered_wrongly(h) : LOAD_ANSWERED;
}

static enum load_outcome after_ring(struct host *h)
{
	int err = h->must_reopen ? -EAGAIN : host_restart_queue(h);

	if (!err) {
		err = host_health(h);
		if (!err)
			return LOAD_RESTARTED;
		/* Silence may be what it has for such a ring; a wrong answer never is. */
		if (err == -EBADMSG)
			return answered_wrongly(h);
	}
	return reopen(h, is_end(err) ? LOAD_CLOSED : LOAD_RECONNECTED);
}

static enum load_outcome after(struct host *h, enum host_family family)
{
	switch (family) {
	case HOST_RING:
		return after_ring(h);
	case HOST_FUSE:
		return after_fuse(h);
	default:
		return reopen(h, h->was_closed ? LOAD_CLOSED : LOAD_RECONNECTED);
	}
}

/* --- the books ------------------------------------------------------------------------------- */

static void found(struct host *h, uint64_t number, const struct choice *c, enum load_outcome o)
{
	struct load_hostile_report *r = h->r;
	struct load_hostile_finding f = {.number = number, .kind = c->kind->name, .outcome = o};

	snprintf(f.text, sizeof(f.text), "%s%s%.52s", h->detail,
		 o < LOAD_ESCAPED || o == LOAD_WRONG ? ": " : "",
		 o < LOAD_ESCAPED || o == LOAD_WRONG ? r->error : "");
	if (r->nr_findings < LOAD_HOSTILE_FINDINGS)
		r->finding[r->nr_findings] = f;
	r->nr_findings++;
	if (h->o->findings)
		fprintf(h->o->findings, "%s: seed %" PRIu64 " case %" PRIu64 ": %s %s: %s\n",
			load_outcome_name(o), r->seed, number, families[c->family].name, f.kind,
			f.text);
}

/* 0; or an error when the daemon cannot be had back. */
static int one_case(struct host *h, uint64_t number)
{
	struct choice c = choose(number);
	enum load_outcome o, o2 = LOAD_ANSWERED;

	h->rng = load_mix64(h->o->seed + number * LOAD_RNG_STEP);
	h->detail[0] = h->r->error[0] = '\0';
	h->found = LOAD_ANSWERED;
	h->was_closed = false;
	h->out_room = 0;
	h->exit_status = -1;
	if (h->o->verbose)
		fprintf(stderr, "case %" PRIu64 ": %s\n", number, c.kind->name);
	c.kind->run(h);
	o = after(h, c.family);
	if (h->found != LOAD_ANSWERED) {
		h->r->count[c.column][h->found]++;
		found(h, number, &c, h->found);
	}
	if (h->found == LOAD_ANSWERED || load_outcome_is_finding(o)) {
		h->r->count[c.column][o]++;
		if (load_outcome_is_finding(o))
			found(h, number, &c, o);
	}
	h->r->cases++;
	/* One that hangs, or is not what it was, is ended, if it is ours. */
	if (h->up && !load_outcome_is_finding(o))
		return 0;
	if (h->up && o == LOAD_DIED)
		return 0;
	host_kill(h);
	o2 = reopen(h, LOAD_ANSWERED);
	return o2 == LOAD_ANSWERED || o2 == LOAD_DIED ? 0 : -EHOSTDOWN;
}

static int run(struct host *h)
{
	uint64_t first = h->o->single ? h->o->which : 0;
	uint64_t end = h->o->single ? first + 1 : h->o->cases;
	uint64_t start = vqs_now_ns(CLOCK_MONOTONIC);
	int err = host_open(h);

	for (uint64_t i = first; !err && i < end && !(h->o->stop && *h->o->stop); i++) {
		struct choice c = choose(i);

		if (h->o->run_ns && vqs_now_ns(CLOCK_MONOTONIC) - start > h->o->run_ns)
			break;
		if (h->o->single || wanted(h->o, &c))
			err = one_case(h, i);
	}
	return err;
}

int load_hostile_run(const struct load_hostile_options *o, struct load_hostile_report *r)
{
	struct host h = {.o = o, .r = r, .exit_status = -1};

	memset(r, 0, sizeof(*r));
	r->seed = o->seed;
	if (!known(o, r)) {
		snprintf(r->error, sizeof(r->error), "--only %s: there is no such kind of case",
			 o->only);
		return r->err = -EINVAL;
	}
	load_init(&h.t, &(struct load_options)LOAD_OPTIONS_DEFAULT);
	r->err = run(&h);
	host_close(&h);
	host_kill(&h);
	return r->err;
}
