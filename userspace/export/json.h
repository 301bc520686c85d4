/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots and trace records as JSON, one object a line: what `stat --json` prints, recordings
 * hold and tests read. docs/schema.md documents every field. Nothing here keeps state.
 */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "observe/snapshot.h"

#define EXP_SCHEMA       "vqsteer/1"
#define EXP_TRACE_SCHEMA "vqsteer-trace/1"

/* Longest line that is parsed: 255 queues with every opcode stay below half of it. */
#define EXP_LINE_MAX (32u << 20)

/*
 * Writes @s as one line. 0, -ENOMEM (nothing was written), or what writing to @out failed with.
 * Strings from outside that are not UTF-8 get '?' for each wrong byte.
 */
int exp_snapshot_json(const struct vqs_snapshot *s, FILE *out);

/*
 * Reads what exp_snapshot_json wrote, exactly: *out is freed by obs_snapshot_free(). Any text is
 * safe to give. Unknown fields are ignored, missing counters are 0, derived figures (means,
 * percentiles, ratios) are not read. -EINVAL, and *err (if not NULL) a message that the caller
 * frees: not JSON, another schema, a value outside its bounds; -E2BIG: too long, or it would need
 * more than 256 MiB; -ENOMEM.
 */
int exp_snapshot_parse(const char *line, struct vqs_snapshot **out, char **err);

/* The time that a finished request spent in @hop; false when it has none or it was not seen. */
bool exp_trace_hop(const struct vqs_trace *t, enum vqs_hop hop, uint64_t *ns);

/* Writes @t as one line. 0 or -errno as above. */
int exp_trace_json(const struct vqs_trace *t, const char *tag, const char *queue,
		   uint32_t queue_index, FILE *out);

#endif
