/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FUSE as a guest speaks it: one row per opcode, and builders that write requests.
 *
 * Data flows one way: builder -> struct load_req -> ring; the reply's bytes go with the same
 * struct load_req to the judge (judge.h) and to the readers (fuse_reply.h). Nothing here allocates,
 * blocks or keeps state.
 *
 * The protocol is include/uapi/linux/fuse.h, up to 7.46 (Linux 7.3). What Linux puts into a
 * request, and how long it lets a reply be, is in its fs/fuse: dir.c, file.c, xattr.c, readdir.c,
 * inode.c; which queue it goes to, in virtio_fs.c.
 */
#ifndef VQLOAD_FUSE_OPS_H
#define VQLOAD_FUSE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/fuse_abi.h"

#define LOAD_OPS 64 /* opcodes are below: the highest of 7.46 is 53 */

/* Linux counts unique in steps of 2; an INTERRUPT carries its victim's with bit 0 set. */
#define LOAD_UNIQUE_STEP      2
#define LOAD_UNIQUE_INTERRUPT 1ULL

/* Names up to this, without the NUL: FUSE_NAME_MAX of Linux 6.15 and later (PATH_MAX - 1). */
#define LOAD_NAME_MAX 4095

/* How long a reply that is no error may be, header of 16 bytes included. */
enum load_reply_rule {
	LOAD_REPLY_NONE,  /* no reply: no writable descriptor */
	LOAD_REPLY_FIXED, /* 16 + op->out_args, exactly */
	LOAD_REPLY_UP_TO, /* 16 + at most what the request asked for (READ, READDIR, READLINK) */
	LOAD_REPLY_SIZE_OR_DATA, /* size 0: 16 + 8, exactly; else as UP_TO (GETXATTR, LISTXATTR) */
	LOAD_REPLY_OLDER,        /* 16 + at most op->out_args: an older peer's is shorter (INIT) */
};

/* One opcode. */
struct load_op {
	const char *name; /* "READ"; as vqsteer names it */
	uint32_t opcode;
	enum load_reply_rule rule;
	uint32_t in_args;  /* bytes of the argument struct after the header; names come on top */
	uint32_t out_args; /* bytes of the reply's argument structs; 0: header only */
	bool hiprio;       /* Linux sends it through queue 0 */
	const int16_t *errors; /* that a sound daemon may well answer, positive; ends with 0 */
};

/* The row of @opcode; NULL: no such opcode, or one that no guest sends (IOCTL, POLL, BMAP, ...). */
const struct load_op *load_op(uint32_t opcode);
/* Its name; "UNKNOWN" for one without a row. */
const char *load_op_name(uint32_t opcode);
/* By name, in any case; NULL: none. */
const struct load_op *load_op_named(const char *name);
/* Whether @error (negative, as replies carry it) is one of op->errors. */
bool load_op_error_is_normal(const struct load_op *op, int error);

/*
 * One request: where it lies, what the reply may be. Sizes are bytes. Linux lays it out as
 *   readable: header (40) | arguments, names | data          in[0..in_size), in_data_size bytes
 *   writable: header (16) | arguments        | data          out_size bytes, out_data_size bytes
 * each part a descriptor (or several), empty parts left out. Where out, data and their guards lie
 * is the caller's business; the builder only says how large.
 */
struct load_req {
	/* Set by load_req_init(). */
	void *in;        /* buffer for header, arguments and names; any alignment */
	uint32_t in_cap; /* its size */

	/* Set by the builder. */
	uint32_t in_size;       /* header + arguments + names */
	uint32_t in_data_size;  /* data after that: WRITE */
	uint32_t out_size;      /* header + arguments; 0: wants no reply */
	uint32_t out_data_size; /* data after that: READ, READDIR, READDIRPLUS, READLINK, *XATTR */
	uint32_t reply_min, reply_max; /* lengths of a reply that is no error; 0, 0: none */
	uint32_t opcode;
	uint64_t unique;
	uint64_t nodeid;
	uint64_t limit; /* the most that a count in the reply may be: WRITE, COPY_FILE_RANGE */
	uint32_t type;  /* S_IFMT bits that the reply's attributes must have; 0: any */
	bool hiprio;    /* goes through queue 0 */
};

/* Sender, and the node that the request is about (the parent, where it names a child). */
struct load_head {
	uint64_t unique;
	uint64_t nodeid;
	uint32_t uid, gid, pid;
};

/* Prepares @r to be built into @in, of @in_cap bytes. A request may be built again and again. */
void load_req_init(struct load_req *r, void *in, uint32_t in_cap);

/*
 * Builders. All return 0; -ENOSPC: in_cap is too small; -EINVAL: a name is empty or longer than
 * LOAD_NAME_MAX, a size is beyond what the field can say. After an error @r is not to be sent.
 * Every byte of the request is written, padding as zeros.
 */

/*
 * What the guest offers. load_init_linux() fills what Linux 7.3 offers on a virtio-fs mount without
 * DAX, but for FUSE_SECURITY_CTX and FUSE_CREATE_SUPP_GROUP: whoever offers these must then send
 * extensions with CREATE, MKDIR, MKNOD and SYMLINK, and the builders do not.
 */
struct load_init {
	uint32_t minor; /* of protocol 7 */
	uint32_t max_readahead;
	uint64_t flags; /* FUSE_INIT bits, 32..63 for flags2 */
};
void load_init_linux(struct load_init *init);
int load_build_init(struct load_req *r, const struct load_head *h, const struct load_init *init);
int load_build_destroy(struct load_req *r, const struct load_head *h);

int load_build_lookup(struct load_req *r, const struct load_head *h, const char *name);
/* FORGET and BATCH_FORGET want no reply. Linux sends virtio-fs only the first. */
int load_build_forget(struct load_req *r, const struct load_head *h, uint64_t nlookup);
int load_build_batch_forget(struct load_req *r, const struct load_head *h,
			    const struct fuse_forget_one *ones, uint32_t count);
/* Of the request with @victim as unique; h->unique is not used. Linux sends virtio-fs none. */
int load_build_interrupt(struct load_req *r, const struct load_head *h, uint64_t victim);

/* @fh NULL: by node, else by handle. */
int load_build_getattr(struct load_req *r, const struct load_head *h, const uint64_t *fh);
/* @mask: STATX_* bits; Linux asks for STATX_BASIC_STATS | STATX_BTIME. Since 7.39. */
int load_build_statx(struct load_req *r, const struct load_head *h, const uint64_t *fh,
		     uint32_t mask);
/* @in as it goes onto the wire: valid says which fields count. */
int load_build_setattr(struct load_req *r, const struct load_head *h,
		       const struct fuse_setattr_in *in);
int load_build_access(struct load_req *r, const struct load_head *h, uint32_t mask);
int load_build_statfs(struct load_req *r, const struct load_head *h);
int load_build_syncfs(struct load_req *r, const struct load_head *h);

/* @flags: O_*, as open(2); OPEN does not carry O_CREAT, O_EXCL, O_NOCTTY. */
int load_build_open(struct load_req *r, const struct load_head *h, uint32_t flags);
int load_build_opendir(struct load_req *r, const struct load_head *h, uint32_t flags);
int load_build_create(struct load_req *r, const struct load_head *h, const char *name,
		      uint32_t flags, uint32_t mode, uint32_t umask);
int load_build_release(struct load_req *r, const struct load_head *h, uint64_t fh, uint32_t flags);
int load_build_releasedir(struct load_req *r, const struct load_head *h, uint64_t fh,
			  uint32_t flags);
int load_build_flush(struct load_req *r, const struct load_head *h, uint64_t fh,
		     uint64_t lock_owner);
int load_build_fsync(struct load_req *r, const struct load_head *h, uint64_t fh, bool datasync);
int load_build_fsyncdir(struct load_req *r, const struct load_head *h, uint64_t fh, bool datasync);

/* @size bytes from @offset; READ's data comes back as, WRITE's data goes out as, the data part. */
int load_build_read(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		    uint32_t size);
int load_build_write(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		     uint32_t size);
/* @offset: 0, or the off of the last dirent that was read. @size: of the data part. */
int load_build_readdir(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		       uint32_t size);
int load_build_readdirplus(struct load_req *r, const struct load_head *h, uint64_t fh,
			   uint64_t offset, uint32_t size);

int load_build_mkdir(struct load_req *r, const struct load_head *h, const char *name, uint32_t mode,
		     uint32_t umask);
/* @mode with the type, S_IFREG and so on. */
int load_build_mknod(struct load_req *r, const struct load_head *h, const char *name, uint32_t mode,
		     uint32_t rdev, uint32_t umask);
int load_build_unlink(struct load_req *r, const struct load_head *h, const char *name);
int load_build_rmdir(struct load_req *r, const struct load_head *h, const char *name);
/* @name in h->nodeid becomes @newname in @newdir. @flags: RENAME_*; 0 goes out as RENAME, like
 * Linux. */
int load_build_rename2(struct load_req *r, const struct load_head *h, const char *name,
		       uint64_t newdir, const char *newname, uint32_t flags);
/* The node @old gets one more name, @name in h->nodeid. */
int load_build_link(struct load_req *r, const struct load_head *h, uint64_t old, const char *name);
int load_build_symlink(struct load_req *r, const struct load_head *h, const char *name,
		       const char *target);
/* Linux gives it a page less one byte. */
int load_build_readlink(struct load_req *r, const struct load_head *h, uint32_t size);

int load_build_fallocate(struct load_req *r, const struct load_head *h, uint64_t fh,
			 uint64_t offset, uint64_t length, uint32_t mode);
int load_build_lseek(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t offset,
		     uint32_t whence);
/* From h->nodeid. @wide: COPY_FILE_RANGE_64 (7.45), else @len must fit 32 bits. */
int load_build_copy_file_range(struct load_req *r, const struct load_head *h,
			       const struct fuse_copy_file_range_in *in, bool wide);

/*
 * The value goes with the arguments, as in Linux. @ext: with the fields of FUSE_SETXATTR_EXT, which
 * is for a daemon that accepted that flag in INIT and for no other.
 */
int load_build_setxattr(struct load_req *r, const struct load_head *h, const char *name,
			const void *value, uint32_t size, uint32_t flags, bool ext);
/* @size 0 asks how large the value (the list) is, else for at most @size bytes of it. */
int load_build_getxattr(struct load_req *r, const struct load_head *h, const char *name,
			uint32_t size);
int load_build_listxattr(struct load_req *r, const struct load_head *h, uint32_t size);
int load_build_removexattr(struct load_req *r, const struct load_head *h, const char *name);

/* @flock: FUSE_LK_FLOCK instead of a POSIX lock. @lk.type: F_RDLCK, F_WRLCK, F_UNLCK. */
int load_build_getlk(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		     const struct fuse_file_lock *lk);
int load_build_setlk(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		     const struct fuse_file_lock *lk, bool flock);
int load_build_setlkw(struct load_req *r, const struct load_head *h, uint64_t fh, uint64_t owner,
		      const struct fuse_file_lock *lk, bool flock);

#endif
