// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles. */
#include "vqfsd/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(sizeof(struct fsd_handle) == 64, "a cache line each");

int fsd_handles_init(struct fsd_handles *t)
{
	return fsd_slots_init(&t->slots, sizeof(struct fsd_handle));
}

void fsd_handles_free(struct fsd_handles *t)
{
	if (!t->slots.chunk)
		return;
	fsd_handles_close_all(t);
	fsd_slots_free(&t->slots);
}

int fsd_handles_add(struct fsd_handles *t, int fd, bool direct, struct fsd_dir *dir, uint64_t *fh)
{
	struct fsd_handle *h = fsd_slots_take(&t->slots);

	if (!h) {
		close(fd);
		free(dir);
		return -ENOMEM;
	}
	h->fd = fd;
	h->direct = direct;
	h->dir = dir;
	atomic_store_explicit(&h->open, true, memory_order_relaxed);
	*fh = fsd_slot_id(&h->slot);
	fsd_slot_publish(&h->slot, 1);
	return 0;
}

void fsd_handle_put(struct fsd_handles *t, struct fsd_handle *h)
{
	if (!h || !fsd_slot_put(&h->slot))
		return;
	close(h->fd);
	free(h->dir);
	h->dir = NULL;
	fsd_slots_return(&t->slots, &h->slot);
}

/* Of two that close one, one drops the reference of its being open. */
static bool close_one(struct fsd_handles *t, struct fsd_handle *h)
{
	if (!atomic_exchange(&h->open, false))
		return false;
	fsd_handle_put(t, h);
	return true;
}

int fsd_handles_close(struct fsd_handles *t, uint64_t fh, bool dir)
{
	struct fsd_handle *h = fsd_handle_get(t, fh);
	bool closed = h && !h->dir == !dir && close_one(t, h);

	fsd_handle_put(t, h);
	return closed ? 0 : -EBADF;
}

void fsd_handles_close_all(struct fsd_handles *t)
{
	struct fsd_handle *h;
	uint32_t at = 1;

	while ((h = fsd_slots_next(&t->slots, &at))) {
		close_one(t, h);
		fsd_handle_put(t, h);
	}
}
