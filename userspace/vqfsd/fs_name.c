// SPDX-License-Identifier: GPL-2.0-or-later
/* Names made, moved and removed; symbolic links. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/sysmacros.h>

#include "vqfsd/fs_priv.h"

/* The parent and the name in it: where something is made. */
static int take_place(struct fsd_call *c, struct fsd_inode **parent, const char **name)
{
	int err = fsd_node(c, c->head.nodeid, S_IFDIR, parent);

	return err ? err : fsd_take_name(c, name);
}

static int reply_entry(struct fsd_call *c, int err, const struct fuse_entry_out *entry)
{
	if (!err)
		fsd_reply(c, entry, sizeof(*entry));
	return err;
}

/* What was made in @parent as @name is looked up; @err: what making it came to. */
static int reply_made(struct fsd_call *c, int err, const struct fsd_inode *parent, const char *name)
{
	struct fuse_entry_out entry;

	if (!err)
		err = fsd_lookup(c->fs, parent->fd, name, &entry);
	return reply_entry(c, err, &entry);
}

/* Acts as who asks, until fsd_creds_end(). */
static int begin_as_asked(struct fsd_call *c, struct fsd_who *who)
{
	int err = fsd_take_who(c, who);

	return err ? err : fsd_creds_begin(&c->thread->creds, who);
}

int fsd_symlink(struct fsd_call *c)
{
	const char *name, *target;
	struct fsd_inode *parent;
	struct fsd_who who;
	int err = take_place(c, &parent, &name);

	if (!err)
		err = fsd_take_string(c, &target);
	if (!err)
		err = begin_as_asked(c, &who);
	if (err)
		return err;
	err = symlinkat(target, parent->fd, name) ? -errno : 0;
	fsd_creds_end(&c->thread->creds, &who);
	return reply_made(c, err, parent, name);
}

/* A node, or a directory. */
static int make(struct fsd_call *c, uint32_t mode, uint32_t rdev)
{
	/* new_decode_dev() of Linux. */
	dev_t dev = makedev(rdev >> 8 & 0xfff, (rdev & 0xff) | (rdev >> 12 & 0xfff00));
	struct fsd_inode *parent;
	struct fsd_who who;
	const char *name;
	int err = take_place(c, &parent, &name);

	if (!err)
		err = begin_as_asked(c, &who);
	if (err)
		return err;
	if (S_ISDIR(mode))
		err = mkdirat(parent->fd, name, mode & 07777) ? -errno : 0;
	else
		err = mknodat(parent->fd, name, mode, dev) ? -errno : 0;
	fsd_creds_end(&c->thread->creds, &who);
	return reply_made(c, err, parent, name);
}

int fsd_mknod(struct fsd_call *c)
{
	/* Linux makes directories by MKDIR only. */
	if (S_ISDIR(c->args.mknod.mode))
		return -EPERM;
	return make(c, c->args.mknod.mode & (S_IFMT | 07777), c->args.mknod.rdev);
}

int fsd_mkdir(struct fsd_call *c)
{
	return make(c, S_IFDIR | (c->args.mkdir.mode & 07777), 0);
}

int fsd_link(struct fsd_call *c)
{
	struct fuse_entry_out entry;
	struct fsd_proc_name from;
	struct fsd_inode *parent, *old;
	const char *name;
	int err = take_place(c, &parent, &name);

	if (!err)
		err = fsd_node(c, c->args.link.oldnodeid, 0, &old);
	if (err)
		return err;
	from = fsd_proc_name(old->fd);
	if (linkat(c->fs->proc_fd, from.text, parent->fd, name, AT_SYMLINK_FOLLOW))
		return -errno;
	return reply_entry(c, fsd_entry_of(c->fs, old->fd, &entry), &entry);
}

static int unlink_as(struct fsd_call *c, int flags)
{
	struct fsd_inode *parent;
	const char *name;
	int err = take_place(c, &parent, &name);

	if (err)
		return err;
	return unlinkat(parent->fd, name, flags) ? -errno : 0;
}

int fsd_unlink(struct fsd_call *c)
{
	return unlink_as(c, 0);
}

int fsd_rmdir(struct fsd_call *c)
{
	return unlink_as(c, AT_REMOVEDIR);
}

static int rename_as(struct fsd_call *c, uint64_t newdir, uint32_t flags)
{
	struct fsd_inode *from, *to;
	const char *name, *newname;
	int err = take_place(c, &from, &name);

	if (!err)
		err = fsd_node(c, newdir, S_IFDIR, &to);
	if (!err)
		err = fsd_take_name(c, &newname);
	if (err)
		return err;
	return renameat2(from->fd, name, to->fd, newname, flags) ? -errno : 0;
}

int fsd_rename(struct fsd_call *c)
{
	return rename_as(c, c->args.rename.newdir, 0);
}

int fsd_rename2(struct fsd_call *c)
{
	return rename_as(c, c->args.rename2.newdir, c->args.rename2.flags);
}

int fsd_readlink(struct fsd_call *c)
{
	struct fsd_inode *i;
	ssize_t len;
	int err = fsd_node(c, c->head.nodeid, S_IFLNK, &i);

	if (err)
		return err;
	len = readlinkat(i->fd, "", c->thread->data, PATH_MAX);
	if (len < 0)
		return -errno;
	/* Half a target is a wrong one. */
	if ((size_t)len > c->out.left)
		return -ENAMETOOLONG;
	fsd_reply(c, c->thread->data, (size_t)len);
	c->outcome->bytes_out = (uint32_t)len;
	return 0;
}
