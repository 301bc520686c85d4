// SPDX-License-Identifier: GPL-2.0-or-later
/* Names become nodes, and are forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/sysmacros.h>

#include "vqfsd/fs_priv.h"

/* Of one BATCH_FORGET: bounds the time that one request takes. Linux sends fewer. */
#define FORGETS_MAX 65536u

#define STATX_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
#define STATX_WANT  (STATX_BASIC_STATS | STATX_MNT_ID)

uint32_t fsd_dev_to_guest(dev_t dev)
{
	uint32_t ma = major(dev), mi = minor(dev);

	/* new_encode_dev() of Linux. */
	return (mi & 0xff) | ma << 8 | (mi & ~0xffu) << 12;
}

static void attr_from_statx(struct fuse_attr *a, const struct statx *st)
{
	*a = (struct fuse_attr){
		.ino = st->stx_ino,
		.size = st->stx_size,
		.blocks = st->stx_blocks,
		.atime = (uint64_t)st->stx_atime.tv_sec,
		.mtime = (uint64_t)st->stx_mtime.tv_sec,
		.ctime = (uint64_t)st->stx_ctime.tv_sec,
		.atimensec = st->stx_atime.tv_nsec,
		.mtimensec = st->stx_mtime.tv_nsec,
		.ctimensec = st->stx_ctime.tv_nsec,
		.mode = st->stx_mode,
		.nlink = st->stx_nlink,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.rdev = fsd_dev_to_guest(makedev(st->stx_rdev_major, st->stx_rdev_minor)),
		.blksize = st->stx_blksize,
	};
}

static struct fsd_identity identity(const struct statx *st)
{
	return (struct fsd_identity){
		.dev = makedev(st->stx_dev_major, st->stx_dev_minor),
		.ino = st->stx_ino,
		.mount = st->stx_mask & STATX_MNT_ID ? st->stx_mnt_id : 0,
	};
}

static void fill_entry(const struct fsd_fs *fs, struct fuse_entry_out *entry, uint64_t id,
		       const struct statx *st)
{
	*entry = (struct fuse_entry_out){
		.nodeid = id,
		.entry_valid = fs->timeout_s,
		.attr_valid = fs->timeout_s,
		.entry_valid_nsec = fs->timeout_ns,
		.attr_valid_nsec = fs->timeout_ns,
	};
	attr_from_statx(&entry->attr, st);
}

/* A file that is open as @fd, which is taken over: it becomes the inode's. */
static int add_entry(struct fsd_fs *fs, int fd, struct fuse_entry_out *entry)
{
	struct fsd_identity id;
	struct statx st;
	uint64_t node;
	int err;

	if (statx(fd, "", AT_EMPTY_PATH | STATX_FLAGS, STATX_WANT, &st)) {
		err = -errno;
		close(fd);
		return err;
	}
	id = identity(&st);
	err = fsd_inodes_add(&fs->inodes, &id, st.stx_mode & S_IFMT, fd, &node);
	if (!err)
		fill_entry(fs, entry, node, &st);
	return err;
}

int fsd_lookup(struct fsd_fs *fs, int parent, const char *name, struct fuse_entry_out *entry)
{
	struct fsd_identity id;
	struct statx st;
	uint64_t node;
	int fd;

	/* Most are known. Where one is not, what it is counts as of when it was opened. */
	if (statx(parent, name, STATX_FLAGS, STATX_WANT, &st))
		return -errno;
	id = identity(&st);
	node = fsd_inodes_find(&fs->inodes, &id);
	if (node) {
		fill_entry(fs, entry, node, &st);
		return 0;
	}
	fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : add_entry(fs, fd, entry);
}

int fsd_entry_of(struct fsd_fs *fs, int fd, struct fuse_entry_out *entry)
{
	struct fsd_proc_name name = fsd_proc_name(fd);
	int path = openat(fs->proc_fd, name.text, O_PATH | O_CLOEXEC);

	return path < 0 ? -errno : add_entry(fs, path, entry);
}

struct fsd_proc_name fsd_proc_name(int fd)
{
	struct fsd_proc_name name;

	snprintf(name.text, sizeof(name.text), "%d", fd);
	return name;
}

int fsd_reopen(struct fsd_fs *fs, const struct fsd_inode *i, int flags)
{
	struct fsd_proc_name name = fsd_proc_name(i->fd);
	int fd;

	/* Opening a device or a FIFO of the host's might do or wait for anything. */
	if (i->type != S_IFREG && i->type != S_IFDIR)
		return -EINVAL;
	fd = openat(fs->proc_fd, name.text, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int fsd_do_lookup(struct fsd_call *c)
{
	struct fuse_entry_out entry = {0};
	struct fsd_inode *parent;
	const char *name;
	int err = fsd_node(c, c->head.nodeid, S_IFDIR, &parent);

	if (!err)
		err = fsd_take_name(c, &name);
	if (err)
		return err;
	err = fsd_lookup(c->fs, parent->fd, name, &entry);
	/* That a name does not exist may be remembered where nobody else makes one. */
	if (err == -ENOENT && c->fs->options.cache == FSD_CACHE_ALWAYS) {
		entry.entry_valid = c->fs->timeout_s;
		entry.entry_valid_nsec = c->fs->timeout_ns;
		err = 0;
	}
	if (!err)
		fsd_reply(c, &entry, sizeof(entry));
	return err;
}

int fsd_forget(struct fsd_call *c)
{
	fsd_inodes_forget(&c->fs->inodes, c->head.nodeid, c->args.forget.nlookup);
	return 0;
}

int fsd_batch_forget(struct fsd_call *c)
{
	uint32_t count = c->args.batch_forget.count;
	struct fuse_forget_one one;

	if (count > c->in.left / sizeof(one))
		return -EINVAL;
	for (uint32_t n = 0; n < count && n < FORGETS_MAX; n++) {
		vq_cursor_read(&c->in, &one, sizeof(one));
		fsd_inodes_forget(&c->fs->inodes, one.nodeid, one.nlookup);
	}
	return 0;
}
