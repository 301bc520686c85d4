/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What doctor found, between the one who looks (doctor.c) and the two who tell. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/cli.h"
#include "observe/system.h"

struct doctor {
	struct obs_system sys;
	/* Attaching: tried, or why not; failed with @error, or the table of probes. */
	bool tried;
	char *error; /* owned */
	struct obs_guest *guest;
	const struct obs_probe_status *probe;
	size_t nr_probes;
	struct obs_fact lock_fact;
	char lock_rung[32];
	bool lock_complete;
	uint64_t bpf_memory_bytes;
	int exit; /* enum cli_exit of the worst finding */
};

/* Device of @m, NULL when there is none that must be it. */
const struct obs_device *doctor_device(const struct doctor *d, const struct obs_mount *m);
/* "0-2,5": CPUs that @dev's map sends to @queue. */
void doctor_cpus(const struct obs_device *dev, uint32_t queue, char *buf, size_t size);

void doctor_text(const struct doctor *d, bool color);
/* 0 or -errno. */
int doctor_json(const struct doctor *d);

#endif
