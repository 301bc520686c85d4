// SPDX-License-Identifier: GPL-2.0-or-later
/* Files opened, created, closed. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

/* What of the guest's flags counts on the host. */
#define FLAGS \
	(O_ACCMODE | O_APPEND | O_TRUNC | O_NONBLOCK | O_SYNC | O_DIRECT | O_NOATIME | O_LARGEFILE)

/* Flags to open with, or -errno. */
static int host_flags(const struct fsd_call *c, uint32_t flags)
{
	const struct fsd_fs_options *o = &c->fs->options;
	int f = (int)(flags & FLAGS);

	if (o->readonly && ((f & O_ACCMODE) != O_RDONLY || f & O_TRUNC))
		return -EROFS;
	if (!o->allow_direct_io)
		f &= ~O_DIRECT;
	if (atomic_load_explicit(&c->fs->negotiated, memory_order_relaxed) & FUSE_WRITEBACK_CACHE) {
		/* The guest reads what it is to write parts of, and knows itself where the end is.
		 */
		if ((f & O_ACCMODE) == O_WRONLY)
			f = (f & ~O_ACCMODE) | O_RDWR;
		f &= ~O_APPEND;
	}
	return f;
}

static uint32_t guest_flags(const struct fsd_fs *fs)
{
	switch (fs->options.cache) {
	case FSD_CACHE_NEVER:
	case FSD_CACHE_METADATA:
		return FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
	case FSD_CACHE_ALWAYS:
		return FOPEN_KEEP_CACHE;
	case FSD_CACHE_AUTO:
		break;
	}
	return 0;
}

/* @fd is taken over. */
static int add_handle(struct fsd_call *c, int fd, int flags, struct fuse_open_out *out)
{
	*out = (struct fuse_open_out){.open_flags = guest_flags(c->fs)};
	return fsd_handles_add(&c->fs->handles, fd, flags & O_DIRECT, NULL, &out->fh);
}

/* Cutting a file takes its set-user-ID bit away, unless the guest's kernel says otherwise. */
static int reopen(struct fsd_call *c, const struct fsd_inode *i, int flags, uint32_t open_flags)
{
	if (i->type != S_IFREG)
		return i->type == S_IFDIR ? -EISDIR : -EINVAL;
	if (flags & O_TRUNC)
		fsd_creds_fsetid(&c->thread->creds, !(open_flags & FUSE_OPEN_KILL_SUIDGID));
	return fsd_reopen(c->fs, i, flags);
}

int fsd_open(struct fsd_call *c)
{
	int flags = host_flags(c, c->args.open.flags), fd;
	struct fuse_open_out out;
	struct fsd_inode *i;
	int err = fsd_node(c, c->head.nodeid, 0, &i);

	if (err || flags < 0)
		return err ? err : flags;
	fd = reopen(c, i, flags, c->args.open.open_flags);
	if (fd < 0)
		return fd;
	err = add_handle(c, fd, flags, &out);
	if (!err)
		fsd_reply(c, &out, sizeof(out));
	return err;
}

/* It is there already: on the host since the guest looked. A new reference to its node in c->node.
 */
static int open_existing(struct fsd_call *c, const struct fsd_inode *parent, const char *name,
			 int flags, struct fuse_entry_out *entry)
{
	struct fsd_inode *i;
	int fd = fsd_lookup(c->fs, parent->fd, name, entry);

	if (fd)
		return fd;
	fd = fsd_node(c, entry->nodeid, 0, &i);
	if (!fd)
		fd = reopen(c, i, flags, c->args.create.open_flags);
	if (fd < 0)
		fsd_inodes_forget(&c->fs->inodes, entry->nodeid, 1);
	return fd;
}

/* O_EXCL in any case: a name that is there might be a link, a device or a FIFO. */
static int create_file(struct fsd_call *c, const struct fsd_inode *parent, const char *name,
		       const struct fsd_who *who, int flags, struct fuse_entry_out *entry)
{
	struct fsd_creds *creds = &c->thread->creds;
	int fd, err = fsd_creds_begin(creds, who);

	if (err)
		return err;
	fd = openat(parent->fd, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    c->args.create.mode & 07777);
	err = fd < 0 ? -errno : 0;
	fsd_creds_end(creds, who);
	if (err == -EEXIST && !(c->args.create.flags & O_EXCL))
		return open_existing(c, parent, name, flags, entry);
	if (err)
		return err;
	err = fsd_entry_of(c->fs, fd, entry);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int fsd_create(struct fsd_call *c)
{
	int flags = host_flags(c, c->args.create.flags), fd;
	struct fuse_entry_out entry;
	struct fuse_open_out out;
	struct fsd_inode *parent;
	struct fsd_who who;
	const char *name;
	int err = fsd_node(c, c->head.nodeid, S_IFDIR, &parent);

	if (!err)
		err = fsd_take_name(c, &name);
	if (!err)
		err = fsd_take_who(c, &who);
	if (err || flags < 0)
		return err ? err : flags;
	fd = create_file(c, parent, name, &who, flags, &entry);
	if (fd < 0)
		return fd;
	err = add_handle(c, fd, flags, &out);
	if (err) {
		fsd_inodes_forget(&c->fs->inodes, entry.nodeid, 1);
		return err;
	}
	fsd_reply(c, &entry, sizeof(entry));
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

/* What close(2) would say: errors of earlier writes on file systems that delay them (NFS). */
int fsd_flush(struct fsd_call *c)
{
	struct fsd_handle *h;
	int fd, err = fsd_file(c, c->args.flush.fh, &h);

	if (err)
		return err;
	fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 || close(fd) ? -errno : 0;
}

int fsd_release(struct fsd_call *c)
{
	return fsd_handles_close(&c->fs->handles, c->args.release.fh, false);
}
