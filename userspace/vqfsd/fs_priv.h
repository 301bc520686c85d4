/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the served tree share: its parts, and a request while it is executed.
 *
 * fs_handle.c copies header, arguments and text of a request out of guest memory once, finds the
 * row of its opcode and calls the row's function, which works on the copies; the function replies
 * by fsd_reply() or writes data through call->out, and returns 0 or -errno.
 */
#ifndef VQFSD_FS_PRIV_H
#define VQFSD_FS_PRIV_H

#include <limits.h>
#include <sys/stat.h>

#include "common/fuse_abi.h"
#include "vqfsd/creds.h"
#include "vqfsd/fs.h"
#include "vqfsd/handle.h"
#include "vqfsd/inode.h"
#include "virtqueue/cursor.h"

#define FSD_IO_MAX    (1u << 20) /* bytes of one READ or WRITE */
#define FSD_XATTR_MAX 65536u     /* XATTR_SIZE_MAX, XATTR_LIST_MAX */
/* Names, targets, a value: what may follow the arguments. */
#define FSD_TEXT_MAX  (FSD_XATTR_MAX + PATH_MAX)

struct fsd_fs {
	struct fsd_fs_options options;
	int root_fd, proc_fd; /* O_PATH: the share, /proc/self/fd */
	struct fsd_inodes inodes;
	struct fsd_handles handles;
	uint64_t timeout_s;
	uint32_t timeout_ns;
	_Atomic uint64_t negotiated; /* FUSE_* bits of INIT */
	_Atomic bool no_xattrat;     /* the host's kernel has no setxattrat(2) and its like */
};

struct fsd_thread {
	struct fsd_fs *fs;
	struct fsd_creds creds;
	char *bounce;              /* FSD_IO_MAX bytes, page-aligned; allocated when first needed */
	struct iovec iov[IOV_MAX]; /* for one system call */
	char text[FSD_TEXT_MAX + 1];
	char data[FSD_XATTR_MAX]; /* of a reply that the host cannot write into guest memory */
};

/* Arguments of fixed size, by opcode. */
union fsd_args {
	struct fuse_forget_in forget;
	struct fuse_batch_forget_in batch_forget;
	struct fuse_getattr_in getattr;
	struct fuse_statx_in statx;
	struct fuse_setattr_in setattr;
	struct fuse_mknod_in mknod;
	struct fuse_mkdir_in mkdir;
	struct fuse_rename_in rename;
	struct fuse_rename2_in rename2;
	struct fuse_link_in link;
	struct fuse_open_in open;
	struct fuse_create_in create;
	struct fuse_release_in release;
	struct fuse_flush_in flush;
	struct fuse_read_in read;
	struct fuse_write_in write;
	struct fuse_fsync_in fsync;
	struct fuse_setxattr_in setxattr;
	struct fuse_getxattr_in getxattr;
	struct fuse_access_in access;
	struct fuse_init_in init;
	struct fuse_fallocate_in fallocate;
	struct fuse_lseek_in lseek;
	struct fuse_copy_file_range_in copy;
};

struct fsd_call {
	struct fsd_fs *fs;
	struct fsd_thread *thread;
	struct fuse_in_header head;
	union fsd_args args;  /* as much as the row says; what an older peer left out is zero */
	struct vq_cursor in;  /* behind what was copied */
	struct vq_cursor out; /* behind the reply's header; out.left is the room */
	const char *text;     /* what followed the arguments, and a NUL */
	size_t text_len;      /* without that */
	size_t replied;       /* bytes behind the header */
	/* References that go back when the function has returned. */
	struct fsd_inode *node[2];
	struct fsd_handle *handle[2];
	struct fsd_outcome *outcome;
};

/* Puts @len bytes behind what was replied already. There is room: the row says how much is needed.
 */
static inline void fsd_reply(struct fsd_call *c, const void *data, size_t len)
{
	c->replied += vq_cursor_write(&c->out, data, len);
}

/*
 * Takes the next string of the text. 0; -EINVAL: it does not end. Names (one element of a path that
 * is neither . nor ..) also: -EINVAL: none; -ENAMETOOLONG.
 */
int fsd_take_string(struct fsd_call *c, const char **string);
int fsd_take_name(struct fsd_call *c, const char **name);
/* Who makes something: with the groups that follow what was taken. */
int fsd_take_who(struct fsd_call *c, struct fsd_who *who);

/*
 * The node, file or directory that the guest means; it stays while the request is executed. At most
 * two of each are asked for. 0; -ESTALE: no such node; -ENOTDIR, -EINVAL: it is not of @type
 * (S_IFMT bits; 0: any); -EBADF: no such handle, or of the other kind.
 */
int fsd_node(struct fsd_call *c, uint64_t id, uint32_t type, struct fsd_inode **node);
int fsd_file(struct fsd_call *c, uint64_t fh, struct fsd_handle **file);
int fsd_dir(struct fsd_call *c, uint64_t fh, struct fsd_handle **dir);

/* The entry of @fd in /proc/self/fd, for calls that follow links. */
struct fsd_proc_name {
	char text[16];
};
struct fsd_proc_name fsd_proc_name(int fd);
/* The inode's file opened anew. It is a regular file or a directory: others are not to be opened.
 */
int fsd_reopen(struct fsd_fs *fs, const struct fsd_inode *i, int flags);

void fsd_attr_from_stat(struct fuse_attr *attr, const struct stat *st);
uint32_t fsd_dev_to_guest(dev_t dev);

/*
 * Looks @name up in the directory @parent: fills *entry, which counts as a lookup. 0 or -errno.
 * fsd_entry_of() the same for a file that is open as @fd (O_PATH or not).
 */
int fsd_lookup(struct fsd_fs *fs, int parent, const char *name, struct fuse_entry_out *entry);
int fsd_entry_of(struct fsd_fs *fs, int fd, struct fuse_entry_out *entry);

/* The rows' functions. */
int fsd_init(struct fsd_call *c);
int fsd_destroy(struct fsd_call *c);
int fsd_interrupt(struct fsd_call *c);
int fsd_do_lookup(struct fsd_call *c);
int fsd_forget(struct fsd_call *c);
int fsd_batch_forget(struct fsd_call *c);
int fsd_getattr(struct fsd_call *c);
int fsd_statx(struct fsd_call *c);
int fsd_setattr(struct fsd_call *c);
int fsd_access(struct fsd_call *c);
int fsd_statfs(struct fsd_call *c);
int fsd_readlink(struct fsd_call *c);
int fsd_symlink(struct fsd_call *c);
int fsd_mknod(struct fsd_call *c);
int fsd_mkdir(struct fsd_call *c);
int fsd_unlink(struct fsd_call *c);
int fsd_rmdir(struct fsd_call *c);
int fsd_rename(struct fsd_call *c);
int fsd_rename2(struct fsd_call *c);
int fsd_link(struct fsd_call *c);
int fsd_open(struct fsd_call *c);
int fsd_create(struct fsd_call *c);
int fsd_flush(struct fsd_call *c);
int fsd_release(struct fsd_call *c);
int fsd_read(struct fsd_call *c);
int fsd_write(struct fsd_call *c);
int fsd_fsync(struct fsd_call *c);
int fsd_fallocate(struct fsd_call *c);
int fsd_lseek(struct fsd_call *c);
int fsd_copy_file_range(struct fsd_call *c);
int fsd_copy_file_range_64(struct fsd_call *c);
int fsd_syncfs(struct fsd_call *c);
int fsd_opendir(struct fsd_call *c);
int fsd_readdir(struct fsd_call *c);
int fsd_readdirplus(struct fsd_call *c);
int fsd_releasedir(struct fsd_call *c);
int fsd_fsyncdir(struct fsd_call *c);
int fsd_setxattr(struct fsd_call *c);
int fsd_getxattr(struct fsd_call *c);
int fsd_listxattr(struct fsd_call *c);
int fsd_removexattr(struct fsd_call *c);

#endif
