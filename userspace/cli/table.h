/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of a snapshot, at most 80 columns wide: of an interval (a difference) or of everything
 * since attach. They render numbers and decide nothing; what there is nothing to say about is
 * left out. Numbers of the same kind have the same place and unit in every table.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/render.h"
#include "observe/snapshot.h"

struct table_view {
	uint64_t elapsed_ns; /* what rates are per */
	int queue;           /* the one selected, -1: all */
	int op;              /* opcode selected, -1: all */
	bool locks;          /* are watched */
};

/* Whether any request was seen. */
bool table_device_busy(const struct vqs_snap_device *d);
/* Device, its queues in use, and whether this kernel uses them all. */
void table_device_head(struct rend *r, const struct vqs_snap_device *d);
/* Rate, depth and percentiles of the total, per queue. */
void table_queues(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v);
/* Where the time goes: each hop with its share of the total; queues merged by addition. */
void table_hops(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v);
/* Per opcode, most time first; with one queue selected also the mean of each hop. */
void table_ops(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v);
/* Contended locks by field and queue, longest total wait first. */
void table_locks(struct rend *r, const struct vqs_snapshot *s, const struct vqs_snap_device *d,
		 const struct table_view *v);
/* Kicks, interrupts, and requests that found the ring full. */
void table_rings(struct rend *r, const struct vqs_snap_device *d, const struct table_view *v);
void table_errors(struct rend *r, const struct vqs_snap_device *d);
/* Which CPUs use which queue: as observed, and as the kernel says. */
void table_cpus(struct rend *r, const struct vqs_snap_device *d);
/* Each queue's equation with every term that is not 0; for snapshots since attach only. */
void table_conservation(struct rend *r, const struct vqs_snap_device *d);

/* Everything of a device in the order a reader asks; an idle one is one line. */
void table_device(struct rend *r, const struct vqs_snapshot *s, const struct vqs_snap_device *d,
		  const struct table_view *v);

/* What was not seen or not kept, by cause; nothing when nothing was lost. */
void table_losses(struct rend *r, const struct vqs_snapshot *s);
/* Code paths that waited for locks, most wait first. */
void table_stacks(struct rend *r, const struct vqs_snapshot *s);
/* What vqsteer itself costs. */
void table_self(struct rend *r, const struct vqs_snapshot *s, const struct table_view *v);

#endif
