// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Extended attributes. Neither an O_PATH descriptor nor a path below a root that chroot(2) took
 * away serves for them: Linux 6.13 and later take /proc/self/fd's descriptor and a number, older
 * ones need the file opened, which only regular files and directories are.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

/* 6.13; the same on all architectures of today. */
#ifndef SYS_setxattrat
#define SYS_setxattrat    463
#define SYS_getxattrat    464
#define SYS_listxattrat   465
#define SYS_removexattrat 466
#endif

/* struct xattr_args of linux/xattr.h. */
struct value {
	_Alignas(8) uint64_t at;
	uint32_t size, flags;
};

enum what { SET, GET, LIST, REMOVE };

/* By the file opened: as the call below. */
static ssize_t call_open(struct fsd_call *c, const struct fsd_inode *i, enum what what,
			 const char *name, const struct value *v)
{
	_cleanup_close_ int fd = fsd_reopen(c->fs, i, O_RDONLY | O_NONBLOCK);
	void *at = (void *)(uintptr_t)v->at;
	ssize_t n = -1;

	if (fd < 0)
		return fd == -EINVAL ? -EOPNOTSUPP : fd;
	switch (what) {
	case SET:
		n = fsetxattr(fd, name, at, v->size, (int)v->flags);
		break;
	case GET:
		n = fgetxattr(fd, name, at, v->size);
		break;
	case LIST:
		n = flistxattr(fd, at, v->size);
		break;
	case REMOVE:
		n = fremovexattr(fd, name);
		break;
	}
	return n < 0 ? -errno : n;
}

/* 0 or bytes, as setxattr(2) and its like; -errno. */
static ssize_t call(struct fsd_call *c, const struct fsd_inode *i, enum what what, const char *name,
		    const struct value *v)
{
	struct fsd_proc_name n = fsd_proc_name(i->fd);
	int proc = c->fs->proc_fd;
	ssize_t got = -1;

	if (c->fs->no_xattrat)
		return call_open(c, i, what, name, v);
	switch (what) {
	case SET:
		got = syscall(SYS_setxattrat, proc, n.text, 0, name, v, sizeof(*v));
		break;
	case GET:
		got = syscall(SYS_getxattrat, proc, n.text, 0, name, v, sizeof(*v));
		break;
	case LIST:
		got = syscall(SYS_listxattrat, proc, n.text, 0, v->at, (size_t)v->size);
		break;
	case REMOVE:
		got = syscall(SYS_removexattrat, proc, n.text, 0, name);
		break;
	}
	/* An older kernel, or a filter for system calls made for one. */
	if (got < 0 && errno == ENOSYS) {
		c->fs->no_xattrat = true;
		return call_open(c, i, what, name, v);
	}
	return got < 0 ? -errno : got;
}

/* The guest's kernel would not obey the host's ACLs, as it did not ask for FUSE_POSIX_ACL. */
static bool is_acl(const char *name)
{
	return !strcmp(name, "system.posix_acl_access") ||
	       !strcmp(name, "system.posix_acl_default");
}

static int take_xattr(struct fsd_call *c, struct fsd_inode **i, const char **name)
{
	int err;

	if (!c->fs->options.xattr)
		return -ENOSYS;
	err = fsd_node(c, c->head.nodeid, 0, i);
	if (err || !name)
		return err;
	err = fsd_take_string(c, name);
	if (err)
		return err;
	return is_acl(*name) ? -EOPNOTSUPP : 0;
}

int fsd_setxattr(struct fsd_call *c)
{
	const struct fuse_setxattr_in *in = &c->args.setxattr;
	struct value v = {.size = in->size, .flags = in->flags};
	struct fsd_inode *i;
	const char *name;
	int err = take_xattr(c, &i, &name);

	if (err)
		return err;
	if (in->size > c->text_len)
		return -EINVAL;
	v.at = (uintptr_t)c->text;
	return (int)call(c, i, SET, name, &v);
}

int fsd_removexattr(struct fsd_call *c)
{
	const struct value none = {0};
	struct fsd_inode *i;
	const char *name;
	int err = take_xattr(c, &i, &name);

	return err ? err : (int)call(c, i, REMOVE, name, &none);
}

/* The size for who asked for that (@size 0), else what is in thread->data. */
static int reply_value(struct fsd_call *c, uint32_t size, ssize_t got)
{
	struct fuse_getxattr_out out = {.size = (uint32_t)got};

	if (got < 0)
		return (int)got;
	if (size) {
		/* The host was told how much room there is, and what it gives fits. */
		fsd_reply(c, c->thread->data, (size_t)got);
		c->outcome->bytes_out = (uint32_t)got;
		return 0;
	}
	fsd_reply(c, &out, sizeof(out));
	return 0;
}

static int room_for(const struct fsd_call *c, struct value *v)
{
	uint32_t size = c->args.getxattr.size;

	if (!size)
		return c->out.left < sizeof(struct fuse_getxattr_out) ? -EINVAL : 0;
	if (size > c->out.left)
		return -EINVAL;
	v->size = size < FSD_XATTR_MAX ? size : FSD_XATTR_MAX;
	return 0;
}

int fsd_getxattr(struct fsd_call *c)
{
	struct value v = {.at = (uintptr_t)c->thread->data};
	struct fsd_inode *i;
	const char *name;
	int err = take_xattr(c, &i, &name);

	if (!err)
		err = room_for(c, &v);
	if (err)
		return err;
	return reply_value(c, c->args.getxattr.size, call(c, i, GET, name, &v));
}

/* Without those names that are refused; returns what is left. */
static ssize_t without_acls(char *list, ssize_t len)
{
	char *to = list;

	for (char *at = list, *end = list + len; at < end;) {
		size_t n = strlen(at) + 1;

		if (!is_acl(at)) {
			memmove(to, at, n);
			to += n;
		}
		at += n;
	}
	return to - list;
}

int fsd_listxattr(struct fsd_call *c)
{
	struct value v = {.at = (uintptr_t)c->thread->data, .size = FSD_XATTR_MAX};
	struct value room = {0};
	struct fsd_inode *i;
	ssize_t got;
	int err = take_xattr(c, &i, NULL);

	if (!err)
		err = room_for(c, &room);
	if (err)
		return err;
	got = call(c, i, LIST, NULL, &v);
	if (got > 0)
		got = without_acls(c->thread->data, got);
	if (c->args.getxattr.size && got > (ssize_t)room.size)
		got = -ERANGE;
	return reply_value(c, c->args.getxattr.size, got);
}
