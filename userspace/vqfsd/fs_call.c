// SPDX-License-Identifier: GPL-2.0-or-later
/* What the functions of several opcodes need of a request: strings, nodes, handles. */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

int fsd_take_string(struct fsd_call *c, const char **string)
{
	const char *end = memchr(c->text, 0, c->text_len);

	if (!end)
		return -EINVAL;
	*string = c->text;
	c->text_len -= (size_t)(end + 1 - c->text);
	c->text = end + 1;
	return 0;
}

int fsd_take_name(struct fsd_call *c, const char **name)
{
	int err = fsd_take_string(c, name);
	const char *s = *name;

	if (err || !*s)
		return -EINVAL;
	if (strlen(s) > NAME_MAX)
		return -ENAMETOOLONG;
	/* Neither leaves the directory: Linux resolves both itself. */
	if (strchr(s, '/') || !strcmp(s, ".") || !strcmp(s, ".."))
		return -EINVAL;
	return 0;
}

/* One extension of groups (FUSE_CREATE_SUPP_GROUP), which begins at @ext. */
static int take_groups(const char *ext, size_t len, struct fsd_who *who)
{
	struct fuse_supp_groups groups;

	if (len < sizeof(groups))
		return -EINVAL;
	memcpy(&groups, ext, sizeof(groups));
	if (groups.nr_groups > FSD_GROUPS_MAX ||
	    groups.nr_groups * sizeof(uint32_t) > len - sizeof(groups))
		return -EINVAL;
	memcpy(who->groups, ext + sizeof(groups), groups.nr_groups * sizeof(uint32_t));
	who->nr_groups = groups.nr_groups;
	return 0;
}

/* Extensions are the end of the request, in units of 8 bytes. */
int fsd_take_who(struct fsd_call *c, struct fsd_who *who)
{
	size_t left = c->head.total_extlen * 8u;
	struct fuse_ext_header ext;
	const char *at;

	who->uid = c->head.uid;
	who->gid = c->head.gid;
	who->nr_groups = 0;
	if (left > c->text_len)
		return -EINVAL;
	at = c->text + c->text_len - left;
	for (; left >= sizeof(ext); at += ext.size, left -= ext.size) {
		int err = 0;

		memcpy(&ext, at, sizeof(ext));
		if (ext.size < sizeof(ext) || ext.size > left || ext.size % 8)
			return -EINVAL;
		if (ext.type == FUSE_EXT_GROUPS)
			err = take_groups(at + sizeof(ext), ext.size - sizeof(ext), who);
		if (err)
			return err;
	}
	return 0;
}

int fsd_node(struct fsd_call *c, uint64_t id, uint32_t type, struct fsd_inode **node)
{
	struct fsd_inode *i = fsd_inode_get(&c->fs->inodes, id);

	if (!i)
		return -ESTALE;
	c->node[c->node[0] != NULL] = i;
	*node = i;
	if (type && i->type != type)
		return type == S_IFDIR ? -ENOTDIR : -EINVAL;
	return 0;
}

static int handle(struct fsd_call *c, uint64_t fh, bool dir, struct fsd_handle **handle)
{
	struct fsd_handle *h = fsd_handle_get(&c->fs->handles, fh);

	if (!h)
		return -EBADF;
	c->handle[c->handle[0] != NULL] = h;
	*handle = h;
	return !h->dir == !dir ? 0 : -EBADF;
}

int fsd_file(struct fsd_call *c, uint64_t fh, struct fsd_handle **file)
{
	return handle(c, fh, false, file);
}

int fsd_dir(struct fsd_call *c, uint64_t fh, struct fsd_handle **dir)
{
	return handle(c, fh, true, dir);
}
