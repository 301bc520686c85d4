// SPDX-License-Identifier: GPL-2.0-or-later
/* Attributes of nodes, read and set; STATFS. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

void fsd_attr_from_stat(struct fuse_attr *a, const struct stat *st)
{
	*a = (struct fuse_attr){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atim.tv_sec,
		.mtime = (uint64_t)st->st_mtim.tv_sec,
		.ctime = (uint64_t)st->st_ctim.tv_sec,
		.atimensec = (uint32_t)st->st_atim.tv_nsec,
		.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.rdev = fsd_dev_to_guest(st->st_rdev),
		.blksize = (uint32_t)st->st_blksize,
	};
}

static int reply_attr(struct fsd_call *c, int fd)
{
	struct fuse_attr_out out = {
		.attr_valid = c->fs->timeout_s,
		.attr_valid_nsec = c->fs->timeout_ns,
	};
	struct stat st;

	/* glibc's fstat() is newfstatat(2), which is slower by 20 of 200 ns. */
	if (syscall(SYS_fstat, fd, &st))
		return -errno;
	fsd_attr_from_stat(&out.attr, &st);
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

/* A descriptor to look at, by handle of any kind or by node. */
static int fd_of(struct fsd_call *c, bool by_handle, uint64_t fh, int *fd)
{
	struct fsd_inode *i;
	int err;

	if (by_handle) {
		c->handle[0] = fsd_handle_get(&c->fs->handles, fh);
		if (!c->handle[0])
			return -EBADF;
		*fd = c->handle[0]->fd;
		return 0;
	}
	err = fsd_node(c, c->head.nodeid, 0, &i);
	if (!err)
		*fd = i->fd;
	return err;
}

int fsd_getattr(struct fsd_call *c)
{
	const struct fuse_getattr_in *in = &c->args.getattr;
	int fd, err = fd_of(c, in->getattr_flags & FUSE_GETATTR_FH, in->fh, &fd);

	return err ? err : reply_attr(c, fd);
}

_Static_assert(sizeof(struct fuse_statx) == sizeof(struct statx), "bit for bit the same");

int fsd_statx(struct fsd_call *c)
{
	const struct fuse_statx_in *in = &c->args.statx;
	struct fuse_statx_out out = {
		.attr_valid = c->fs->timeout_s,
		.attr_valid_nsec = c->fs->timeout_ns,
	};
	uint32_t sync = in->sx_flags & (AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC);
	uint32_t mask = in->sx_mask & (STATX_BASIC_STATS | STATX_BTIME);
	int fd, err = fd_of(c, in->getattr_flags & FUSE_GETATTR_FH, in->fh, &fd);
	struct statx st;

	if (err)
		return err;
	/* Linux takes basic attributes out of the reply whatever it asked for. */
	if (statx(fd, "", AT_EMPTY_PATH | (int)sync, mask | STATX_BASIC_STATS, &st))
		return -errno;
	st.stx_mask &= STATX_BASIC_STATS | STATX_BTIME;
	/* The host's own affairs. */
	st.stx_mnt_id = st.stx_attributes = st.stx_attributes_mask = 0;
	memcpy(&out.stat, &st, sizeof(st));
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

static int set_owner(struct fsd_call *c, int fd)
{
	const struct fuse_setattr_in *in = &c->args.setattr;
	uid_t uid = in->valid & FATTR_UID ? in->uid : (uid_t)-1;
	gid_t gid = in->valid & FATTR_GID ? in->gid : (gid_t)-1;

	return fchownat(fd, "", uid, gid, AT_EMPTY_PATH) ? -errno : 0;
}

static int set_size(struct fsd_call *c, const struct fsd_inode *i)
{
	const struct fuse_setattr_in *in = &c->args.setattr;
	_cleanup_close_ int opened = -1;
	int fd;

	if (i->type != S_IFREG)
		return i->type == S_IFDIR ? -EISDIR : -EINVAL;
	if (c->handle[0]) {
		fd = c->handle[0]->fd;
	} else {
		fd = opened = fsd_reopen(c->fs, i, O_WRONLY);
		if (fd < 0)
			return fd;
	}
	fsd_creds_fsetid(&c->thread->creds, !(in->valid & FATTR_KILL_SUIDGID));
	if (in->size > INT64_MAX)
		return -EFBIG;
	return ftruncate(fd, (off_t)in->size) ? -errno : 0;
}

static struct timespec time_of(uint32_t valid, uint32_t set, uint32_t now, uint64_t s, uint32_t ns)
{
	if (valid & now)
		return (struct timespec){.tv_nsec = UTIME_NOW};
	if (valid & set)
		return (struct timespec){.tv_sec = (time_t)s, .tv_nsec = ns};
	return (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_times(struct fsd_call *c, const char *proc_name)
{
	const struct fuse_setattr_in *in = &c->args.setattr;
	struct timespec t[] = {
		time_of(in->valid, FATTR_ATIME, FATTR_ATIME_NOW, in->atime, in->atimensec),
		time_of(in->valid, FATTR_MTIME, FATTR_MTIME_NOW, in->mtime, in->mtimensec),
	};

	return utimensat(c->fs->proc_fd, proc_name, t, 0) ? -errno : 0;
}

int fsd_setattr(struct fsd_call *c)
{
	const struct fuse_setattr_in *in = &c->args.setattr;
	struct fsd_proc_name name;
	struct fsd_handle *h;
	struct fsd_inode *i;
	int err = fsd_node(c, c->head.nodeid, 0, &i);

	if (!err && in->valid & FATTR_FH)
		err = fsd_file(c, in->fh, &h);
	if (err)
		return err;
	name = fsd_proc_name(i->fd);
	/* A mode is what the guest's kernel decided: set-group-ID as well. */
	fsd_creds_fsetid(&c->thread->creds, true);
	/* An owner takes set-user-ID away, a mode may give it again: in the order of Linux. */
	if (in->valid & (FATTR_UID | FATTR_GID))
		err = set_owner(c, i->fd);
	if (!err && in->valid & FATTR_MODE)
		err = fchmodat(c->fs->proc_fd, name.text, in->mode & 07777, 0) ? -errno : 0;
	if (!err && in->valid & FATTR_SIZE)
		err = set_size(c, i);
	if (!err && in->valid & (FATTR_ATIME | FATTR_MTIME | FATTR_ATIME_NOW | FATTR_MTIME_NOW))
		err = set_times(c, name.text);
	return err ? err : reply_attr(c, i->fd);
}

/*
 * By mode bits; Linux asks only on mounts without default_permissions, as virtio-fs has it. Root
 * may anything, but execute only what somebody may.
 */
int fsd_access(struct fsd_call *c)
{
	uint32_t mask = c->args.access.mask & 7, mode;
	struct fsd_inode *i;
	struct stat st;
	int err = fsd_node(c, c->head.nodeid, 0, &i);

	if (err)
		return err;
	if (c->args.access.mask & ~7u)
		return -EINVAL;
	if (fstat(i->fd, &st))
		return -errno;
	if (mask & W_OK && c->fs->options.readonly)
		return -EROFS;
	if (!c->head.uid)
		mode = st.st_mode & 0111 || S_ISDIR(st.st_mode) ? 7 : 6;
	else if (c->head.uid == st.st_uid)
		mode = st.st_mode >> 6;
	else
		mode = c->head.gid == st.st_gid ? st.st_mode >> 3 : st.st_mode;
	return mask & ~mode ? -EACCES : 0;
}

int fsd_statfs(struct fsd_call *c)
{
	struct fuse_statfs_out out = {0};
	struct fsd_inode *i;
	struct statvfs st;
	int err = fsd_node(c, c->head.nodeid, 0, &i);

	if (err)
		return err;
	if (fstatvfs(i->fd, &st))
		return -errno;
	out.st = (struct fuse_kstatfs){
		.blocks = st.f_blocks,
		.bfree = st.f_bfree,
		.bavail = st.f_bavail,
		.files = st.f_files,
		.ffree = st.f_ffree,
		.bsize = (uint32_t)st.f_bsize,
		.namelen = (uint32_t)st.f_namemax,
		.frsize = (uint32_t)st.f_frsize,
	};
	fsd_reply(c, &out, sizeof(out));
	return 0;
}
