/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table, for its parser and for its texts. */
#ifndef VQFSD_OPTIONS_PRIV_H
#define VQFSD_OPTIONS_PRIV_H

#include <stddef.h>

#include "vqfsd/options.h"

enum fsd_option_kind {
	FSD_FLAG,   /* bool */
	FSD_NUMBER, /* uint32_t */
	FSD_TEXT,   /* const char * */
	FSD_WORD,   /* one of words, uint32_t: which */
	FSD_LEVEL,  /* of the log */
	FSD_CPUS,   /* QUEUE=CPUS, repeatable */
};

struct fsd_option {
	const char *name;
	const char *arg; /* NULL: takes no value */
	enum fsd_option_kind kind;
	size_t offset;
	uint32_t min, max;
	const char *words[5];
	const char *fallback; /* the default, as typed; NULL: none */
	const char *help;     /* one sentence */
	const char *man;      /* what the page adds; NULL: nothing */
};

extern const struct fsd_option fsd_option_table[];
extern const size_t fsd_nr_options;

struct fsd_exit_text {
	enum fsd_exit code;
	const char *means;
};
extern const struct fsd_exit_text fsd_exit_table[];
extern const size_t fsd_nr_exits;

#endif
