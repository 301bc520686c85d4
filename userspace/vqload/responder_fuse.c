// SPDX-License-Identifier: GPL-2.0-or-later
/* FUSE over one chain: what the request says, what is done, the reply into the chain. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "vqload/responder_fuse.h"

/* What is offered in INIT, and needs nothing more than this file has. */
#define FLAGS                                                                       \
	(FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ATOMIC_O_TRUNC | FUSE_MAX_PAGES | \
	 FUSE_PARALLEL_DIROPS | FUSE_INIT_EXT)
#define MAX_WRITE (1u << 20)

/* A name at @at of the arguments; its length, or -EINVAL when it does not end. */
static int64_t name_at(const struct rsp_request *q, uint32_t at)
{
	const uint8_t *end = at < q->len ? memchr(q->args + at, 0, q->len - at) : NULL;

	return end ? end - (q->args + at) : -EINVAL;
}

/* --- attributes ------------------------------------------------------------------------------ */

static struct fuse_attr attr_of(const struct load_fs_attr *a)
{
	return (struct fuse_attr){
		.ino = a->ino,
		.size = a->size,
		.blocks = (a->size + 511) / 512,
		.mode = a->mode,
		.nlink = a->nlink,
		.atime = a->atime,
		.mtime = a->mtime,
		.blksize = 4096,
	};
}

static void put_entry(struct fuse_entry_out *e, const struct load_fs_attr *a)
{
	e->nodeid = a->nodeid;
	e->generation = a->nodeid >> 32;
	e->attr = attr_of(a);
}

static int do_getattr(struct rsp_request *q)
{
	struct load_fs_attr a;
	int err = load_fs_attr(q->r->fs, q->head.nodeid, &a);
	struct fuse_attr_out *out;

	if (err)
		return err;
	out = rsp_answer(q, sizeof(*out));
	out->attr = attr_of(&a);
	return 0;
}

static int do_statx(struct rsp_request *q)
{
	struct load_fs_attr a;
	int err = load_fs_attr(q->r->fs, q->head.nodeid, &a);
	struct fuse_statx_out *out;

	if (err)
		return err;
	out = rsp_answer(q, sizeof(*out));
	out->stat.mask = 0x7ff; /* STATX_BASIC_STATS */
	out->stat.blksize = 4096;
	out->stat.nlink = a.nlink;
	out->stat.mode = (uint16_t)a.mode;
	out->stat.ino = a.ino;
	out->stat.size = a.size;
	out->stat.blocks = (a.size + 511) / 512;
	return 0;
}

static int do_setattr(struct rsp_request *q)
{
	struct fuse_setattr_in in;
	int err = 0;

	memcpy(&in, q->args, sizeof(in));
	if (in.valid & FATTR_MODE)
		err = load_fs_chmod(q->r->fs, q->head.nodeid, in.mode);
	if (!err)
		err = load_fs_utimes(q->r->fs, q->head.nodeid,
				     in.valid & FATTR_ATIME ? &in.atime : NULL,
				     in.valid & FATTR_MTIME ? &in.mtime : NULL);
	if (!err && in.valid & FATTR_SIZE)
		err = load_fs_truncate(q->r->fs, q->head.nodeid, in.size);
	return err ? err : do_getattr(q);
}

static int do_statfs(struct rsp_request *q)
{
	struct fuse_statfs_out *out = rsp_answer(q, sizeof(*out));

	out->st.bsize = out->st.frsize = 4096;
	out->st.blocks = LOAD_FS_BYTES_MAX / 4096;
	out->st.bfree = out->st.bavail = (LOAD_FS_BYTES_MAX - load_fs_bytes(q->r->fs)) / 4096;
	out->st.files = LOAD_FS_NODES;
	out->st.ffree = LOAD_FS_NODES - load_fs_count(q->r->fs);
	out->st.namelen = 255;
	return 0;
}

/* --- names ----------------------------------------------------------------------------------- */

static int do_lookup(struct rsp_request *q)
{
	int64_t len = name_at(q, 0);
	struct load_fs_attr a;
	int err = len < 0 ? -EINVAL
			  : load_fs_lookup(q->r->fs, q->head.nodeid, (char *)q->args, (size_t)len,
					   &a);

	if (err)
		return err;
	put_entry(rsp_answer(q, sizeof(struct fuse_entry_out)), &a);
	return 0;
}

static int make(struct rsp_request *q, uint32_t at, uint32_t mode, struct load_fs_attr *a)
{
	int64_t len = name_at(q, at);

	return len < 0 ? -EINVAL
		       : load_fs_make(q->r->fs, q->head.nodeid, (char *)q->args + at, (size_t)len,
				      mode, a);
}

static int do_mkdir(struct rsp_request *q)
{
	struct fuse_mkdir_in in;
	struct load_fs_attr a;
	int err;

	memcpy(&in, q->args, sizeof(in));
	err = make(q, sizeof(in), S_IFDIR | (in.mode & 07777), &a);
	if (err)
		return err;
	put_entry(rsp_answer(q, sizeof(struct fuse_entry_out)), &a);
	return 0;
}

static int do_create(struct rsp_request *q)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} * out;
	struct fuse_create_in in;
	struct load_fs_attr a;
	uint64_t fh;
	int err;

	memcpy(&in, q->args, sizeof(in));
	err = make(q, sizeof(in), S_IFREG | (in.mode & 07777), &a);
	if (!err)
		err = load_fs_open(q->r->fs, a.nodeid, 0, &fh);
	if (err)
		return err;
	out = rsp_answer(q, sizeof(*out));
	put_entry(&out->entry, &a);
	out->open.fh = fh;
	return 0;
}

static int do_remove(struct rsp_request *q)
{
	int64_t len = name_at(q, 0);

	return len < 0 ? -EINVAL
		       : load_fs_remove(q->r->fs, q->head.nodeid, (char *)q->args, (size_t)len,
					q->head.opcode == FUSE_RMDIR);
}

static int do_forget(struct rsp_request *q)
{
	struct fuse_forget_in in;

	memcpy(&in, q->args, sizeof(in));
	load_fs_forget(q->r->fs, q->head.nodeid, in.nlookup);
	return 0;
}

static int do_batch_forget(struct rsp_request *q)
{
	struct fuse_batch_forget_in in;
	struct fuse_forget_one one;
	uint32_t room = (q->len - sizeof(in)) / sizeof(one);

	memcpy(&in, q->args, sizeof(in));
	if (in.count != room)
		rsp_complain(q->r, "BATCH_FORGET of %u with room for %u", in.count, room);
	for (uint32_t i = 0; i < in.count && i < room; i++) {
		memcpy(&one, q->args + sizeof(in) + i * sizeof(one), sizeof(one));
		load_fs_forget(q->r->fs, one.nodeid, one.nlookup);
	}
	return 0;
}

/* --- handles --------------------------------------------------------------------------------- */

static int do_open(struct rsp_request *q)
{
	struct fuse_open_out *out = rsp_answer(q, sizeof(*out));
	struct fuse_open_in in;
	int err;

	memcpy(&in, q->args, sizeof(in));
	err = load_fs_open(q->r->fs, q->head.nodeid, q->head.opcode == FUSE_OPENDIR, &out->fh);
	if (!err && q->head.opcode == FUSE_OPEN && in.flags & 01000 /* O_TRUNC */)
		err = load_fs_truncate(q->r->fs, q->head.nodeid, 0);
	return err;
}

static int do_release(struct rsp_request *q)
{
	return load_fs_release(q->r->fs, q->head.nodeid, rsp_handle(q));
}

static int do_sync(struct rsp_request *q)
{
	return load_fs_check(q->r->fs, q->head.nodeid, rsp_handle(q));
}

/* --- the session ----------------------------------------------------------------------------- */

static int do_init(struct rsp_request *q)
{
	struct fuse_init_in in = {0};
	struct fuse_init_out *out;
	uint64_t flags;

	memcpy(&in, q->args, q->len < sizeof(in) ? q->len : sizeof(in));
	if (in.major != FUSE_KERNEL_VERSION)
		return -EPROTO;
	if (q->r->mounted)
		rsp_complain(q->r, "INIT a second time");
	flags = in.flags | (in.flags & FUSE_INIT_EXT ? (uint64_t)in.flags2 << 32 : 0);
	q->r->mounted = true;
	load_fs_forget_all(q->r->fs);
	out = rsp_answer(q, sizeof(*out));
	out->major = FUSE_KERNEL_VERSION;
	out->minor = 39; /* STATX */
	out->max_readahead = in.max_readahead;
	out->flags = (uint32_t)(flags & FLAGS);
	out->max_background = UINT16_MAX;
	out->congestion_threshold = UINT16_MAX / 4 * 3;
	out->max_write = MAX_WRITE;
	out->time_gran = 1;
	out->max_pages = MAX_WRITE / 4096;
	return 0;
}

static int do_destroy(struct rsp_request *q)
{
	load_fs_forget_all(q->r->fs);
	q->r->mounted = false;
	return 0;
}

static int (*const handlers[LOAD_OPS])(struct rsp_request *) = {
	[FUSE_LOOKUP] = do_lookup,    [FUSE_FORGET] = do_forget,
	[FUSE_GETATTR] = do_getattr,  [FUSE_SETATTR] = do_setattr,
	[FUSE_MKDIR] = do_mkdir,      [FUSE_UNLINK] = do_remove,
	[FUSE_RMDIR] = do_remove,     [FUSE_OPEN] = do_open,
	[FUSE_READ] = rsp_read,       [FUSE_WRITE] = rsp_write,
	[FUSE_STATFS] = do_statfs,    [FUSE_RELEASE] = do_release,
	[FUSE_FSYNC] = do_sync,       [FUSE_FLUSH] = do_sync,
	[FUSE_INIT] = do_init,        [FUSE_OPENDIR] = do_open,
	[FUSE_READDIR] = rsp_readdir, [FUSE_RELEASEDIR] = do_release,
	[FUSE_FSYNCDIR] = do_sync,    [FUSE_CREATE] = do_create,
	[FUSE_DESTROY] = do_destroy,  [FUSE_BATCH_FORGET] = do_batch_forget,
	[FUSE_STATX] = do_statx,
};

/* 0, or the error to answer: what any request must have. */
static int check(struct rsp_request *q, uint32_t queue, const struct load_op *op)
{
	const struct fuse_in_header *h = &q->head;
	/* Other than the rows say: an old INIT is shorter, a list has entries. */
	uint32_t least = h->opcode == FUSE_INIT ? 8 : op ? op->in_args : 0;

	if (h->len != q->c->read_bytes) {
		rsp_complain(q->r, "%s: its length is %u, that of the chain %u",
			     load_op_name(h->opcode), h->len, q->c->read_bytes);
		return -EINVAL;
	}
	if (!op) {
		rsp_complain(q->r, "opcode %u, which no guest sends", h->opcode);
		return -ENOSYS;
	}
	if (h->len - RSP_HEADER < least) {
		rsp_complain(q->r, "%s: %zu bytes of arguments, not %u", op->name,
			     h->len - RSP_HEADER, least);
		return -EINVAL;
	}
	if (op->hiprio != !queue)
		rsp_complain(q->r, "%s through queue %u", op->name, queue);
	if (op->rule != LOAD_REPLY_NONE && q->c->write_bytes < RSP_REPLY + op->out_args &&
	    op->rule != LOAD_REPLY_SIZE_OR_DATA) {
		rsp_complain(q->r, "%s: room for %u bytes of reply, not %zu", op->name,
			     q->c->write_bytes, RSP_REPLY + op->out_args);
		return -EINVAL;
	}
	if (op->rule == LOAD_REPLY_NONE && q->c->write_bytes)
		rsp_complain(q->r, "%s: room for a reply that it does not have", op->name);
	if (!q->r->mounted && h->opcode != FUSE_INIT) {
		rsp_complain(q->r, "%s before INIT", op->name);
		return -EIO;
	}
	if (!h->unique && op->rule != LOAD_REPLY_NONE)
		rsp_complain(q->r, "%s: unique is 0", op->name);
	return 0;
}

/* Header and arguments into the chain; the bytes of it all. */
static uint32_t reply(struct rsp_request *q, int err)
{
	struct fuse_out_header h = {.error = err, .unique = q->head.unique};

	if (q->c->write_bytes < RSP_REPLY)
		return 0;
	if (err)
		q->out_len = q->data_len = 0;
	h.len = (uint32_t)RSP_REPLY + q->out_len + q->data_len;
	rsp_scatter(&h, rsp_writable(q), q->c->nr_write, 0, RSP_REPLY);
	if (q->out_len)
		rsp_scatter(q->out, rsp_writable(q), q->c->nr_write, RSP_REPLY, q->out_len);
	return h.len;
}

/* Less than a header: not even whose request it is is known. */
static uint32_t refuse(struct load_responder *r, const struct vq_chain *c)
{
	struct fuse_out_header h = {.len = RSP_REPLY, .error = -EINVAL};

	rsp_complain(r, "a request of %u bytes, less than a header", c->read_bytes);
	if (c->write_bytes < RSP_REPLY)
		return 0;
	rsp_scatter(&h, c->iov + c->nr_read, c->nr_write, 0, RSP_REPLY);
	return h.len;
}

uint32_t rsp_fuse(struct load_responder *r, uint32_t queue, const struct vq_chain *c,
		  uint32_t *opcode)
{
	const struct load_op *op;
	struct rsp_request q;
	uint32_t want;
	int err;

	*opcode = 0;
	q.r = r;
	q.c = c;
	q.out_len = q.data_len = 0;
	if (rsp_gather(&q.head, c->iov, c->nr_read, 0, RSP_HEADER) < RSP_HEADER)
		return refuse(r, c);
	*opcode = q.head.opcode;
	op = load_op(q.head.opcode);
	want = c->read_bytes - (uint32_t)RSP_HEADER;
	if (q.head.opcode == FUSE_WRITE && want > sizeof(struct fuse_write_in))
		want = sizeof(struct fuse_write_in);
	q.len = (uint32_t)rsp_gather(q.args, c->iov, c->nr_read, RSP_HEADER,
				     want < RSP_ARGS_MAX ? want : RSP_ARGS_MAX);
	err = check(&q, queue, op);
	if (!err)
		err = handlers[q.head.opcode] ? handlers[q.head.opcode](&q) : -ENOSYS;
	if (op && op->rule == LOAD_REPLY_NONE)
		return 0;
	return reply(&q, err);
}
