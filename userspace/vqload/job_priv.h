/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the job parser share. */
#ifndef VQLOAD_JOB_PRIV_H
#define VQLOAD_JOB_PRIV_H

#include "vqload/job.h"

/* Keys of fio that mean nothing here; NULL ends. */
extern const char *const load_foreign_keys[];

/*
 * Parses @text as @key says into @owner (a struct load_job or struct load_phase, as @key says).
 * 0; -EINVAL: is no such thing; -ERANGE: is, but out of range. Nothing but 0 stores.
 */
int load_value(const struct load_key *key, const char *text, void *owner);
/* What is wrong with @text, and what is right: "\"5q\" is not a size; give ...". */
void load_value_explain(const struct load_key *key, const char *text, int why, char *msg,
			size_t size);

/* *err = "@where: ..." if @where, else "..."; returns -EINVAL, or -ENOMEM. */
__attribute__((format(printf, 3, 4))) int load_job_fail(char **err, const char *where,
							const char *fmt, ...);

#endif
