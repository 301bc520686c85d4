// SPDX-License-Identifier: GPL-2.0-or-later
/* Builders: what they share, and requests about nodes and names. */
#include "vqload/fuse_build.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER sizeof(struct fuse_in_header)
#define REPLY  sizeof(struct fuse_out_header)

void load_req_init(struct load_req *r, void *in, uint32_t in_cap)
{
	*r = (struct load_req){.in = in, .in_cap = in_cap};
}

struct load_build load_begin(struct load_req *r, const struct load_head *h, uint32_t opcode,
			     const void *args, size_t len)
{
	struct load_build b = {.r = r, .op = load_op(opcode)};
	struct fuse_in_header head = {
		.opcode = opcode,
		.unique = h->unique,
		.nodeid = h->nodeid,
		.uid = h->uid,
		.gid = h->gid,
		.pid = h->pid,
	};

	*r = (struct load_req){
		.in = r->in,
		.in_cap = r->in_cap,
		.opcode = opcode,
		.unique = h->unique,
		.nodeid = h->nodeid,
		.hiprio = b.op->hiprio,
	};
	load_put(&b, &head, HEADER);
	load_put(&b, args, len);
	return b;
}

void load_put(struct load_build *b, const void *data, size_t len)
{
	struct load_req *r = b->r;

	if (b->err || !len)
		return;
	if (len > r->in_cap - r->in_size) {
		b->err = -ENOSPC;
		return;
	}
	memcpy((char *)r->in + r->in_size, data, len);
	r->in_size += (uint32_t)len;
}

void load_put_name(struct load_build *b, const char *name)
{
	size_t len = strnlen(name, LOAD_NAME_MAX + 1);

	if (!b->err && (!len || len > LOAD_NAME_MAX))
		b->err = -EINVAL;
	load_put(b, name, len + 1);
}

/* fs/fuse/virtio_fs.c of Linux 7.3, virtio_fs_verify_response(): args.out_argvar in the middle. */
static void expect(struct load_req *r, const struct load_op *op, uint32_t asked)
{
	uint32_t args = op->out_args;

	switch (op->rule) {
	case LOAD_REPLY_NONE:
		return;
	case LOAD_REPLY_UP_TO:
		r->out_data_size = asked;
		break;
	case LOAD_REPLY_SIZE_OR_DATA:
		r->out_data_size = asked;
		if (asked)
			args = 0;
		break;
	default:
		break;
	}
	r->out_size = REPLY + args;
	r->reply_max = r->out_size + r->out_data_size;
	r->reply_min = op->rule == LOAD_REPLY_OLDER ? REPLY : r->out_size;
}

int load_end(struct load_build *b, uint32_t asked)
{
	struct load_req *r = b->r;
	uint32_t len;

	if (b->err)
		return b->err;
	if (__builtin_add_overflow(r->in_size, r->in_data_size, &len) || asked > INT32_MAX)
		return -EINVAL;
	memcpy((char *)r->in + offsetof(struct fuse_in_header, len), &len, sizeof(len));
	expect(r, b->op, asked);
	return 0;
}

int load_build_plain(struct load_req *r, const struct load_head *h, uint32_t opcode,
		     const void *args, size_t len)
{
	struct load_build b = load_begin(r, h, opcode, args, len);

	return load_end(&b, 0);
}

/* With one name after the arguments. */
static int build_named(struct load_req *r, const struct load_head *h, uint32_t opcode,
		       const void *args, size_t len, const char *name)
{
	struct load_build b = load_begin(r, h, opcode, args, len);

	load_put_name(&b, name);
	return load_end(&b, 0);
}

/* fuse_new_init() of Linux 7.3, fs/fuse/inode.c. */
void load_init_linux(struct load_init *init)
{
	*init = (struct load_init){
		.minor = 46,
		.max_readahead = 128 << 10, /* VM_READAHEAD_PAGES */
		.flags = FUSE_ASYNC_READ | FUSE_POSIX_LOCKS | FUSE_ATOMIC_O_TRUNC |
			 FUSE_EXPORT_SUPPORT | FUSE_BIG_WRITES | FUSE_DONT_MASK |
			 FUSE_SPLICE_WRITE | FUSE_SPLICE_MOVE | FUSE_SPLICE_READ |
			 FUSE_FLOCK_LOCKS | FUSE_HAS_IOCTL_DIR | FUSE_AUTO_INVAL_DATA |
			 FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO | FUSE_ASYNC_DIO |
			 FUSE_WRITEBACK_CACHE | FUSE_NO_OPEN_SUPPORT | FUSE_PARALLEL_DIROPS |
			 FUSE_HANDLE_KILLPRIV | FUSE_POSIX_ACL | FUSE_ABORT_ERROR | FUSE_MAX_PAGES |
			 FUSE_CACHE_SYMLINKS | FUSE_NO_OPENDIR_SUPPORT | FUSE_EXPLICIT_INVAL_DATA |
			 FUSE_SUBMOUNTS | FUSE_HANDLE_KILLPRIV_V2 | FUSE_SETXATTR_EXT |
			 FUSE_INIT_EXT | FUSE_HAS_EXPIRE_ONLY | FUSE_DIRECT_IO_ALLOW_MMAP |
			 FUSE_NO_EXPORT_SUPPORT | FUSE_HAS_RESEND | FUSE_ALLOW_IDMAP |
			 FUSE_REQUEST_TIMEOUT,
	};
}

int load_build_init(struct load_req *r, const struct load_head *h, const struct load_init *init)
{
	struct fuse_init_in in = {
		.major = FUSE_KERNEL_VERSION,
		.minor = init->minor,
		.max_readahead = init->max_readahead,
		.flags = (uint32_t)init->flags,
		.flags2 = (uint32_t)(init->flags >> 32),
	};

	return load_build_plain(r, h, FUSE_INIT, &in, sizeof(in));
}

int load_build_destroy(struct load_req *r, const struct load_head *h)
{
	return load_build_plain(r, h, FUSE_DESTROY, NULL, 0);
}

int load_build_lookup(struct load_req *r, const struct load_head *h, const char *name)
{
	return build_named(r, h, FUSE_LOOKUP, NULL, 0, name);
}

int load_build_forget(struct load_req *r, const struct load_head *h, uint64_t nlookup)
{
	struct fuse_forget_in in = {.nlookup = nlookup};

	return load_build_plain(r, h, FUSE_FORGET, &in, sizeof(in));
}

int load_build_batch_forget(struct load_req *r, const struct load_head *h,
			    const struct fuse_forget_one *ones, uint32_t count)
{
	struct fuse_batch_forget_in in = {.count = count};
	struct load_build b = load_begin(r, h, FUSE_BATCH_FORGET, &in, sizeof(in));

	load_put(&b, ones, count * sizeof(*ones));
	return load_end(&b, 0);
}

int load_build_interrupt(struct load_req *r, const struct load_head *h, uint64_t victim)
{
	struct fuse_interrupt_in in = {.unique = victim};
	struct load_head own = *h;

	own.unique = victim | LOAD_UNIQUE_INTERRUPT;
	return load_build_plain(r, &own, FUSE_INTERRUPT, &in, sizeof(in));
}

int load_build_getattr(struct load_req *r, const struct load_head *h, const uint64_t *fh)
{
	struct fuse_getattr_in in = {
		.getattr_flags = fh ? FUSE_GETATTR_FH : 0,
		.fh = fh ? *fh : 0,
	};

	return load_build_plain(r, h, FUSE_GETATTR, &in, sizeof(in));
}

int load_build_statx(struct load_req *r, const struct load_head *h, const uint64_t *fh,
		     uint32_t mask)
{
	struct fuse_statx_in in = {
		.getattr_flags = fh ? FUSE_GETATTR_FH : 0,
		.fh = fh ? *fh : 0,
		.sx_mask = mask,
	};

	return load_build_plain(r, h, FUSE_STATX, &in, sizeof(in));
}

int load_build_setattr(struct load_req *r, const struct load_head *h,
		       const struct fuse_setattr_in *in)
{
	return load_build_plain(r, h, FUSE_SETATTR, in, sizeof(*in));
}

int load_build_access(struct load_req *r, const struct load_head *h, uint32_t mask)
{
	struct fuse_access_in in = {.mask = mask};

	return load_build_plain(r, h, FUSE_ACCESS, &in, sizeof(in));
}

int load_build_statfs(struct load_req *r, const struct load_head *h)
{
	return load_build_plain(r, h, FUSE_STATFS, NULL, 0);
}

int load_build_syncfs(struct load_req *r, const struct load_head *h)
{
	struct fuse_syncfs_in in = {0};

	return load_build_plain(r, h, FUSE_SYNCFS, &in, sizeof(in));
}

/* Of a node that is to be of @type. */
static int build_node(struct load_req *r, const struct load_head *h, uint32_t opcode,
		      const void *args, size_t len, const char *name, uint32_t type)
{
	int err = build_named(r, h, opcode, args, len, name);

	r->type = type;
	return err;
}

int load_build_mkdir(struct load_req *r, const struct load_head *h, const char *name, uint32_t mode,
		     uint32_t umask)
{
	struct fuse_mkdir_in in = {.mode = mode, .umask = umask};

	return build_node(r, h, FUSE_MKDIR, &in, sizeof(in), name, S_IFDIR);
}

int load_build_mknod(struct load_req *r, const struct load_head *h, const char *name, uint32_t mode,
		     uint32_t rdev, uint32_t umask)
{
	struct fuse_mknod_in in = {.mode = mode, .rdev = rdev, .umask = umask};

	return build_node(r, h, FUSE_MKNOD, &in, sizeof(in), name, mode & S_IFMT);
}

int load_build_create(struct load_req *r, const struct load_head *h, const char *name,
		      uint32_t flags, uint32_t mode, uint32_t umask)
{
	struct fuse_create_in in = {
		.flags = flags,
		.mode = (mode & ~(uint32_t)S_IFMT) | S_IFREG,
		.umask = umask,
	};

	return build_node(r, h, FUSE_CREATE, &in, sizeof(in), name, S_IFREG);
}

int load_build_unlink(struct load_req *r, const struct load_head *h, const char *name)
{
	return build_named(r, h, FUSE_UNLINK, NULL, 0, name);
}

int load_build_rmdir(struct load_req *r, const struct load_head *h, const char *name)
{
	return build_named(r, h, FUSE_RMDIR, NULL, 0, name);
}

int load_build_rename2(struct load_req *r, const struct load_head *h, const char *name,
		       uint64_t newdir, const char *newname, uint32_t flags)
{
	struct fuse_rename2_in in = {.newdir = newdir, .flags = flags};
	/* struct fuse_rename_in is its beginning. */
	struct load_build b =
		load_begin(r, h, flags ? FUSE_RENAME2 : FUSE_RENAME, &in,
			   flags ? sizeof(struct fuse_rename2_in) : sizeof(struct fuse_rename_in));

	load_put_name(&b, name);
	load_put_name(&b, newname);
	return load_end(&b, 0);
}

int load_build_link(struct load_req *r, const struct load_head *h, uint64_t old, const char *name)
{
	struct fuse_link_in in = {.oldnodeid = old};

	return build_named(r, h, FUSE_LINK, &in, sizeof(in), name);
}

int load_build_symlink(struct load_req *r, const struct load_head *h, const char *name,
		       const char *target)
{
	struct load_build b = load_begin(r, h, FUSE_SYMLINK, NULL, 0);

	load_put_name(&b, name);
	load_put_name(&b, target);
	r->type = S_IFLNK;
	return load_end(&b, 0);
}

int load_build_readlink(struct load_req *r, const struct load_head *h, uint32_t size)
{
	struct load_build b = load_begin(r, h, FUSE_READLINK, NULL, 0);

	return load_end(&b, size);
}
