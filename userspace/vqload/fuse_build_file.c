// SPDX-License-Identifier: GPL-2.0-or-later
/* Builders: open files, their data, locks and extended attributes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "vqload/fuse_build.h"

static int build_open(struct load_req *r, const struct load_head *h, uint32_t opcode,
		      uint32_t flags)
{
	/* fuse_send_open(), fs/fuse/file.c. */
	struct fuse_open_in in = {.flags = flags & ~(uint32_t)(O_CREAT | O_EXCL | O_NOCTTY)};

	return load_build_plain(r, h, opcode, &in, sizeof(in));
}

int load_build_open(struct load_req *r, const struct load_head *h, uint32_t flags)
{
	return build_open(r, h, FUSE_OPEN, flags);
}

int load_build_opendir(struct load_req *r, const struct load_head *h, uint32_t flags)
{
	return build_open(r, h, FUSE_OPENDIR, flags);
}

static int build_release(struct load_req *r, const struct load_head *h, uint32_t opcode,
			 uint64_t fh, uint32_t flags)
{
	struct fuse_release_in in = {.fh = fh, .flags = flags};

	return load_build_plain(r, h, opcode, &in, sizeof(in));
}

int load_build_release(struct load_req *r, const struct load_head *h, uint64_t fh, uint32_t flags)
{
	return build_release(r, h, FUSE_RELEASE, fh, flags);
}

int load_build_releasedir(struct load_req *r, const struct load_head *h, uint64_t fh,
			  uint32_t flags)
{
	return build_release(r, h, FUSE_RELEASEDIR, fh, flags);
}

int load_build_flush(struct load_req *r, const struct load_head *h, uint64_t fh,
		     uint64_t lock_owner)
{
	struct fuse_flush_in in = {.fh = fh, .lock_owner = lock_owner};

	return load_build_plain(r, h, FUSE_FLUSH, &in, sizeof(in));
}

static int build_fsync(struct load_req *r, const struct load_head *h, uint32_t opcode, uint64_t fh,
		       bool datasync)
{
	struct fuse_fsync_in in = {.fh = fh, .fsync_flags = datasync ? FUSE_FSYNC_FDATASYNC : 0};

	return load_build_plain(r, h, opcode, &in, sizeof(in));
}

int load_build_fsync(struct load_req *r, const struct load_head *h, uint64_t fh, bool datasync)
{
	return build_fsync(r, h, FUSE_FSYNC, fh, datasync);
}

int load_build_fsyncdir(struct load_req *r, const struct load_head *h, uint64_t fh, bool datasync)
{
	return build_fsync(r, h, FUSE_FSYNCDIR, fh, datasync);
}

static int build_read(struct load_req *r, const struct load_head *h, uint32_t opcode, uint64_t fh,
		      uint64_t offset, uint32_t size)
{
	struct fuse_read_in in = {.fh = fh, .offset = offset, .size = size};
	struct load_build b = load_begin(r, h, opcode, &in, sizeof(in));

	return load_end(&b, size);
}

int load_build_read(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		    uint32_t size)
{
	return build_read(r, h, FUSE_READ, fh, offset, size);
}

int load_build_readdir(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		       uint32_t size)
{
	return build_read(r, h, FUSE_READDIR, fh, offset, size);
}

int load_build_readdirplus(struct load_req *r, const struct load_head *h, uint64_t fh,
			   uint64_t offset, uint32_t size)
{
	return build_read(r, h, FUSE_READDIRPLUS, fh, offset, size);
}

int load_build_write(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		     uint32_t size)
{
	struct fuse_write_in in = {.fh = fh, .offset = offset, .size = size};
	struct load_build b = load_begin(r, h, FUSE_WRITE, &in, sizeof(in));

	r->in_data_size = size;
	r->limit = size;
	return load_end(&b, 0);
}

int load_build_fallocate(struct load_req *r, const struct load_head *h, uint64_t fh,
			 uint64_t offset, uint64_t length, uint32_t mode)
{
	struct fuse_fallocate_in in = {
		.fh = fh,
		.offset = offset,
		.length = length,
		.mode = mode,
	};

	return load_build_plain(r, h, FUSE_FALLOCATE, &in, sizeof(in));
}

int load_build_lseek(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		     uint32_t whence)
{
	struct fuse_lseek_in in = {.fh = fh, .offset = offset, .whence = whence};

	return load_build_plain(r, h, FUSE_LSEEK, &in, sizeof(in));
}

int load_build_copy_file_range(struct load_req *r, const struct load_head *h,
			       const struct fuse_copy_file_range_in *in, bool wide)
{
	int err = load_build_plain(r, h, wide ? FUSE_COPY_FILE_RANGE_64 : FUSE_COPY_FILE_RANGE, in,
				   sizeof(*in));

	r->limit = in->len;
	/* Its reply counts in 32 bits. */
	return !wide && in->len > UINT32_MAX ? -EINVAL : err;
}

int load_build_setxattr(struct load_req *r, const struct load_head *h, const char *name,
			const void *value, uint32_t size, uint32_t flags, bool ext)
{
	struct fuse_setxattr_in in = {.size = size, .flags = flags};
	struct load_build b = load_begin(r, h, FUSE_SETXATTR, &in,
					 ext ? sizeof(in) : FUSE_COMPAT_SETXATTR_IN_SIZE);

	load_put_name(&b, name);
	load_put(&b, value, size);
	return load_end(&b, 0);
}

int load_build_getxattr(struct load_req *r, const struct load_head *h, const char *name,
			uint32_t size)
{
	struct fuse_getxattr_in in = {.size = size};
	struct load_build b = load_begin(r, h, FUSE_GETXATTR, &in, sizeof(in));

	load_put_name(&b, name);
	return load_end(&b, size);
}

int load_build_listxattr(struct load_req *r, const struct load_head *h, uint32_t size)
{
	struct fuse_getxattr_in in = {.size = size};
	struct load_build b = load_begin(r, h, FUSE_LISTXATTR, &in, sizeof(in));

	return load_end(&b, size);
}

int load_build_removexattr(struct load_req *r, const struct load_head *h, const char *name)
{
	struct load_build b = load_begin(r, h, FUSE_REMOVEXATTR, NULL, 0);

	load_put_name(&b, name);
	return load_end(&b, 0);
}

static int build_lock(struct load_req *r, const struct load_head *h, uint32_t opcode, uint64_t fh,
		      uint64_t owner, const struct fuse_file_lock *lk, uint32_t flags)
{
	struct fuse_lk_in in = {.fh = fh, .owner = owner, .lk = *lk, .lk_flags = flags};

	return load_build_plain(r, h, opcode, &in, sizeof(in));
}

int load_build_getlk(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		     const struct fuse_file_lock *lk)
{
	return build_lock(r, h, FUSE_GETLK, fh, owner, lk, 0);
}

int load_build_setlk(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		     const struct fuse_file_lock *lk, bool flock)
{
	return build_lock(r, h, FUSE_SETLK, fh, owner, lk, flock ? FUSE_LK_FLOCK : 0);
}

int load_build_setlkw(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		      const struct fuse_file_lock *lk, bool flock)
{
	return build_lock(r, h, FUSE_SETLKW, fh, owner, lk, flock ? FUSE_LK_FLOCK : 0);
}
