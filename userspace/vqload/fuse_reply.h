/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers for replies. The memory is the daemon's to write, during and after: whatever is read is
 * copied once, checked on the copy, and never trusted for a length. @out are the header and the
 * arguments, @len how many of their bytes count: the ring's used length, or less.
 *
 * Readers return 0 and fill what they are given; the reply's own error, negative, when it is an
 * error; -EBADMSG when it is too short, or says an error that cannot be. They check structure;
 * whether values make sense is the judge's to say (load_*_sane()).
 */
#ifndef VQLOAD_FUSE_REPLY_H
#define VQLOAD_FUSE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vqload/fuse_ops.h"

/* The header alone; 0 also for an error reply. -EBADMSG: @len < 16. */
int load_read_header(const void *out, size_t len, struct fuse_out_header *head);
/* 0, or the reply's error: of replies that are a header only (UNLINK, FSYNC, ...). */
int load_read_status(const void *out, size_t len);

/* LOOKUP, MKNOD, MKDIR, SYMLINK, LINK. nodeid 0: no such name, to be remembered (LOOKUP). */
int load_read_entry(const void *out, size_t len, struct fuse_entry_out *entry);
int load_read_create(const void *out, size_t len, struct fuse_entry_out *entry,
		     struct fuse_open_out *open);
int load_read_attr(const void *out, size_t len, struct fuse_attr_out *attr);
int load_read_statx(const void *out, size_t len, struct fuse_statx_out *statx);
int load_read_open(const void *out, size_t len, struct fuse_open_out *open);
/* WRITE, COPY_FILE_RANGE: bytes done. */
int load_read_count(const void *out, size_t len, uint32_t *count);
int load_read_count64(const void *out, size_t len, uint64_t *count);
int load_read_statfs(const void *out, size_t len, struct fuse_kstatfs *st);
int load_read_lseek(const void *out, size_t len, uint64_t *offset);
/* GETXATTR and LISTXATTR of size 0. */
int load_read_xattr_size(const void *out, size_t len, uint32_t *size);
int load_read_lock(const void *out, size_t len, struct fuse_file_lock *lk);
/* What an older daemon leaves out reads as zero, as in Linux. -EBADMSG: not even major, minor. */
int load_read_init(const void *out, size_t len, struct fuse_init_out *init);

/* Bytes of data that came with the reply to @r, of which the ring said @used; 0 for an error. */
uint32_t load_reply_data_len(const struct load_req *r, uint32_t used);

/* Values that Linux takes: fuse_invalid_attr(), invalid_nodeid() of its dir.c. */
bool load_attr_sane(const struct fuse_attr *attr);
bool load_statx_sane(const struct fuse_statx *st);
bool load_entry_sane(const struct fuse_entry_out *entry);

/* One name of a directory, copied. */
struct load_dirent {
	uint64_t ino;
	uint64_t off;  /* where to go on reading */
	uint32_t type; /* DT_* */
	uint32_t namelen;
	bool has_entry; /* READDIRPLUS, and its nodeid is not 0: @entry counts as a lookup */
	struct fuse_entry_out entry;
	char name[LOAD_NAME_MAX + 1];
};

struct load_dirents {
	const uint8_t *data;
	size_t len, pos;
	bool plus;
};

/* Over the @len bytes of data of a READDIR reply; @plus: READDIRPLUS. */
void load_dirents_start(struct load_dirents *it, const void *data, size_t len, bool plus);
/*
 * 1: *d is the next one. 0: no more. -EBADMSG: what Linux answers with EIO (a name that is empty,
 * longer than LOAD_NAME_MAX or has a slash in it), or a name with a NUL in it, which Linux would
 * cut. -EOVERFLOW: the last record is cut off, which Linux skips in silence. it->pos is the
 * record's position in both cases.
 */
int load_dirents_next(struct load_dirents *it, struct load_dirent *d);

#endif
