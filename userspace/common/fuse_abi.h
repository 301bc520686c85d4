/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <linux/fuse.h>, and what an older one lacks. Debian 12's is of protocol 7.38; names that came
 * later are defined here as the protocol has them, each with its version. A newer header wins.
 */
#ifndef COMMON_FUSE_ABI_H
#define COMMON_FUSE_ABI_H

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>

/* 7.38, but missing in the header of Linux 6.1. */
#ifndef FUSE_CREATE_SUPP_GROUP
#define FUSE_CREATE_SUPP_GROUP (1ULL << 34)
#define FUSE_EXT_GROUPS        32

struct fuse_supp_groups {
	uint32_t nr_groups;
	uint32_t groups[];
};
#endif

/* 7.39 */
#if FUSE_KERNEL_MINOR_VERSION < 39
#define FUSE_DIRECT_IO_ALLOW_MMAP (1ULL << 36)
#define FUSE_STATX                52

struct fuse_sx_time {
	int64_t tv_sec;
	uint32_t tv_nsec;
	int32_t __reserved;
};

/* Bit for bit that of statx(2). */
struct fuse_statx {
	uint32_t mask;
	uint32_t blksize;
	uint64_t attributes;
	uint32_t nlink;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;
	uint16_t __spare0[1];
	uint64_t ino;
	uint64_t size;
	uint64_t blocks;
	uint64_t attributes_mask;
	struct fuse_sx_time atime;
	struct fuse_sx_time btime;
	struct fuse_sx_time ctime;
	struct fuse_sx_time mtime;
	uint32_t rdev_major;
	uint32_t rdev_minor;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t __spare2[14];
};

struct fuse_statx_in {
	uint32_t getattr_flags;
	uint32_t reserved;
	uint64_t fh;
	uint32_t sx_flags;
	uint32_t sx_mask;
};

struct fuse_statx_out {
	uint64_t attr_valid;
	uint32_t attr_valid_nsec;
	uint32_t flags;
	uint64_t spare[2];
	struct fuse_statx stat;
};
#endif

/* 7.40 */
#ifndef FUSE_NO_EXPORT_SUPPORT
#define FUSE_NO_EXPORT_SUPPORT (1ULL << 38)
#define FUSE_HAS_RESEND        (1ULL << 39)
#endif

/* 7.41 */
#ifndef FUSE_ALLOW_IDMAP
#define FUSE_ALLOW_IDMAP (1ULL << 40)
#endif

/* 7.43 */
#ifndef FUSE_REQUEST_TIMEOUT
#define FUSE_REQUEST_TIMEOUT (1ULL << 42)
#endif

/* 7.45 */
#if FUSE_KERNEL_MINOR_VERSION < 45
#define FUSE_COPY_FILE_RANGE_64 53

struct fuse_copy_file_range_out {
	uint64_t bytes_copied;
};
#endif

#endif
