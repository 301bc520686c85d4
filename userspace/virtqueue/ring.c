// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtqueue/ring.h"

#include <errno.h>

static const struct {
	const char *name, *text;
} faults[] = {
	[VQ_FAULT_NONE] = {"none", "no fault"},
	[VQ_FAULT_AVAIL_JUMP] = {"avail-jump",
				 "the available index is more than the queue size ahead"},
	[VQ_FAULT_HEAD] = {"head", "the head of a chain is beyond the queue size"},
	[VQ_FAULT_NEXT] = {"next", "a descriptor's next is beyond its table"},
	[VQ_FAULT_LOOP] = {"loop", "a chain has more descriptors than its table"},
	[VQ_FAULT_TOO_LONG] = {"too-long", "a chain has too many buffers"},
	[VQ_FAULT_TOO_BIG] = {"too-big", "a chain has more than 2^32 - 1 bytes"},
	[VQ_FAULT_TOO_FRAGMENTED] = {"too-fragmented",
				     "a chain's buffers cross too many memory regions"},
	[VQ_FAULT_ADDRESS] = {"address", "a buffer is not within guest memory"},
	[VQ_FAULT_ORDER] = {"order", "a readable buffer comes after a writable one"},
	[VQ_FAULT_INDIRECT_OFF] = {"indirect-off",
				   "an indirect table, but the feature is not negotiated"},
	[VQ_FAULT_INDIRECT_NEXT] = {"indirect-next", "a descriptor has both INDIRECT and NEXT"},
	[VQ_FAULT_INDIRECT_NESTED] = {"indirect-nested",
				      "an indirect table within an indirect table"},
	[VQ_FAULT_INDIRECT_LENGTH] = {"indirect-length",
				      "an indirect table is not of one or more whole entries"},
	[VQ_FAULT_INDIRECT_ADDRESS] = {"indirect-address",
				       "an indirect table is not within guest memory"},
	[VQ_FAULT_USED_JUMP] = {"used-jump", "the used index is more than the queue size ahead"},
	[VQ_FAULT_USED_HEAD] = {"used-head", "a used head is beyond the queue size"},
	[VQ_FAULT_USED_UNKNOWN] = {"used-unknown", "a used head is not in flight"},
	[VQ_FAULT_USED_LENGTH] = {"used-length",
				  "a used length is more than the chain's writable bytes"},
};

_Static_assert(sizeof(faults) / sizeof(faults[0]) == VQ_FAULTS, "every fault has its words");

const char *vq_fault_name(enum vq_fault f)
{
	return (unsigned int)f < VQ_FAULTS ? faults[f].name : "unknown";
}

const char *vq_fault_text(enum vq_fault f)
{
	return (unsigned int)f < VQ_FAULTS ? faults[f].text : "a fault without a name";
}

static bool aligned(const void *p, uintptr_t to)
{
	return p && !((uintptr_t)p % to);
}

int vq_ring_check(const struct vq_ring *r)
{
	return vq_size_valid(r->size) && aligned(r->desc, VRING_DESC_ALIGN_SIZE) &&
			       aligned(r->avail, VRING_AVAIL_ALIGN_SIZE) &&
			       aligned(r->used, VRING_USED_ALIGN_SIZE)
		       ? 0
		       : -EINVAL;
}
