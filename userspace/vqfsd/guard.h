/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory that vanishes under the daemon: a front-end may truncate the file it handed over,
 * and then any access is a SIGBUS. The handler maps zero pages over the whole region (a plain
 * system call, nothing is unwound), marks its owner broken, and lets the access run again: it reads
 * zeros, and what it writes is lost. Whoever uses the memory looks at the mark after each use and
 * breaks the ring. So a thread in the midst of anything, C library and file system included, needs
 * no way out of it.
 *
 * A signal handler has no argument of ours: the regions are in a table of the process, the one
 * mutable global of vqfsd. A SIGBUS elsewhere goes where it went before.
 */
#ifndef VQFSD_GUARD_H
#define VQFSD_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* Installs the handler for the process, if it is not there. 0 or -errno. */
int fsd_guard_install(void);

/*
 * Guards [addr, addr + bytes), whole pages; sets *@broken to 1 when some of it went. 0, or -ENOSPC:
 * the table is full.
 */
int fsd_guard_add(void *addr, size_t bytes, uint32_t *broken);
/* Before the region is unmapped; no thread uses it any more. */
void fsd_guard_remove(void *addr);

#endif
