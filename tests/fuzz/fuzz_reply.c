// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any reply may come to any request. The judge and the readers read no byte
 * outside the buffers (ASan watches) and agree: what the judge lets pass can be read.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/fuse_reply.h"
#include "vqload/judge.h"

#define DATA 512

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void build(struct load_req *r, uint8_t op)
{
	const struct load_head head = {.unique = 2, .nodeid = 1};
	const struct fuse_copy_file_range_in copy = {.len = 100};
	const struct fuse_file_lock lock = {0};
	const struct fuse_setattr_in setattr = {0};
	struct load_init init;

	load_init_linux(&init);
	switch (op % 18) {
	case 0:
		check(!load_build_lookup(r, &head, "x"));
		break;
	case 1:
		check(!load_build_create(r, &head, "x", 0, 0644, 0));
		break;
	case 2:
		check(!load_build_getattr(r, &head, NULL));
		break;
	case 3:
		check(!load_build_statx(r, &head, NULL, 0x7ff));
		break;
	case 4:
		check(!load_build_open(r, &head, 0));
		break;
	case 5:
		check(!load_build_read(r, &head, 1, 0, DATA));
		break;
	case 6:
		check(!load_build_write(r, &head, 1, 0, 100));
		break;
	case 7:
		check(!load_build_readdir(r, &head, 1, 0, DATA));
		break;
	case 8:
		check(!load_build_readdirplus(r, &head, 1, 0, DATA));
		break;
	case 9:
		check(!load_build_init(r, &head, &init));
		break;
	case 10:
		check(!load_build_listxattr(r, &head, DATA));
		break;
	case 11:
		check(!load_build_getxattr(r, &head, "user.x", 0));
		break;
	case 12:
		check(!load_build_copy_file_range(r, &head, &copy, op & 128));
		break;
	case 13:
		check(!load_build_getlk(r, &head, 1, 1, &lock));
		break;
	case 14:
		check(!load_build_statfs(r, &head));
		break;
	case 15:
		check(!load_build_lseek(r, &head, 1, 0, 3));
		break;
	case 16:
		check(!load_build_forget(r, &head, 1));
		break;
	default:
		check(!load_build_setattr(r, &head, &setattr));
	}
}

/* Readers over @len bytes, whatever the reply is of; what they return is one of their answers. */
static void read_all(const void *out, size_t len)
{
	_Alignas(8) uint8_t into[512];
	int (*const readers[])(const void *, size_t, void *) = {
		(void *)load_read_entry,  (void *)load_read_attr,       (void *)load_read_statx,
		(void *)load_read_open,   (void *)load_read_count,      (void *)load_read_count64,
		(void *)load_read_statfs, (void *)load_read_lseek,      (void *)load_read_init,
		(void *)load_read_lock,   (void *)load_read_xattr_size,
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		int r = readers[i](out, len, into);

		check(r <= 0 && r > -512);
	}
}

static void read_dirents(const void *data, size_t len, bool plus, bool passed)
{
	struct load_dirents it;
	struct load_dirent d;
	int r;

	load_dirents_start(&it, data, len, plus);
	while ((r = load_dirents_next(&it, &d)) > 0)
		check(strlen(d.name) == d.namelen && !strchr(d.name, '/'));
	check(!passed || r == 0 || r == -EOVERFLOW);
}

/* Input: opcode, used length (2 bytes, and whether it is to be huge), header and data. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	_cleanup_(load_judge_freep) struct load_judge *j = load_judge_new(2, 4);
	_cleanup_free_ uint8_t *out = NULL, *data = NULL;
	struct load_req r;
	uint8_t in[256];
	struct load_done d = {.queue = 1};
	struct load_verdict v;
	size_t take;

	if (size < 4 || !j)
		return 0;
	load_req_init(&r, in, sizeof(in));
	build(&r, input[0]);
	d.used = input[1] | (uint32_t)input[2] << 8 | (input[3] & 1 ? 0x80000000u : 0);
	input += 4;
	size -= 4;
	out = calloc(1, r.out_size + 1);
	data = calloc(1, r.out_data_size + 1);
	if (!out || !data)
		return 0;
	/* Exactly as large as they are asked for: ASan sees the next byte. */
	out = realloc(out, r.out_size ? r.out_size : 1);
	data = realloc(data, r.out_data_size ? r.out_data_size : 1);
	take = size < r.out_size ? size : r.out_size;
	memcpy(out, input, take);
	memcpy(data, input + take, size - take < r.out_data_size ? size - take : r.out_data_size);
	d.out = r.out_size ? out : NULL;
	d.data = r.out_data_size ? data : NULL;
	v = load_judge_reply(j, &r, &d);
	check(v.usable == load_judge_clean(j));
	check(v.data_len <= r.out_data_size);
	if (!r.out_size)
		return 0;
	take = d.used < r.out_size ? d.used : r.out_size;
	read_all(out, take);
	check(!v.usable || load_read_status(out, take) == v.error);
	for (int plus = 0; plus < 2; plus++)
		read_dirents(data, r.out_data_size, plus, false);
	if (v.usable && (r.opcode == FUSE_READDIR || r.opcode == FUSE_READDIRPLUS))
		read_dirents(data, v.data_len, r.opcode == FUSE_READDIRPLUS, true);
	return 0;
}
