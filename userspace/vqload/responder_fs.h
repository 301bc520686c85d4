/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responder's files: a tree in memory with what a FUSE daemon must know of it (lookup counts,
 * open handles). "pattern" in the root is 1 GiB whose every aligned eight bytes are their own
 * offset, little endian; other files hold what was written.
 *
 * Functions return 0 or -errno as the FUSE reply carries it. Node numbers are stale, not reused,
 * after a node is gone.
 */
#ifndef VQLOAD_RESPONDER_FS_H
#define VQLOAD_RESPONDER_FS_H

#include <stddef.h>
#include <stdint.h>

#include <sys/uio.h>

#define LOAD_FS_PATTERN_BYTES (1ULL << 30)
#define LOAD_FS_NODES         4096u
#define LOAD_FS_BYTES_MAX     (256ULL << 20) /* of written data, all files */

struct load_fs;

struct load_fs_attr {
	uint64_t nodeid;
	uint64_t ino;
	uint64_t size;
	uint32_t mode; /* with the type */
	uint32_t nlink;
	uint64_t atime, mtime; /* seconds, as they were set; nothing else changes them */
};

struct load_fs *load_fs_new(void);
void load_fs_free(struct load_fs *fs);
/* All lookups and handles are gone, as after DESTROY. */
void load_fs_forget_all(struct load_fs *fs);

int load_fs_attr(struct load_fs *fs, uint64_t nodeid, struct load_fs_attr *a);
/* Counts as a lookup. @name of @len bytes, checked here. */
int load_fs_lookup(struct load_fs *fs, uint64_t dir, const char *name, size_t len,
		   struct load_fs_attr *a);
int load_fs_make(struct load_fs *fs, uint64_t dir, const char *name, size_t len, uint32_t mode,
		 struct load_fs_attr *a);
int load_fs_remove(struct load_fs *fs, uint64_t dir, const char *name, size_t len, int want_dir);
void load_fs_forget(struct load_fs *fs, uint64_t nodeid, uint64_t n);

int load_fs_open(struct load_fs *fs, uint64_t nodeid, int want_dir, uint64_t *fh);
int load_fs_release(struct load_fs *fs, uint64_t nodeid, uint64_t fh);
/* 0 when @fh is open on @nodeid. */
int load_fs_check(struct load_fs *fs, uint64_t nodeid, uint64_t fh);
/* The permissions; the type stays. */
int load_fs_chmod(struct load_fs *fs, uint64_t nodeid, uint32_t mode);
/* NULL: as it was. */
int load_fs_utimes(struct load_fs *fs, uint64_t nodeid, const uint64_t *atime,
		   const uint64_t *mtime);
int load_fs_truncate(struct load_fs *fs, uint64_t nodeid, uint64_t size);

/* At most @len bytes from @offset; returns how many. */
int64_t load_fs_read(struct load_fs *fs, uint64_t nodeid, uint64_t offset, void *to, size_t len);
int64_t load_fs_write(struct load_fs *fs, uint64_t nodeid, uint64_t offset, const void *from,
		      size_t len);

/* The first entry of @dir at place @pos or behind it; its place + 1 is where to go on. 1, 0: end.
 */
int load_fs_entry(struct load_fs *fs, uint64_t dir, uint64_t *pos, struct load_fs_attr *a,
		  const char **name);
uint64_t load_fs_bytes(const struct load_fs *fs);
uint32_t load_fs_count(const struct load_fs *fs);

#endif
