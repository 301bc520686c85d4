/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the judge share. */
#ifndef VQLOAD_JUDGE_PRIV_H
#define VQLOAD_JUDGE_PRIV_H

#include "vqload/judge.h"

struct load_kept {
	struct load_detail *detail;
	uint32_t nr;
};

struct load_judge_queue {
	uint64_t count[LOAD_FINDINGS];
	uint64_t highest; /* seq that was returned; valid if any was */
	bool any;
};

struct load_judge {
	uint32_t nr_queues;
	uint32_t room; /* of each of the two below */
	struct load_kept faults, others;
	uint64_t replies, errors;
	struct load_judge_queue queue[];
};

#endif
