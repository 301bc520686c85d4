// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/hist.h"

void vqs_hist_add(struct vqs_hist *h, uint64_t v)
{
	h->bucket[vqs_hist_bucket(v)]++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
}

uint64_t vqs_hist_count(const struct vqs_hist *h)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++)
		n += h->bucket[i];
	return n;
}

void vqs_hist_merge(struct vqs_hist *into, const struct vqs_hist *from)
{
	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
}

void vqs_hist_diff(struct vqs_hist *out, const struct vqs_hist *from, const struct vqs_hist *to)
{
	struct vqs_hist d = {0};
	int highest = -1;

	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++) {
		if (to->bucket[i] <= from->bucket[i])
			continue;
		d.bucket[i] = to->bucket[i] - from->bucket[i];
		highest = (int)i;
	}
	if (highest >= 0) {
		d.sum = to->sum - from->sum;
		d.max = vqs_hist_high((uint32_t)highest);
		/* Nothing was ever above to->max: it bounds its own bucket better. */
		if (to->max > from->max || (to->max < d.max && to->max >= vqs_hist_low(highest)))
			d.max = to->max;
	}
	*out = d;
}

static uint64_t bucket_value(const struct vqs_hist *h, uint32_t i)
{
	uint64_t low = vqs_hist_low(i);
	uint64_t mid = low + (vqs_hist_high(i) - low) / 2;

	/* BPF raises max after it counted: a max below this bucket is only late. */
	return h->max >= low && h->max < mid ? h->max : mid;
}

uint64_t vqs_hist_percentile(const struct vqs_hist *h, uint32_t permille)
{
	uint64_t n = vqs_hist_count(h), seen = 0, rank;

	if (!n)
		return 0;
	if (permille > 1000)
		permille = 1000;
	rank = (uint64_t)(((unsigned __int128)n * permille + 999) / 1000);
	if (!rank)
		rank = 1;
	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return bucket_value(h, i);
	}
	return h->max;
}

uint64_t vqs_hist_mean(const struct vqs_hist *h)
{
	uint64_t n = vqs_hist_count(h);

	return n ? h->sum / n : 0;
}
