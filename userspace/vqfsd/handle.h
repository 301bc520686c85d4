/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files and directories of the guest. A handle stays while it is open (one reference) or a
 * request uses it (one reference each): RELEASE of a file that another queue still reads closes it
 * when that is done.
 */
#ifndef VQFSD_HANDLE_H
#define VQFSD_HANDLE_H

#include "vqfsd/slots.h"

/* Names as the host gave them and the guest has not taken yet; fs_dir.c. */
struct fsd_dir;

struct fsd_handle {
	_Alignas(64) struct fsd_slot slot;
	int fd;
	bool direct;         /* O_DIRECT: the host may want aligned memory */
	_Atomic bool open;   /* until RELEASE */
	struct fsd_dir *dir; /* NULL: a file */
};

struct fsd_handles {
	struct fsd_slots slots;
};

int fsd_handles_init(struct fsd_handles *t);
void fsd_handles_free(struct fsd_handles *t);

/* Takes @fd and @dir (allocated by malloc(), or NULL) over in any case. 0 with *@fh, or -ENOMEM. */
int fsd_handles_add(struct fsd_handles *t, int fd, bool direct, struct fsd_dir *dir, uint64_t *fh);

/* An open file, or an open directory; NULL: it is not. */
static inline struct fsd_handle *fsd_handle_get(const struct fsd_handles *t, uint64_t fh)
{
	return fsd_slots_get(&t->slots, fh);
}
/* NULL is allowed. */
void fsd_handle_put(struct fsd_handles *t, struct fsd_handle *h);

/* RELEASE. 0, or -EBADF: not open. */
int fsd_handles_close(struct fsd_handles *t, uint64_t fh, bool dir);
void fsd_handles_close_all(struct fsd_handles *t);

#endif
