/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for the served tree, behind the same header: it answers what it is sent by its first
 * eight bytes, and sleeps when those say so. The linker takes it instead of the archive's.
 *
 * A request is a fuse_in_header; unique is a token. The reply is a fuse_out_header with the token
 * and 8 bytes more: how often requests with this token were executed, which must be once.
 */
#ifndef TESTS_UNIT_VQFSD_FAKE_FS_H
#define TESTS_UNIT_VQFSD_FAKE_FS_H

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <linux/fuse.h>

#include "vqfsd/fs.h"

struct fsd_fs {
	uint32_t resets, sleeping; /* atomic */
	uint32_t fail_thread;
};

struct fsd_thread {
	struct fsd_fs *fs;
};

/* A GETATTR for nodeid N sleeps N ms; other opcodes do not. */
#define FAKE_REPLY_BYTES (sizeof(struct fuse_out_header) + 8)

int fsd_fs_new(struct fsd_fs **fs, const struct fsd_fs_options *options, char **error)
{
	*fs = calloc(1, sizeof(**fs));
	*error = NULL;
	return *fs ? 0 : -ENOMEM;
}

void fsd_fs_free(struct fsd_fs *fs)
{
	free(fs);
}

int fsd_thread_new(struct fsd_thread **thread, struct fsd_fs *fs)
{
	*thread = __atomic_load_n(&fs->fail_thread, __ATOMIC_RELAXED) ? NULL
								      : calloc(1, sizeof(**thread));
	return *thread ? 0 : -ENOMEM;
}

void fsd_thread_free(struct fsd_thread *thread)
{
	free(thread);
}

static size_t fake_gather(void *to, const struct iovec *iov, unsigned int nr, size_t len)
{
	size_t done = 0;

	for (unsigned int i = 0; i < nr && done < len; i++) {
		size_t n = iov[i].iov_len < len - done ? iov[i].iov_len : len - done;

		memcpy((char *)to + done, iov[i].iov_base, n);
		done += n;
	}
	return done;
}

static size_t fake_scatter(const void *from, const struct iovec *iov, unsigned int nr, size_t len)
{
	size_t done = 0;

	for (unsigned int i = 0; i < nr && done < len; i++) {
		size_t n = iov[i].iov_len < len - done ? iov[i].iov_len : len - done;

		memcpy(iov[i].iov_base, (const char *)from + done, n);
		done += n;
	}
	return done;
}

bool fsd_request_peek(const struct fsd_request *request, uint32_t *opcode, uint64_t *unique)
{
	struct fuse_in_header h = {0};

	if (fake_gather(&h, request->in, request->nr_in, sizeof(h)) < sizeof(h))
		return false;
	*opcode = h.opcode;
	*unique = h.unique;
	return true;
}

uint32_t fsd_fs_handle(struct fsd_fs *fs, struct fsd_thread *thread,
		       const struct fsd_request *request, struct fsd_outcome *outcome)
{
	struct {
		struct fuse_out_header h;
		uint64_t nodeid;
	} reply = {.h.len = FAKE_REPLY_BYTES};
	struct fuse_in_header h = {0};

	fake_gather(&h, request->in, request->nr_in, sizeof(h));
	*outcome = (struct fsd_outcome){.opcode = h.opcode, .unique = h.unique};
	if (h.opcode == FUSE_GETATTR && h.nodeid) {
		__atomic_fetch_add(&fs->sleeping, 1, __ATOMIC_RELEASE);
		poll(NULL, 0, (int)(h.nodeid % 100000));
		__atomic_fetch_sub(&fs->sleeping, 1, __ATOMIC_RELEASE);
	}
	if (request->out_bytes < FAKE_REPLY_BYTES)
		return 0;
	reply.h.unique = h.unique;
	reply.nodeid = ~h.unique;
	return (uint32_t)fake_scatter(&reply, request->out, request->nr_out, FAKE_REPLY_BYTES);
}

void fsd_fs_reset(struct fsd_fs *fs)
{
	__atomic_fetch_add(&fs->resets, 1, __ATOMIC_RELAXED);
}

void fsd_fs_get_stats(const struct fsd_fs *fs, struct fsd_fs_stats *stats)
{
	*stats = (struct fsd_fs_stats){0};
}

#endif
