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
	struct ksyms *syms; /* NULL: /proc/kallsyms is not readable ... */
	int syms_err;       /* ... for this reason */
	int mounts_err;     /* 0 or why the mounts are not known */
	char release[65];
};

/* A fact with its value; fine until fact_flaw() says otherwise. */
struct obs_fact *fact_add(struct gathering *g, const char *id, const char *label, const char *fmt,
			  ...) __attribute__((format(printf, 4, 5)));
void fact_detail(struct obs_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Never makes a worse verdict better. */
void fact_flaw(struct obs_fact *f, enum obs_verdict verdict, enum obs_problem problem,
	       const char *costs, const char *remedy);

/*
 * A fact that nobody can tell, because @path cannot be read (@err, a negative errno): a file system
 * that is not mounted, a part of it that is hidden, or a lack of rights. It says how to see it.
 */
struct obs_fact *fact_hidden(struct gathering *g, const char *id, const char *label,
			     const char *path, int err, enum obs_verdict verdict,
			     const char *costs);

/* 0: @path can be read; else -errno. */
int file_check(const struct gathering *g, const char *path);
/*
 * Whether -errno @err of @path means that this kernel does not have it: true only when @witness can
 * be seen, which every kernel shows where it would show @path.
 */
bool file_absent(const struct gathering *g, int err, const char *witness);
/*
 * 1 when a line of @path has @word as its first field, or as its second after "nodev"; 0 when none
 * has, or -errno.
 */
int file_lists(const struct gathering *g, const char *path, const char *word);
bool has_symbol(const struct gathering *g, const char *name);

/* system_kernel.c */
void facts_kernel(struct gathering *g);
/* system_rights.c */
void facts_rights(struct gathering *g);
/* system_spin.c */
void facts_spin(struct gathering *g);

#endif
