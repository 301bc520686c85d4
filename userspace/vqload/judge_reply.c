// SPDX-License-Identifier: GPL-2.0-or-later
/* One reply against its request: first what virtio-fs checks, then what FUSE checks. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "vqload/fuse_reply.h"
#include "vqload/judge_priv.h"

#define REPLY   sizeof(struct fuse_out_header)
/* Header and arguments of the longest reply that is not data: STATX. */
#define OUT_MAX (REPLY + sizeof(struct fuse_statx_out))

/* A reply while it is judged. */
struct trial {
	struct load_judge *j;
	const struct load_req *r;
	const struct load_done *d;
	struct load_verdict v;
	uint32_t queue;
	/* The reply's header and arguments, copied: the daemon may go on writing. */
	uint8_t out[OUT_MAX];
	uint32_t len;
	struct fuse_out_header head;
};

static void find(struct trial *t, enum load_finding f, int64_t expected, int64_t got)
{
	struct load_detail detail = {
		.finding = f,
		.queue = t->queue,
		.opcode = t->r->opcode,
		.unique = t->r->unique,
		.age_ns = t->d->age_ns,
		.expected = expected,
		.got = got,
	};

	load_judge_note(t->j, &detail);
	if (!load_finding_is_fault(f))
		return;
	if (t->v.first == LOAD_FINDINGS)
		t->v.first = f;
	t->v.usable = false;
	t->v.error = -EIO;
}

static void check_order(struct trial *t)
{
	struct load_judge_queue *q = &t->j->queue[t->queue];

	if (q->any && t->d->seq < q->highest)
		find(t, LOAD_OUT_OF_ORDER, (int64_t)t->d->seq, (int64_t)q->highest);
	else
		q->highest = t->d->seq;
	q->any = true;
}

/* virtio_fs_verify_response() of Linux 7.3, in its order; false: Linux would not look further. */
static bool check_envelope(struct trial *t)
{
	const struct load_req *r = t->r;
	uint32_t used = t->d->used;

	if (used < REPLY || load_read_header(t->out, t->len, &t->head)) {
		find(t, LOAD_HEADER_TRUNCATED, REPLY, used);
		return false;
	}
	if (t->head.len != used) {
		find(t, LOAD_LENGTH, used, t->head.len);
		return false;
	}
	if (t->head.unique != r->unique) {
		find(t, LOAD_UNIQUE, (int64_t)r->unique, (int64_t)t->head.unique);
		return false;
	}
	if (t->head.error > 0 || t->head.error <= -512) {
		find(t, LOAD_ERROR_RANGE, 0, t->head.error);
		return false;
	}
	if (t->head.error && used != REPLY) {
		find(t, LOAD_ERROR_LENGTH, REPLY, used);
		return false;
	}
	if (t->head.error)
		return true;
	if (used > r->reply_max)
		find(t, LOAD_TOO_LONG, r->reply_max, used);
	else if (used < r->reply_min)
		find(t, LOAD_TOO_SHORT, r->reply_min, used);
	return t->v.usable;
}

static void impossible(struct trial *t, uint64_t limit, uint64_t got)
{
	find(t, LOAD_VALUE, (int64_t)limit, (int64_t)got);
}

static void check_attr(struct trial *t, const struct fuse_attr *attr)
{
	if (attr->size > INT64_MAX)
		impossible(t, INT64_MAX, attr->size);
	else if (!load_attr_sane(attr) || (t->r->type && (attr->mode & S_IFMT) != t->r->type))
		impossible(t, t->r->type, attr->mode);
}

/* What is made has a node; what is looked up may have none, and ".." may be the root. */
static void check_entry(struct trial *t, const struct fuse_entry_out *e)
{
	bool lookup = t->r->opcode == FUSE_LOOKUP;

	if (lookup && !e->nodeid)
		return;
	if (!e->nodeid || (!lookup && e->nodeid == FUSE_ROOT_ID))
		impossible(t, 0, e->nodeid);
	else
		check_attr(t, &e->attr);
}

static void check_statx(struct trial *t)
{
	struct fuse_statx_out s;

	if (load_read_statx(t->out, t->len, &s))
		return;
	if ((s.stat.mask & STATX_SIZE) && s.stat.size > INT64_MAX)
		impossible(t, INT64_MAX, s.stat.size);
	else if (!load_statx_sane(&s.stat))
		impossible(t, 0, s.stat.mode);
}

/* convert_fuse_file_lock(), fs/fuse/file.c. */
static void check_lock(struct trial *t)
{
	struct fuse_file_lock lk;

	if (load_read_lock(t->out, t->len, &lk) || lk.type == F_UNLCK)
		return;
	if (lk.type != F_RDLCK && lk.type != F_WRLCK)
		impossible(t, F_UNLCK, lk.type);
	else if (lk.start > INT64_MAX || lk.end > INT64_MAX || lk.end < lk.start)
		impossible(t, lk.start, lk.end);
}

static void check_init(struct trial *t)
{
	struct fuse_init_out init;

	if (load_read_init(t->out, t->len, &init))
		find(t, LOAD_TOO_SHORT, REPLY + FUSE_COMPAT_INIT_OUT_SIZE, t->len);
	else if (init.major != FUSE_KERNEL_VERSION)
		impossible(t, FUSE_KERNEL_VERSION, init.major);
}

static void check_count(struct trial *t, uint64_t count, uint64_t limit)
{
	if (count > limit)
		impossible(t, limit, count);
}

static void check_args(struct trial *t)
{
	struct fuse_entry_out entry;
	struct fuse_attr_out attr;
	uint64_t offset;
	uint32_t count;

	switch (t->r->opcode) {
	case FUSE_LOOKUP:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_SYMLINK:
	case FUSE_LINK:
	case FUSE_CREATE:
		if (!load_read_entry(t->out, t->len, &entry))
			check_entry(t, &entry);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		if (!load_read_attr(t->out, t->len, &attr))
			check_attr(t, &attr.attr);
		break;
	case FUSE_WRITE:
	case FUSE_COPY_FILE_RANGE:
		if (!load_read_count(t->out, t->len, &count))
			check_count(t, count, t->r->limit);
		break;
	case FUSE_COPY_FILE_RANGE_64:
		if (!load_read_count64(t->out, t->len, &offset))
			check_count(t, offset, t->r->limit);
		break;
	case FUSE_LSEEK:
		if (!load_read_lseek(t->out, t->len, &offset))
			check_count(t, offset, INT64_MAX);
		break;
	case FUSE_STATX:
		check_statx(t);
		break;
	case FUSE_GETLK:
		check_lock(t);
		break;
	case FUSE_INIT:
		check_init(t);
		break;
	}
}

static bool is_dot(const struct load_dirent *d)
{
	return !strcmp(d->name, ".") || !strcmp(d->name, "..");
}

static void check_dirents(struct trial *t, bool plus)
{
	struct load_dirents it;
	struct load_dirent d;
	int r;

	load_dirents_start(&it, t->d->data, t->v.data_len, plus);
	while ((r = load_dirents_next(&it, &d)) > 0) {
		/* fuse_direntplus_link(): what it does not link it does not check. */
		if (!d.has_entry || is_dot(&d) || load_entry_sane(&d.entry))
			continue;
		impossible(t, 0,
			   load_attr_sane(&d.entry.attr) ? d.entry.nodeid : d.entry.attr.mode);
		return;
	}
	if (r == -EBADMSG)
		find(t, LOAD_DIRENT, t->v.data_len, (int64_t)it.pos);
	else if (r)
		find(t, LOAD_DIRENT_TAIL, t->v.data_len, (int64_t)it.pos);
}

/* fuse_verify_xattr_list(): names, none empty, each with its NUL. */
static void check_names(struct trial *t)
{
	const char *list = t->d->data;
	uint32_t len = t->v.data_len;

	for (uint32_t at = 0; at < len;) {
		uint32_t n = (uint32_t)strnlen(list + at, len - at);

		if (!n || n == len - at) {
			find(t, LOAD_DIRENT, len, at);
			return;
		}
		at += n + 1;
	}
}

static void check_data(struct trial *t)
{
	t->v.data_len = t->d->data ? load_reply_data_len(t->r, t->d->used) : 0;
	if (!t->v.data_len)
		return;
	switch (t->r->opcode) {
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		check_dirents(t, t->r->opcode == FUSE_READDIRPLUS);
		break;
	case FUSE_LISTXATTR:
		check_names(t);
		break;
	}
}

struct load_verdict load_judge_reply(struct load_judge *j, const struct load_req *r,
				     const struct load_done *d)
{
	struct trial t = {
		.j = j,
		.r = r,
		.d = d,
		.v = {.usable = true, .first = LOAD_FINDINGS},
		.queue = d->queue < j->nr_queues ? d->queue : 0,
	};
	const struct load_op *op = load_op(r->opcode);

	j->replies++;
	check_order(&t);
	if (!r->out_size) {
		if (d->used)
			find(&t, LOAD_UNWANTED, 0, d->used);
		return t.v;
	}
	t.len = d->used < r->out_size ? d->used : r->out_size;
	if (t.len > OUT_MAX)
		t.len = OUT_MAX;
	if (d->out)
		memcpy(t.out, d->out, t.len);
	else
		t.len = 0;
	if (!check_envelope(&t))
		return t.v;
	if (t.head.error) {
		j->errors++;
		t.v.error = t.head.error;
		if (op && !load_op_error_is_normal(op, t.head.error))
			find(&t, LOAD_UNUSUAL_ERROR, 0, t.head.error);
		return t.v;
	}
	check_args(&t);
	check_data(&t);
	return t.v;
}
