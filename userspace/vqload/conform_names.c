// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of names and nodes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "vqload/conform_priv.h"

#define NOREPLACE 1u /* RENAME_* of linux/fs.h */
#define EXCHANGE  2u

static int lookup(struct conform *k, const char *name, struct fuse_entry_out *entry)
{
	return load_do_lookup(k->s, k->dir, name, entry);
}

static bool nlink_is_not(struct conform *k, uint64_t nodeid, uint32_t expected)
{
	struct fuse_attr attr;

	return conform_not(k, load_do_getattr(k->s, nodeid, &attr), 0, "GETATTR") ||
	       conform_differs(k, attr.nlink, expected, "link count");
}

static void check_lookup(struct conform *k)
{
	struct fuse_entry_out e, again;
	char name[257];
	uint64_t node;

	memset(name, 'n', 256);
	name[256] = '\0';
	if (conform_touch(k, "a", &node) || conform_not(k, lookup(k, "a", &e), 0, "a file") ||
	    conform_differs(k, e.nodeid, node, "node of a file just made") ||
	    conform_differs(k, e.attr.mode & S_IFMT, S_IFREG, "its type") ||
	    conform_differs(k, e.attr.size, 1, "its size") ||
	    conform_not(k, lookup(k, "a", &again), 0, "it again") ||
	    conform_differs(k, again.nodeid, e.nodeid, "its node, the second time") ||
	    conform_not(k, lookup(k, "b", &e), -ENOENT, "a name that is not there") ||
	    conform_not(k, load_do_lookup(k->s, node, "x", &e), -ENOTDIR, "a name in a file"))
		return;
	conform_not(k, lookup(k, name, &e), -ENAMETOOLONG, "a name of 256 bytes");
}

static void check_getattr(struct conform *k)
{
	struct fuse_attr attr;
	uint64_t node;

	if (conform_touch(k, "four", &node) ||
	    conform_not(k, load_do_getattr(k->s, node, &attr), 0, "a file") ||
	    conform_differs(k, attr.mode, S_IFREG | 0644, "mode") ||
	    conform_differs(k, attr.size, 4, "size") ||
	    conform_differs(k, attr.nlink, 1, "links") ||
	    conform_not(k, load_do_getattr(k->s, k->dir, &attr), 0, "a directory"))
		return;
	conform_differs(k, attr.mode, S_IFDIR | 0755, "mode of a directory");
}

static void check_statx(struct conform *k)
{
	struct fuse_statx_out out;
	struct load_head h;
	uint64_t node;

	if (conform_touch(k, "four", &node))
		return;
	h = conform_head(k, node);
	if (conform_not(k, conform_send(k, load_build_statx(REQ(k), &h, NULL, STATX_BASIC_STATS)),
			0, "a file") ||
	    conform_not(k, load_read_statx(k->slot->out, conform_len(k), &out), 0, "its reply") ||
	    conform_differs(k, out.stat.size, 4, "size"))
		return;
	conform_differs(k, out.stat.mode, S_IFREG | 0644, "mode");
}

static bool setattr(struct conform *k, uint64_t node, const struct fuse_setattr_in *in,
		    struct fuse_attr *attr, const char *what)
{
	struct load_head h = conform_head(k, node);
	struct fuse_attr_out out = {0};
	int err = conform_send(k, load_build_setattr(REQ(k), &h, in));

	if (!err)
		err = load_read_attr(k->slot->out, conform_len(k), &out);
	*attr = out.attr;
	return conform_not(k, err, 0, what);
}

static void check_setattr(struct conform *k)
{
	struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = S_IFREG | 0600};
	struct fuse_setattr_in more = {.valid = FATTR_SIZE, .size = 10000};
	struct fuse_setattr_in less = {.valid = FATTR_SIZE, .size = 2};
	struct fuse_setattr_in time = {
		.valid = FATTR_MTIME, .mtime = 1234567890, .mtimensec = 5000};
	struct fuse_attr attr;
	uint64_t node;

	if (conform_touch(k, "four", &node) || setattr(k, node, &mode, &attr, "mode") ||
	    conform_differs(k, attr.mode, S_IFREG | 0600, "mode") ||
	    setattr(k, node, &more, &attr, "larger size") ||
	    conform_differs(k, attr.size, 10000, "size made larger") ||
	    setattr(k, node, &less, &attr, "smaller size") ||
	    conform_differs(k, attr.size, 2, "size made smaller") ||
	    conform_size_is_not(k, node, 2) || setattr(k, node, &time, &attr, "mtime"))
		return;
	conform_differs(k, attr.mtime, 1234567890, "mtime");
}

static void check_mkdir(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t node, file;

	if (conform_mkdir(k, "d", &node) || conform_touch(k, "f", &file) ||
	    conform_not(k, load_do_mkdir(k->s, k->dir, "d", 0755, &e), -EEXIST, "a second one") ||
	    conform_not(k, load_do_mkdir(k->s, k->dir, "f", 0755, &e), -EEXIST, "over a file") ||
	    conform_not(k, load_do_mkdir(k->s, file, "x", 0755, &e), -ENOTDIR, "in a file") ||
	    conform_not(k, load_do_mkdir(k->s, node, "x", 0700, &e), 0, "in a new one"))
		return;
	conform_differs(k, e.attr.mode, S_IFDIR | 0700, "mode");
}

static void check_mknod(struct conform *k)
{
	struct load_head h = conform_head(k, k->dir);
	struct fuse_entry_out e;

	if (conform_not(k,
			conform_send(k, load_build_mknod(REQ(k), &h, "f", S_IFREG | 0644, 0, 022)),
			0, "a file") ||
	    conform_not(k, load_read_entry(k->slot->out, conform_len(k), &e), 0, "its reply") ||
	    conform_differs(k, e.attr.mode, S_IFREG | 0644, "mode of a file"))
		return;
	load_session_know(k->s, e.nodeid, 1);
	h = conform_head(k, k->dir);
	if (conform_not(k,
			conform_send(k, load_build_mknod(REQ(k), &h, "f", S_IFREG | 0644, 0, 022)),
			-EEXIST, "a second one"))
		return;
	h = conform_head(k, k->dir);
	if (conform_not(k,
			conform_send(k, load_build_mknod(REQ(k), &h, "p", S_IFIFO | 0600, 0, 022)),
			0, "a fifo") ||
	    conform_not(k, load_read_entry(k->slot->out, conform_len(k), &e), 0, "its reply"))
		return;
	load_session_know(k->s, e.nodeid, 1);
	conform_differs(k, e.attr.mode, S_IFIFO | 0600, "mode of a fifo");
}

static void check_unlink(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t node, dir;
	int err;

	if (conform_touch(k, "f", &node) || conform_mkdir(k, "d", &dir) ||
	    conform_not(k, load_do_unlink(k->s, k->dir, "f"), 0, "a file") ||
	    conform_not(k, lookup(k, "f", &e), -ENOENT, "its name afterwards") ||
	    conform_not(k, load_do_unlink(k->s, k->dir, "f"), -ENOENT, "it again"))
		return;
	/* POSIX says EPERM, Linux EISDIR. */
	err = load_do_unlink(k->s, k->dir, "d");
	conform_not(k, err == -EPERM ? -EISDIR : err, -EISDIR, "a directory");
}

static void check_rmdir(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t node, dir;

	if (conform_touch(k, "f", &node) || conform_mkdir(k, "d", &dir) ||
	    conform_not(k, load_do_mkdir(k->s, dir, "x", 0755, &e), 0, "making one inside") ||
	    conform_not(k, load_do_rmdir(k->s, k->dir, "d"), -ENOTEMPTY, "one that is not empty") ||
	    conform_not(k, load_do_rmdir(k->s, dir, "x"), 0, "an empty one") ||
	    conform_not(k, load_do_rmdir(k->s, k->dir, "d"), 0, "the outer one") ||
	    conform_not(k, load_do_rmdir(k->s, k->dir, "d"), -ENOENT, "it again"))
		return;
	conform_not(k, load_do_rmdir(k->s, k->dir, "f"), -ENOTDIR, "a file");
}

static int rename_to(struct conform *k, const char *from, uint64_t dir, const char *to,
		     uint32_t flags)
{
	struct load_head h = conform_head(k, k->dir);

	return conform_send(k, load_build_rename2(REQ(k), &h, from, dir, to, flags));
}

static void check_rename(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t a, b, dir;

	if (conform_touch(k, "a", &a) || conform_touch(k, "b", &b) || conform_mkdir(k, "d", &dir) ||
	    conform_not(k, rename_to(k, "a", k->dir, "c", 0), 0, "to a new name") ||
	    conform_not(k, lookup(k, "a", &e), -ENOENT, "the old name") ||
	    conform_not(k, lookup(k, "c", &e), 0, "the new name") ||
	    conform_differs(k, e.nodeid, a, "its node") ||
	    conform_not(k, rename_to(k, "c", k->dir, "b", 0), 0, "over a file") ||
	    conform_not(k, lookup(k, "b", &e), 0, "the name of both") ||
	    conform_differs(k, e.nodeid, a, "the node that stays") ||
	    conform_not(k, rename_to(k, "b", dir, "x", 0), 0, "into a directory") ||
	    conform_not(k, load_do_lookup(k->s, dir, "x", &e), 0, "it there"))
		return;
	conform_not(k, rename_to(k, "gone", k->dir, "y", 0), -ENOENT, "a name that is not there");
}

static void check_rename2(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t a, b;

	if (conform_touch(k, "a", &a) || conform_touch(k, "b", &b) ||
	    conform_not(k, rename_to(k, "a", k->dir, "b", NOREPLACE), -EEXIST,
			"NOREPLACE over a file") ||
	    conform_not(k, rename_to(k, "a", k->dir, "b", EXCHANGE), 0, "EXCHANGE") ||
	    conform_not(k, lookup(k, "a", &e), 0, "the first name") ||
	    conform_differs(k, e.nodeid, b, "its node after EXCHANGE") ||
	    conform_not(k, lookup(k, "b", &e), 0, "the second name"))
		return;
	conform_differs(k, e.nodeid, a, "its node after EXCHANGE");
}

static void check_link(struct conform *k)
{
	struct load_head h;
	struct fuse_entry_out e;
	uint64_t a;

	if (conform_touch(k, "a", &a))
		return;
	h = conform_head(k, k->dir);
	if (conform_not(k, conform_send(k, load_build_link(REQ(k), &h, a, "b")), 0, "a file") ||
	    conform_not(k, load_read_entry(k->slot->out, conform_len(k), &e), 0, "its reply"))
		return;
	load_session_know(k->s, e.nodeid, 1);
	if (conform_differs(k, e.nodeid, a, "node of the link") || nlink_is_not(k, a, 2))
		return;
	h = conform_head(k, k->dir);
	if (conform_not(k, conform_send(k, load_build_link(REQ(k), &h, a, "b")), -EEXIST,
			"a name that is there") ||
	    conform_not(k, load_do_unlink(k->s, k->dir, "a"), 0, "removing the first name"))
		return;
	nlink_is_not(k, a, 1);
}

static void check_symlink(struct conform *k)
{
	struct load_head h = conform_head(k, k->dir);
	struct fuse_entry_out e;

	if (conform_not(k, conform_send(k, load_build_symlink(REQ(k), &h, "l", "to/where")), 0,
			"a link") ||
	    conform_not(k, load_read_entry(k->slot->out, conform_len(k), &e), 0, "its reply"))
		return;
	load_session_know(k->s, e.nodeid, 1);
	h = conform_head(k, k->dir);
	if (conform_differs(k, e.attr.mode & S_IFMT, S_IFLNK, "its type") ||
	    conform_differs(k, e.attr.size, 8, "its size"))
		return;
	conform_not(k, conform_send(k, load_build_symlink(REQ(k), &h, "l", "x")), -EEXIST,
		    "a second one");
}

static void check_readlink(struct conform *k)
{
	struct load_head h = conform_head(k, k->dir);
	struct fuse_entry_out e;
	int err = conform_send(k, load_build_symlink(REQ(k), &h, "l", "to/where"));

	if (!err)
		err = load_read_entry(k->slot->out, conform_len(k), &e);
	if (conform_not(k, err, 0, "making a link"))
		return;
	load_session_know(k->s, e.nodeid, 1);
	h = conform_head(k, e.nodeid);
	if (conform_not(k, conform_send(k, load_build_readlink(REQ(k), &h, 4095)), 0, "a link") ||
	    conform_differs(k, load_reply_data_len(REQ(k), k->slot->used), 8, "bytes of it"))
		return;
	if (memcmp(k->slot->data, "to/where", 8))
		conform_fail(k, "it leads elsewhere");
}

const struct conform_check conform_names[] = {
	{"lookup", check_lookup},     {"getattr", check_getattr},
	{"statx", check_statx},       {"setattr", check_setattr},
	{"mkdir", check_mkdir},       {"mknod", check_mknod},
	{"unlink", check_unlink},     {"rmdir", check_rmdir},
	{"rename", check_rename},     {"rename2", check_rename2},
	{"link", check_link},         {"symlink", check_symlink},
	{"readlink", check_readlink}, {NULL, NULL},
};
