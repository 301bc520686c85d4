// SPDX-License-Identifier: GPL-2.0-or-later
/* INIT, DESTROY, INTERRUPT: what is negotiated, and the end. */
#include <errno.h>

#include "vqfsd/fs_priv.h"

/*
 * Of 7.45: STATX and COPY_FILE_RANGE_64 are there. Flags say all else; Linux compares versions with
 * much older ones only. The oldest peer is that of 7.27 (Linux 4.20), whose structs are as today's.
 */
#define MINOR     45
#define MINOR_MIN 27

/*
 * What is implemented, whatever the options. Left out: DONT_MASK, so that the guest applies umask;
 * EXPORT_SUPPORT, as numbers end with FORGET; POSIX_LOCKS and FLOCK_LOCKS, so that locks are the
 * guest's own; SUBMOUNTS; POSIX_ACL; SETXATTR_EXT.
 */
#define ALWAYS                                                                                   \
	(FUSE_ASYNC_READ | FUSE_ASYNC_DIO | FUSE_BIG_WRITES | FUSE_ATOMIC_O_TRUNC |              \
	 FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS | FUSE_HANDLE_KILLPRIV_V2 | \
	 FUSE_CREATE_SUPP_GROUP | FUSE_INIT_EXT)

static uint64_t wanted(const struct fsd_fs_options *o)
{
	uint64_t flags = ALWAYS;

	/* What readdirplus brings would be of no use to a guest that believes nothing. */
	if (o->cache != FSD_CACHE_NEVER)
		flags |= FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO;
	/* Somebody else may write: a change of mtime drops the guest's pages. */
	if (o->cache != FSD_CACHE_ALWAYS)
		flags |= FUSE_AUTO_INVAL_DATA;
	/* Shared mappings of files that are opened with FOPEN_DIRECT_IO. */
	if (o->cache == FSD_CACHE_NEVER || o->cache == FSD_CACHE_METADATA)
		flags |= FUSE_DIRECT_IO_ALLOW_MMAP;
	if (o->writeback)
		flags |= FUSE_WRITEBACK_CACHE;
	return flags;
}

int fsd_init(struct fsd_call *c)
{
	const struct fuse_init_in *in = &c->args.init;
	uint32_t background = c->fs->options.max_background ? c->fs->options.max_background : 1;
	uint64_t flags = in->flags;
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = MINOR,
		.max_readahead = in->max_readahead,
		.max_background = (uint16_t)background,
		.congestion_threshold = (uint16_t)((background * 3 + 3) / 4),
		.max_write = FSD_IO_MAX,
		.time_gran = 1,
		.max_pages = FSD_IO_MAX / 4096,
	};

	if (in->major < FUSE_KERNEL_VERSION ||
	    (in->major == FUSE_KERNEL_VERSION && in->minor < MINOR_MIN))
		return -EPROTO;
	/* A newer one asks again, for the version that it is told here. */
	if (in->major > FUSE_KERNEL_VERSION) {
		fsd_reply(c, &out, sizeof(out));
		return 0;
	}
	/* Whoever begins anew knows nothing of before. */
	fsd_fs_reset(c->fs);
	if (flags & FUSE_INIT_EXT)
		flags |= (uint64_t)in->flags2 << 32;
	flags &= wanted(&c->fs->options);
	atomic_store(&c->fs->negotiated, flags);
	out.flags = (uint32_t)flags;
	out.flags2 = (uint32_t)(flags >> 32);
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

int fsd_destroy(struct fsd_call *c)
{
	fsd_fs_reset(c->fs);
	return 0;
}

/* No request waits for anything that could be interrupted; a reply to this would be unexpected. */
int fsd_interrupt(struct fsd_call *c)
{
	return 0;
}
