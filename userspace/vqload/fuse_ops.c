// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of opcodes. Which errors are normal: the man page of the system call behind each. */
#include "vqload/fuse_ops.h"

#include <errno.h>
#include <strings.h>

#include "common/cleanup.h"

/* What is normal nowhere: EIO, ENOMEM, EBADF, EINVAL and whatever else a guest cannot cause. */
#define ERRORS(name, ...) static const int16_t name[] = {__VA_ARGS__, 0}

ERRORS(on_none, 0);
/* A name that is looked up, made or removed by several at once may be there, or not. */
ERRORS(on_lookup, ENOENT, ENOTDIR, EACCES, ENAMETOOLONG, ESTALE, ELOOP);
ERRORS(on_make, EEXIST, ENOENT, ENOTDIR, EACCES, EPERM, ENAMETOOLONG, ENOSPC, EDQUOT, EROFS, EMLINK,
       ESTALE, EOPNOTSUPP, ENOSYS);
ERRORS(on_remove, ENOENT, ENOTDIR, EISDIR, ENOTEMPTY, EACCES, EPERM, EBUSY, EROFS, ESTALE);
ERRORS(on_rename, ENOENT, EEXIST, ENOTEMPTY, ENOTDIR, EISDIR, EACCES, EPERM, EBUSY, ENOSPC, EDQUOT,
       EROFS, EXDEV, ESTALE, ENOSYS, EINVAL);
ERRORS(on_node, ENOENT, ESTALE, EACCES, EPERM, ENOSYS);
ERRORS(on_setattr, ENOENT, ESTALE, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, ETXTBSY);
ERRORS(on_open, ENOENT, ENOTDIR, EISDIR, EEXIST, EACCES, EPERM, EMFILE, ENFILE, ENOSPC, EDQUOT,
       EROFS, ELOOP, ENAMETOOLONG, ESTALE, ETXTBSY, ENOSYS);
ERRORS(on_write, ENOSPC, EDQUOT, EFBIG, EROFS, EPERM, EAGAIN, EINTR);
ERRORS(on_sync, ENOSPC, EDQUOT, ENOSYS);
ERRORS(on_xattr, ENODATA, ERANGE, EOPNOTSUPP, ENOSYS, EACCES, EPERM, ENOENT, ESTALE, EEXIST, E2BIG,
       ENOSPC, EDQUOT, EROFS);
ERRORS(on_allocate, ENOSPC, EDQUOT, EFBIG, EOPNOTSUPP, ENOSYS, EROFS, EPERM);
ERRORS(on_lseek, ENXIO, ENOSYS);
ERRORS(on_copy, ENOSPC, EDQUOT, EFBIG, EOPNOTSUPP, ENOSYS, EXDEV, EPERM);
ERRORS(on_lock, EAGAIN, EACCES, EDEADLK, EINTR, ENOLCK, ENOSYS, EOPNOTSUPP);
ERRORS(on_link, EINVAL, ENOENT, ESTALE, EACCES);

#define ENTRY  sizeof(struct fuse_entry_out)
#define ATTR   sizeof(struct fuse_attr_out)
#define OPENED sizeof(struct fuse_open_out)
#define IN(t)  sizeof(struct fuse_##t##_in)
#define OUT(t) sizeof(struct fuse_##t##_out)

#define ROW(op, rule, in, out, hiprio, errors) \
	[FUSE_##op] = {#op, FUSE_##op, LOAD_REPLY_##rule, in, out, hiprio, errors}
#define FIXED(op, in, out, errors) ROW(op, FIXED, in, out, false, errors)
#define UP_TO(op, in, errors)      ROW(op, UP_TO, in, 0, false, errors)
#define NONE(op, in)               ROW(op, NONE, in, 0, true, on_none)

static const struct load_op ops[LOAD_OPS] = {
	FIXED(LOOKUP, 0, ENTRY, on_lookup),
	NONE(FORGET, IN(forget)),
	FIXED(GETATTR, IN(getattr), ATTR, on_node),
	FIXED(SETATTR, IN(setattr), ATTR, on_setattr),
	UP_TO(READLINK, 0, on_link),
	FIXED(SYMLINK, 0, ENTRY, on_make),
	FIXED(MKNOD, IN(mknod), ENTRY, on_make),
	FIXED(MKDIR, IN(mkdir), ENTRY, on_make),
	FIXED(UNLINK, 0, 0, on_remove),
	FIXED(RMDIR, 0, 0, on_remove),
	FIXED(RENAME, IN(rename), 0, on_rename),
	FIXED(LINK, IN(link), ENTRY, on_make),
	FIXED(OPEN, IN(open), OPENED, on_open),
	UP_TO(READ, IN(read), on_none),
	FIXED(WRITE, IN(write), OUT(write), on_write),
	FIXED(STATFS, 0, OUT(statfs), on_node),
	FIXED(RELEASE, IN(release), 0, on_none),
	FIXED(FSYNC, IN(fsync), 0, on_sync),
	FIXED(SETXATTR, FUSE_COMPAT_SETXATTR_IN_SIZE, 0, on_xattr),
	ROW(GETXATTR, SIZE_OR_DATA, IN(getxattr), OUT(getxattr), false, on_xattr),
	ROW(LISTXATTR, SIZE_OR_DATA, IN(getxattr), OUT(getxattr), false, on_xattr),
	FIXED(REMOVEXATTR, 0, 0, on_xattr),
	FIXED(FLUSH, IN(flush), 0, on_sync),
	ROW(INIT, OLDER, IN(init), OUT(init), false, on_none),
	FIXED(OPENDIR, IN(open), OPENED, on_open),
	UP_TO(READDIR, IN(read), on_none),
	FIXED(RELEASEDIR, IN(release), 0, on_none),
	FIXED(FSYNCDIR, IN(fsync), 0, on_sync),
	FIXED(GETLK, IN(lk), OUT(lk), on_lock),
	FIXED(SETLK, IN(lk), 0, on_lock),
	FIXED(SETLKW, IN(lk), 0, on_lock),
	FIXED(ACCESS, IN(access), 0, on_node),
	FIXED(CREATE, IN(create), ENTRY + OPENED, on_open),
	NONE(INTERRUPT, IN(interrupt)),
	FIXED(DESTROY, 0, 0, on_none),
	NONE(BATCH_FORGET, IN(batch_forget)),
	FIXED(FALLOCATE, IN(fallocate), 0, on_allocate),
	UP_TO(READDIRPLUS, IN(read), on_none),
	FIXED(RENAME2, IN(rename2), 0, on_rename),
	FIXED(LSEEK, IN(lseek), OUT(lseek), on_lseek),
	FIXED(COPY_FILE_RANGE, IN(copy_file_range), OUT(write), on_copy),
	FIXED(SYNCFS, IN(syncfs), 0, on_sync),
	FIXED(STATX, IN(statx), OUT(statx), on_node),
	FIXED(COPY_FILE_RANGE_64, IN(copy_file_range), OUT(copy_file_range), on_copy),
};

const struct load_op *load_op(uint32_t opcode)
{
	return opcode < LOAD_OPS && ops[opcode].name ? &ops[opcode] : NULL;
}

const char *load_op_name(uint32_t opcode)
{
	const struct load_op *op = load_op(opcode);

	return op ? op->name : "UNKNOWN";
}

const struct load_op *load_op_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].name && !strcasecmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

bool load_op_error_is_normal(const struct load_op *op, int error)
{
	for (const int16_t *e = op->errors; *e; e++)
		if (*e == -error)
			return true;
	return false;
}
