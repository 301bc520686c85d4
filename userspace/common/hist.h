/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What user space does with histograms (include/vqsteer/hist.h): merge, subtract, percentiles.
 * Pure functions on plain memory; no allocation.
 */
#ifndef COMMON_HIST_H
#define COMMON_HIST_H

#include <stdint.h>

#include <vqsteer/hist.h>

/* Adds @v once. The reference for what BPF does. */
void vqs_hist_add(struct vqs_hist *h, uint64_t v);
uint64_t vqs_hist_count(const struct vqs_hist *h);
void vqs_hist_merge(struct vqs_hist *into, const struct vqs_hist *from);

/*
 * out = to - from, bucket by bucket; both cumulative, @from taken earlier. A bucket that shrank
 * (never seen: counters only grow) counts as 0. out->max: to->max when it grew meanwhile, else
 * the highest value of the highest bucket that grew; 0 when none did.
 */
void vqs_hist_diff(struct vqs_hist *out, const struct vqs_hist *from, const struct vqs_hist *to);

/*
 * Value below or at which a share of @permille / 1000 of all values lie (nearest rank, as sorting
 * the values and taking element ceil(permille / 1000 * n) would): the midpoint of its bucket,
 * clipped to max, hence within 1/16 of the true one. 0 when empty.
 */
uint64_t vqs_hist_percentile(const struct vqs_hist *h, uint32_t permille);

/* Mean, or 0 when empty. */
uint64_t vqs_hist_mean(const struct vqs_hist *h);

#endif
