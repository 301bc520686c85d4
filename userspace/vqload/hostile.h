/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `vqload hostile`: a guest, or a front-end, that breaks every rule it can, one at a time, and
 * looks after each whether the daemon still serves: a healthy request is answered, on the same
 * connection; or, where a ring was broken on purpose, after the queue was started anew or the
 * connection made anew; or the daemon closed the connection, ended without a signal, and serves
 * the next one. Everything else is a finding.
 *
 * All of it follows from a seed and the number of the case, which replay a finding.
 *
 * What is sent can do no harm beyond the share, if the daemon is sound, and little if it is not:
 * names are relative and stay below a directory of this module's making, "vqload-hostile" in the
 * share; what makes, changes or removes files goes to that directory only, with sizes of 1 MiB at
 * most, no device nodes, symbolic links to relative names. ".." and names with a slash are asked
 * for by LOOKUP only. Give the daemon a scratch share all the same.
 */
#ifndef VQLOAD_HOSTILE_H
#define VQLOAD_HOSTILE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What became of the daemon. */
enum load_outcome {
	LOAD_ANSWERED,    /* on the same connection */
	LOAD_RESTARTED,   /* after the queue was started anew */
	LOAD_RECONNECTED, /* on a new connection, after this side closed the old one */
	LOAD_CLOSED,      /* on a new connection, after the daemon closed the old one */
	/* Findings from here on. */
	LOAD_DIED,      /* by a signal, or a panic */
	LOAD_HUNG,      /* no answer, or no new connection, within the time limit */
	LOAD_GONE,      /* it ended, and nothing says how to start it again */
	LOAD_ESCAPED,   /* it answered for what is outside of the share */
	LOAD_WALKED,    /* it took a name with a slash, which nothing has, for a path */
	LOAD_OVERWROTE, /* it wrote where it had no buffer */
	LOAD_WRONG,     /* its answer to the healthy request is no good */
	LOAD_OUTCOMES,
};
const char *load_outcome_name(enum load_outcome o);
static inline bool load_outcome_is_finding(enum load_outcome o)
{
	return o >= LOAD_DIED;
}

struct load_hostile_options {
	const char *socket;
	uint64_t seed, cases;
	bool single; /* only case number @which */
	uint64_t which;
	const char *only;    /* kind or family of cases; NULL: all */
	const char *restart; /* shell command that starts the daemon; NULL: it survives by itself */
	uint32_t timeout_ms; /* of each step */
	uint64_t run_ns;     /* no new case after this; 0: no limit */
	uint64_t features_off;             /* device features not to use though offered */
	bool wait;                         /* for the socket to appear */
	bool verbose;                      /* a line on stderr before each case */
	FILE *findings;                    /* a line for each, as they come; NULL: none */
	const volatile sig_atomic_t *stop; /* may be NULL */
};

#define LOAD_HOSTILE_OPTIONS_DEFAULT                         \
	{                                                    \
		.seed = 1, .cases = 1000, .timeout_ms = 2000 \
	}

#define LOAD_HOSTILE_KINDS    64u
#define LOAD_HOSTILE_FINDINGS 256u

struct load_hostile_finding {
	uint64_t number;
	const char *kind;
	enum load_outcome outcome;
	char text[120];
};

struct load_hostile_report {
	uint64_t seed, cases; /* cases run */
	uint64_t starts;      /* of the daemon, by us */
	uint64_t unanswered;  /* requests of which the daemon never returned the buffers */
	uint64_t digest;      /* of all that was sent and does not follow from the daemon */
	uint32_t nr_kinds;
	const char *kind[LOAD_HOSTILE_KINDS];
	const char *family[LOAD_HOSTILE_KINDS];
	uint64_t count[LOAD_HOSTILE_KINDS][LOAD_OUTCOMES];
	uint64_t nr_findings; /* all; the first LOAD_HOSTILE_FINDINGS are kept */
	struct load_hostile_finding finding[LOAD_HOSTILE_FINDINGS];
	int err; /* why it could not begin, or go on */
	char error[600];
};

/* 0: ran, whatever was found; -errno with r->error: it could not begin, or not go on. */
int load_hostile_run(const struct load_hostile_options *o, struct load_hostile_report *r);

/* Both: 0 or -errno. */
int load_hostile_text(const struct load_hostile_report *r, FILE *out);
int load_hostile_json(const struct load_hostile_report *r, FILE *out);

#endif
