// SPDX-License-Identifier: GPL-2.0-or-later
/* One request: copied out of guest memory, executed by the row of its opcode, answered. */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

#define HEADER sizeof(struct fuse_in_header)
#define REPLY  sizeof(struct fuse_out_header)

struct row {
	int (*execute)(struct fsd_call *c);
	uint16_t args; /* bytes of arguments that there must be */
	uint16_t take; /* bytes of arguments that are looked at; 0: args. Older peers send less. */
	uint16_t out;  /* bytes of room that the reply needs behind its header */
	bool text;     /* strings, a value or groups follow */
	bool changes;  /* refused when read-only */
	bool silent;   /* no reply */
	bool sets;     /* needs CAP_FSETID: what the guest's kernel decided about modes counts */
};

#define ARGS(type) sizeof(struct fuse_##type##_in)
#define ENTRY      sizeof(struct fuse_entry_out)

static const struct row rows[] = {
	[FUSE_INIT] = {fsd_init, 16, ARGS(init), sizeof(struct fuse_init_out)},
	[FUSE_DESTROY] = {fsd_destroy},
	[FUSE_LOOKUP] = {fsd_do_lookup, .out = ENTRY, .text = true},
	[FUSE_FORGET] = {fsd_forget, ARGS(forget), .silent = true},
	[FUSE_BATCH_FORGET] = {fsd_batch_forget, ARGS(batch_forget), .silent = true},
	[FUSE_INTERRUPT] = {fsd_interrupt, .silent = true},
	[FUSE_GETATTR] = {fsd_getattr, ARGS(getattr), .out = sizeof(struct fuse_attr_out)},
	[FUSE_STATX] = {fsd_statx, ARGS(statx), .out = sizeof(struct fuse_statx_out)},
	[FUSE_SETATTR] = {fsd_setattr, ARGS(setattr), .out = sizeof(struct fuse_attr_out),
			  .changes = true},
	[FUSE_ACCESS] = {fsd_access, ARGS(access)},
	[FUSE_STATFS] = {fsd_statfs, .out = sizeof(struct fuse_statfs_out)},
	[FUSE_READLINK] = {fsd_readlink},
	[FUSE_SYMLINK] = {fsd_symlink, .out = ENTRY, .text = true, .changes = true},
	[FUSE_MKNOD] = {fsd_mknod, ARGS(mknod), .out = ENTRY, .text = true, .changes = true},
	[FUSE_MKDIR] = {fsd_mkdir, ARGS(mkdir), .out = ENTRY, .text = true, .changes = true},
	[FUSE_UNLINK] = {fsd_unlink, .text = true, .changes = true},
	[FUSE_RMDIR] = {fsd_rmdir, .text = true, .changes = true},
	[FUSE_RENAME] = {fsd_rename, ARGS(rename), .text = true, .changes = true},
	[FUSE_RENAME2] = {fsd_rename2, ARGS(rename2), .text = true, .changes = true},
	[FUSE_LINK] = {fsd_link, ARGS(link), .out = ENTRY, .text = true, .changes = true},
	[FUSE_OPEN] = {fsd_open, ARGS(open), .out = sizeof(struct fuse_open_out)},
	[FUSE_CREATE] = {fsd_create, ARGS(create), .out = ENTRY + sizeof(struct fuse_open_out),
			 .text = true, .changes = true},
	[FUSE_FLUSH] = {fsd_flush, ARGS(flush)},
	[FUSE_RELEASE] = {fsd_release, ARGS(release)},
	[FUSE_READ] = {fsd_read, ARGS(read)},
	[FUSE_WRITE] = {fsd_write, ARGS(write), .out = sizeof(struct fuse_write_out),
			.changes = true},
	[FUSE_FSYNC] = {fsd_fsync, ARGS(fsync)},
	[FUSE_FALLOCATE] = {fsd_fallocate, ARGS(fallocate), .changes = true, .sets = true},
	[FUSE_LSEEK] = {fsd_lseek, ARGS(lseek), .out = sizeof(struct fuse_lseek_out)},
	[FUSE_COPY_FILE_RANGE] = {fsd_copy_file_range, ARGS(copy_file_range),
				  .out = sizeof(struct fuse_write_out), .changes = true,
				  .sets = true},
	[FUSE_COPY_FILE_RANGE_64] = {fsd_copy_file_range_64, ARGS(copy_file_range),
				     .out = sizeof(struct fuse_copy_file_range_out),
				     .changes = true, .sets = true},
	[FUSE_SYNCFS] = {fsd_syncfs},
	[FUSE_OPENDIR] = {fsd_opendir, ARGS(open), .out = sizeof(struct fuse_open_out)},
	[FUSE_READDIR] = {fsd_readdir, ARGS(read)},
	[FUSE_READDIRPLUS] = {fsd_readdirplus, ARGS(read)},
	[FUSE_RELEASEDIR] = {fsd_releasedir, ARGS(release)},
	[FUSE_FSYNCDIR] = {fsd_fsyncdir, ARGS(fsync)},
	/* Its arguments are longer with FUSE_SETXATTR_EXT, which is not negotiated. */
	[FUSE_SETXATTR] = {fsd_setxattr, FUSE_COMPAT_SETXATTR_IN_SIZE, .text = true,
			   .changes = true, .sets = true},
	[FUSE_GETXATTR] = {fsd_getxattr, ARGS(getxattr), .text = true},
	[FUSE_LISTXATTR] = {fsd_listxattr, ARGS(getxattr)},
	[FUSE_REMOVEXATTR] = {fsd_removexattr, .text = true, .changes = true},
};

static const struct row *row_of(uint32_t opcode)
{
	return opcode < ARRAY_SIZE(rows) && rows[opcode].execute ? &rows[opcode] : NULL;
}

bool fsd_request_peek(const struct fsd_request *request, uint32_t *opcode, uint64_t *unique)
{
	struct fsd_cursor in = fsd_cursor(request->in, request->nr_in, request->in_bytes);
	struct fuse_in_header head = {0};
	bool whole = fsd_cursor_read(&in, &head, HEADER) == HEADER;

	*opcode = head.opcode;
	*unique = head.unique;
	return whole;
}

/* Arguments and text, of the length that the header says. */
static int take_request(struct fsd_call *c, const struct row *row)
{
	size_t len = c->head.len, take = row->take ? row->take : row->args;

	if (len < HEADER + row->args || len - HEADER > c->in.left)
		return -EINVAL;
	c->in.left = len - HEADER;
	fsd_cursor_read(&c->in, &c->args, take);
	if (!row->text)
		return 0;
	if (c->in.left > FSD_TEXT_MAX)
		return -E2BIG;
	c->text_len = fsd_cursor_read(&c->in, c->thread->text, c->in.left);
	c->thread->text[c->text_len] = 0;
	c->text = c->thread->text;
	return 0;
}

static int execute(struct fsd_call *c, const struct row *row)
{
	int err;

	if (!row)
		return -ENOSYS;
	err = take_request(c, row);
	if (err)
		return err;
	if (!row->silent && c->out.left < row->out)
		return -EINVAL;
	if (row->changes && c->fs->options.readonly)
		return -EROFS;
	if (row->sets)
		fsd_creds_fsetid(&c->thread->creds, true);
	return row->execute(c);
}

static void put_references(struct fsd_call *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->node); i++) {
		fsd_inode_put(&c->fs->inodes, c->node[i]);
		fsd_handle_put(&c->fs->handles, c->handle[i]);
	}
}

void fsd_reply(struct fsd_call *c, const void *data, size_t len)
{
	c->replied += fsd_cursor_write(&c->out, data, len);
}

/* What Linux 7.1 takes: the used length is the header's, an error is the header alone. */
static uint32_t finish(struct fsd_call *c, const struct fsd_request *request, int err)
{
	struct fsd_cursor out = fsd_cursor(request->out, request->nr_out, request->out_bytes);
	struct fuse_out_header head = {.unique = c->head.unique, .error = err};

	head.len = (uint32_t)(REPLY + (err ? 0 : c->replied));
	fsd_cursor_write(&out, &head, REPLY);
	return head.len;
}

uint32_t fsd_fs_handle(struct fsd_fs *fs, struct fsd_thread *thread,
		       const struct fsd_request *request, struct fsd_outcome *outcome)
{
	struct fsd_call c = {
		.fs = fs,
		.thread = thread,
		.outcome = outcome,
		.in = fsd_cursor(request->in, request->nr_in, request->in_bytes),
		.out = fsd_cursor(request->out, request->nr_out, request->out_bytes),
	};
	const struct row *row;
	size_t got;
	int err;

	*outcome = (struct fsd_outcome){0};
	got = fsd_cursor_read(&c.in, &c.head, HEADER);
	outcome->opcode = c.head.opcode;
	outcome->unique = c.head.unique;
	row = row_of(c.head.opcode);
	/* Who gave no room for an answer cannot want the thing. */
	if (got < HEADER || (request->out_bytes < REPLY && !(row && row->silent))) {
		err = -EINVAL;
	} else {
		fsd_cursor_skip(&c.out, REPLY);
		err = execute(&c, row);
		put_references(&c);
	}
	/* Linux takes errors up to 511; no call of the host's gives another. */
	if (err < -511 || err > 0)
		err = -EIO;
	outcome->error = err;
	return request->out_bytes < REPLY || (row && row->silent && !err)
		       ? 0
		       : finish(&c, request, err);
}
