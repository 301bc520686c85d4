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
	[FUSE_INIT] = {.execute = fsd_init,
		       .args = 16,
		       .take = ARGS(init),
		       .out = sizeof(struct fuse_init_out)},
	[FUSE_DESTROY] = {.execute = fsd_destroy},
	[FUSE_LOOKUP] = {.execute = fsd_do_lookup, .out = ENTRY, .text = true},
	[FUSE_FORGET] = {.execute = fsd_forget, .args = ARGS(forget), .silent = true},
	[FUSE_BATCH_FORGET] = {.execute = fsd_batch_forget,
			       .args = ARGS(batch_forget),
			       .silent = true},
	[FUSE_INTERRUPT] = {.execute = fsd_interrupt, .silent = true},
	[FUSE_GETATTR] = {.execute = fsd_getattr,
			  .args = ARGS(getattr),
			  .out = sizeof(struct fuse_attr_out)},
	[FUSE_STATX] = {.execute = fsd_statx,
			.args = ARGS(statx),
			.out = sizeof(struct fuse_statx_out)},
	[FUSE_SETATTR] = {.execute = fsd_setattr,
			  .args = ARGS(setattr),
			  .out = sizeof(struct fuse_attr_out),
			  .changes = true},
	[FUSE_ACCESS] = {.execute = fsd_access, .args = ARGS(access)},
	[FUSE_STATFS] = {.execute = fsd_statfs, .out = sizeof(struct fuse_statfs_out)},
	[FUSE_READLINK] = {.execute = fsd_readlink},
	[FUSE_SYMLINK] = {.execute = fsd_symlink, .out = ENTRY, .text = true, .changes = true},
	[FUSE_MKNOD] = {.execute = fsd_mknod,
			.args = ARGS(mknod),
			.out = ENTRY,
			.text = true,
			.changes = true},
	[FUSE_MKDIR] = {.execute = fsd_mkdir,
			.args = ARGS(mkdir),
			.out = ENTRY,
			.text = true,
			.changes = true},
	[FUSE_UNLINK] = {.execute = fsd_unlink, .text = true, .changes = true},
	[FUSE_RMDIR] = {.execute = fsd_rmdir, .text = true, .changes = true},
	[FUSE_RENAME] = {.execute = fsd_rename,
			 .args = ARGS(rename),
			 .text = true,
			 .changes = true},
	[FUSE_RENAME2] = {.execute = fsd_rename2,
			  .args = ARGS(rename2),
			  .text = true,
			  .changes = true},
	[FUSE_LINK] = {.execute = fsd_link,
		       .args = ARGS(link),
		       .out = ENTRY,
		       .text = true,
		       .changes = true},
	[FUSE_OPEN] = {.execute = fsd_open,
		       .args = ARGS(open),
		       .out = sizeof(struct fuse_open_out)},
	[FUSE_CREATE] = {.execute = fsd_create,
			 .args = ARGS(create),
			 .out = ENTRY + sizeof(struct fuse_open_out),
			 .text = true,
			 .changes = true},
	[FUSE_FLUSH] = {.execute = fsd_flush, .args = ARGS(flush)},
	[FUSE_RELEASE] = {.execute = fsd_release, .args = ARGS(release)},
	[FUSE_READ] = {.execute = fsd_read, .args = ARGS(read)},
	[FUSE_WRITE] = {.execute = fsd_write,
			.args = ARGS(write),
			.out = sizeof(struct fuse_write_out),
			.changes = true},
	[FUSE_FSYNC] = {.execute = fsd_fsync, .args = ARGS(fsync)},
	[FUSE_FALLOCATE] = {.execute = fsd_fallocate,
			    .args = ARGS(fallocate),
			    .changes = true,
			    .sets = true},
	[FUSE_LSEEK] = {.execute = fsd_lseek,
			.args = ARGS(lseek),
			.out = sizeof(struct fuse_lseek_out)},
	[FUSE_COPY_FILE_RANGE] = {.execute = fsd_copy_file_range,
				  .args = ARGS(copy_file_range),
				  .out = sizeof(struct fuse_write_out),
				  .changes = true,
				  .sets = true},
	[FUSE_COPY_FILE_RANGE_64] = {.execute = fsd_copy_file_range_64,
				     .args = ARGS(copy_file_range),
				     .out = sizeof(struct fuse_copy_file_range_out),
				     .changes = true,
				     .sets = true},
	[FUSE_SYNCFS] = {.execute = fsd_syncfs},
	[FUSE_OPENDIR] = {.execute = fsd_opendir,
			  .args = ARGS(open),
			  .out = sizeof(struct fuse_open_out)},
	[FUSE_READDIR] = {.execute = fsd_readdir, .args = ARGS(read)},
	[FUSE_READDIRPLUS] = {.execute = fsd_readdirplus, .args = ARGS(read)},
	[FUSE_RELEASEDIR] = {.execute = fsd_releasedir, .args = ARGS(release)},
	[FUSE_FSYNCDIR] = {.execute = fsd_fsyncdir, .args = ARGS(fsync)},
	/* Its arguments are longer with FUSE_SETXATTR_EXT, which is not negotiated. */
	[FUSE_SETXATTR] = {.execute = fsd_setxattr,
			   .args = FUSE_COMPAT_SETXATTR_IN_SIZE,
			   .text = true,
			   .changes = true,
			   .sets = true},
	[FUSE_GETXATTR] = {.execute = fsd_getxattr, .args = ARGS(getxattr), .text = true},
	[FUSE_LISTXATTR] = {.execute = fsd_listxattr, .args = ARGS(getxattr)},
	[FUSE_REMOVEXATTR] = {.execute = fsd_removexattr, .text = true, .changes = true},
};

static const struct row *row_of(uint32_t opcode)
{
	return opcode < ARRAY_SIZE(rows) && rows[opcode].execute ? &rows[opcode] : NULL;
}

bool fsd_request_peek(const struct fsd_request *request, uint32_t *opcode, uint64_t *unique)
{
	struct vq_cursor in = vq_cursor(request->in, request->nr_in, request->in_bytes);
	struct fuse_in_header head = {0};
	bool whole = vq_cursor_read(&in, &head, HEADER) == HEADER;

	*opcode = head.opcode;
	*unique = head.unique;
	return whole;
}

/* Arguments and text, of the length that the header says. */
static int take_request(struct fsd_call *c, const struct row *row)
{
	size_t len = c->head.len, take = row->take ? row->take : row->args, got;

	if (len < HEADER + row->args || len - HEADER > c->in.left)
		return -EINVAL;
	c->in.left = len - HEADER;
	got = vq_cursor_read(&c->in, &c->args, take);
	if (got < take)
		memset((char *)&c->args + got, 0, take - got);
	if (!row->text)
		return 0;
	if (c->in.left > FSD_TEXT_MAX)
		return -E2BIG;
	c->text_len = vq_cursor_read(&c->in, c->thread->text, c->in.left);
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
	for (size_t i = 0; i < ARRAY_SIZE(c->node) && c->node[i]; i++)
		fsd_inode_put(&c->fs->inodes, c->node[i]);
	for (size_t i = 0; i < ARRAY_SIZE(c->handle) && c->handle[i]; i++)
		fsd_handle_put(&c->fs->handles, c->handle[i]);
}

/* What Linux 7.1 takes: the used length is the header's, an error is the header alone. */
static uint32_t finish(struct fsd_call *c, const struct fsd_request *request, int err)
{
	struct vq_cursor out = vq_cursor(request->out, request->nr_out, request->out_bytes);
	struct fuse_out_header head = {.unique = c->head.unique, .error = err};

	head.len = (uint32_t)(REPLY + (err ? 0 : c->replied));
	vq_cursor_write(&out, &head, REPLY);
	return head.len;
}

/* Field by field: clearing arguments that are read anyway would cost more than reading them. */
static void begin(struct fsd_call *c, struct fsd_fs *fs, struct fsd_thread *thread,
		  const struct fsd_request *request, struct fsd_outcome *outcome)
{
	c->fs = fs;
	c->thread = thread;
	c->outcome = outcome;
	c->in = vq_cursor(request->in, request->nr_in, request->in_bytes);
	c->out = vq_cursor(request->out, request->nr_out, request->out_bytes);
	c->head = (struct fuse_in_header){0};
	c->text = NULL;
	c->text_len = c->replied = 0;
	c->node[0] = c->node[1] = NULL;
	c->handle[0] = c->handle[1] = NULL;
	*outcome = (struct fsd_outcome){0};
}

uint32_t fsd_fs_handle(struct fsd_fs *fs, struct fsd_thread *thread,
		       const struct fsd_request *request, struct fsd_outcome *outcome)
{
	struct fsd_call c;
	const struct row *row;
	size_t got;
	int err;

	begin(&c, fs, thread, request, outcome);
	got = vq_cursor_read(&c.in, &c.head, HEADER);
	outcome->opcode = c.head.opcode;
	outcome->unique = c.head.unique;
	row = row_of(c.head.opcode);
	/* Who gave no room for an answer cannot want the thing. */
	if (got < HEADER || (request->out_bytes < REPLY && !(row && row->silent))) {
		err = -EINVAL;
	} else {
		vq_cursor_skip(&c.out, REPLY);
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
