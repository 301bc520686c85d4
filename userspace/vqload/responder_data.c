// SPDX-License-Identifier: GPL-2.0-or-later
/* READ, WRITE and READDIR: bytes between files and the buffers of a chain. */
#include <errno.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "virtqueue/cursor.h"
#include "vqload/responder_fuse.h"

#define DIR_MAX (64u << 10)

static struct vq_cursor at_byte(const struct iovec *iov, uint32_t nr, size_t at)
{
	struct vq_cursor c = vq_cursor(iov, nr, SIZE_MAX);

	vq_cursor_skip(&c, at);
	return c;
}

size_t rsp_gather(void *to, const struct iovec *iov, uint32_t nr, size_t at, size_t len)
{
	struct vq_cursor c = at_byte(iov, nr, at);

	return vq_cursor_read(&c, to, len);
}

size_t rsp_scatter(const void *from, const struct iovec *iov, uint32_t nr, size_t at, size_t len)
{
	struct vq_cursor c = at_byte(iov, nr, at);

	return vq_cursor_write(&c, from, len);
}

int rsp_read(struct rsp_request *q)
{
	int err = load_fs_check(q->r->fs, q->head.nodeid, rsp_handle(q));
	const struct iovec *iov = rsp_writable(q);
	size_t skip = RSP_REPLY, left;
	struct fuse_read_in in;

	memcpy(&in, q->args, sizeof(in));
	if (err)
		return err;
	if (in.size > rsp_room(q)) {
		rsp_complain(q->r, "READ of %u with room for %u", in.size, rsp_room(q));
		return -EINVAL;
	}
	left = in.size;
	for (uint32_t i = 0; i < q->c->nr_write && left; i++) {
		size_t n = iov[i].iov_len;
		int64_t got;

		if (skip >= n) {
			skip -= n;
			continue;
		}
		n = n - skip < left ? n - skip : left;
		got = load_fs_read(q->r->fs, q->head.nodeid, in.offset + q->data_len,
				   (char *)iov[i].iov_base + skip, n);
		if (got < 0)
			return (int)got;
		q->data_len += (uint32_t)got;
		left -= n;
		skip = 0;
		if ((size_t)got < n)
			break;
	}
	return 0;
}

int rsp_write(struct rsp_request *q)
{
	int err = load_fs_check(q->r->fs, q->head.nodeid, rsp_handle(q));
	size_t skip = RSP_HEADER + sizeof(struct fuse_write_in), left;
	struct fuse_write_out *out = rsp_answer(q, sizeof(*out));
	struct fuse_write_in in;

	memcpy(&in, q->args, sizeof(in));
	if (err)
		return err;
	if (q->c->read_bytes - skip != in.size) {
		rsp_complain(q->r, "WRITE of %u with %zu bytes of data", in.size,
			     q->c->read_bytes - skip);
		return -EINVAL;
	}
	left = in.size;
	for (uint32_t i = 0; i < q->c->nr_read && left; i++) {
		size_t n = q->c->iov[i].iov_len;
		int64_t done;

		if (skip >= n) {
			skip -= n;
			continue;
		}
		done = load_fs_write(q->r->fs, q->head.nodeid, in.offset + out->size,
				     (char *)q->c->iov[i].iov_base + skip, n - skip);
		if (done < 0)
			return out->size ? 0 : (int)done;
		out->size += (uint32_t)done;
		if ((size_t)done < n - skip)
			return 0;
		left -= n - skip;
		skip = 0;
	}
	return 0;
}

int rsp_readdir(struct rsp_request *q)
{
	int err = load_fs_check(q->r->fs, q->head.nodeid, rsp_handle(q));
	_cleanup_free_ uint8_t *data = NULL;
	struct fuse_read_in in;
	struct load_fs_attr a;
	const char *name;
	uint32_t room;
	uint64_t pos;

	memcpy(&in, q->args, sizeof(in));
	if (err)
		return err;
	room = in.size < rsp_room(q) ? in.size : rsp_room(q);
	room = room < DIR_MAX ? room : DIR_MAX;
	data = calloc(1, room + 1);
	if (!data)
		return -ENOMEM;
	for (pos = in.offset; load_fs_entry(q->r->fs, q->head.nodeid, &pos, &a, &name) > 0;) {
		struct fuse_dirent d = {
			.ino = a.ino,
			.off = ++pos,
			.namelen = (uint32_t)strlen(name),
			.type = (a.mode & S_IFMT) >> 12,
		};
		uint32_t n = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + d.namelen);

		if (n > room - q->data_len)
			break;
		memcpy(data + q->data_len, &d, FUSE_NAME_OFFSET);
		memcpy(data + q->data_len + FUSE_NAME_OFFSET, name, d.namelen);
		q->data_len += n;
	}
	rsp_scatter(data, rsp_writable(q), q->c->nr_write, RSP_REPLY, q->data_len);
	return 0;
}
