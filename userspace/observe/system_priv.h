/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What system*.c share: adding facts. */
#ifndef OBSERVE_SYSTEM_PRIV_H
#define OBSERVE_SYSTEM_PRIV_H

#include "observe/ksyms.h"
#include "observe/system.h"

#define KERNEL(major, minor) ((uint32_t)(major) << 16 | (minor))

/* While facts are gathered. */
struct gathering {
	const struct obs_system_source *src;
	struct obs_system *sys;
	struct ksyms *syms; /* NULL: /proc/kallsyms is not readable */
	char release[65];
};

/* A fact with its value; fine until fact_flaw() says otherwise. */
struct obs_fact *fact_add(struct gathering *g, const char *id, const char *label, const char *fmt,
			  ...) __attribute__((format(printf, 4, 5)));
void fact_detail(struct obs_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Never makes a worse verdict better. */
void fact_flaw(struct obs_fact *f, enum obs_verdict verdict, enum obs_problem problem,
	       const char *costs, const char *remedy);

bool file_exists(const struct gathering *g, const char *path);
/* Whether a line of @path has @word as its first field, or as its second after "nodev". */
bool file_lists(const struct gathering *g, const char *path, const char *word);
bool has_symbol(const struct gathering *g, const char *name);

/* system_kernel.c */
void facts_kernel(struct gathering *g);
/* system_rights.c */
void facts_rights(struct gathering *g);
/* system_spin.c */
void facts_spin(struct gathering *g);

#endif
