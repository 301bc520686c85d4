/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ownership by scope: a variable marked _cleanup_ frees itself; TAKE_* hands it on. */
#ifndef COMMON_CLEANUP_H
#define COMMON_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void vqs_freep(void *p)
{
	free(*(void **)p);
}

static inline void vqs_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void vqs_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_   _cleanup_(vqs_freep)
#define _cleanup_close_  _cleanup_(vqs_closep)
#define _cleanup_fclose_ _cleanup_(vqs_fclosep)

#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) _taken = (p); \
		(p) = NULL;                 \
		_taken;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int _taken = (fd); \
		(fd) = -1;         \
		_taken;            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
