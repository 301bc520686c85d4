// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any bytes are requests to the served tree, which is a small one on a tmpfs of
 * its own where there may be one, and is made anew when much was changed. Each request is in
 * allocations of exactly its size; every reply must be one that Linux takes.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vqfsd/fs_priv.h"

#define HEAD  sizeof(struct fuse_in_header)
#define REPLY sizeof(struct fuse_out_header)

static char dir[] = "/dev/shm/vqfsd-fuzz-XXXXXX";
static struct fsd_fs *fs;
static struct fsd_thread *thread;
static bool mounted;
/* Numbers that replies brought: no input could guess those of handles and nodes. */
static uint64_t nodes[4], handles[4];

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void make_tree(void)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY);

	check(at >= 0);
	close(openat(at, "file", O_RDWR | O_CREAT, 0644));
	mkdirat(at, "dir", 0755);
	(void)!symlinkat("dir/none", at, "link");
	close(openat(at, "dir/a", O_RDWR | O_CREAT, 0644));
	close(at);
}

/* What cannot be removed stays, and is tried again the next time. */
static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (ftw->level)
		(void)!remove(path);
	return 0;
}

static void remove_tree(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void clean_up(void)
{

	fsd_thread_free(thread);
	fsd_fs_free(fs);
	if (mounted)
		umount2(dir, MNT_DETACH);
	mounted = false;
	remove_tree();
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;
	char *error;

	check(mkdtemp(dir));
	/* What fills it up fills nothing else; it goes with the process. */
	mounted = !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		  !mount("fuzz", dir, "tmpfs", MS_NODEV, "size=8m,nr_inodes=2000");
	make_tree();
	o.shared_dir = dir;
	o.xattr = true;
	o.allow_direct_io = true;
	check(!fsd_fs_new(&fs, &o, &error) && !fsd_thread_new(&thread, fs));
	atexit(clean_up);
	return 0;
}

static void remember(uint32_t opcode, struct vq_cursor *at)
{
	static unsigned int next;
	struct fuse_entry_out entry;
	struct fuse_open_out open;

	switch (opcode) {
	case FUSE_LOOKUP:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_SYMLINK:
	case FUSE_CREATE:
		if (vq_cursor_read(at, &entry, sizeof(entry)) == sizeof(entry))
			nodes[next++ % 3 + 1] = entry.nodeid;
		if (opcode != FUSE_CREATE)
			return;
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		break;
	default:
		return;
	}
	if (vq_cursor_read(at, &open, sizeof(open)) == sizeof(open))
		handles[next++ % 4] = open.fh;
}

/* In and out in two pieces each, at @cut of 256. */
static void request(const uint8_t *data, size_t size, size_t room, uint8_t cut)
{
	size_t a = size * cut / 256, b = room * cut / 256;
	uint8_t *in[2] = {malloc(a + !a), malloc(size - a + (size == a))};
	uint8_t *out[2] = {malloc(b + !b), malloc(room - b + (room == b))};
	struct iovec iov[4] = {{in[0], a}, {in[1], size - a}, {out[0], b}, {out[1], room - b}};
	struct fsd_request r = {iov, 2, size, iov + 2, 2, room};
	struct fuse_out_header head = {0};
	struct fsd_outcome outcome;
	struct vq_cursor at;
	uint32_t used;

	memcpy(in[0], data, a);
	memcpy(in[1], data + a, size - a);
	used = fsd_fs_handle(fs, thread, &r, &outcome);
	check(!used || (used >= REPLY && used <= room));
	at = vq_cursor(iov + 2, 2, used);
	if (used && vq_cursor_read(&at, &head, REPLY) == REPLY)
		check(head.len == used && head.error <= 0 && head.error > -512 &&
		      (!head.error || used == REPLY));
	remember(outcome.opcode, &at);
	for (int i = 0; i < 2; i++) {
		free(in[i]);
		free(out[i]);
	}
}

/* One request of the input: opcode, room, length and numbers in 4 bytes, then the body. */
static size_t one(const uint8_t *data, size_t size)
{
	struct fuse_in_header head = {.opcode = data[0] % 56, .unique = 2};
	size_t len = data[2] * 2u < size - 4 ? data[2] * 2u : size - 4;
	size_t room = (data[1] & 15) * 24u + (data[1] & 128 ? 4096 : 0);
	uint8_t bytes[HEAD + 512];

	head.nodeid = nodes[data[3] & 3];
	head.len = (uint32_t)(HEAD + len + (data[3] == 255));
	head.uid = head.gid = data[3] >> 6;
	memcpy(bytes, &head, HEAD);
	memcpy(bytes + HEAD, data + 4, len);
	/* Most that need a handle have it first, COPY_FILE_RANGE another one later. */
	if (data[3] & 8 && len >= 8)
		memcpy(bytes + HEAD, &handles[data[3] >> 4 & 3], 8);
	if (data[3] & 4 && len >= 32)
		memcpy(bytes + HEAD + 24, &handles[data[1] >> 4 & 3], 8);
	/* SYNCFS is of the whole disk where there is no tmpfs of our own. */
	if (head.opcode != FUSE_SYNCFS || mounted)
		request(bytes, HEAD + len, room, data[1]);
	return 4 + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned int inputs;

	nodes[0] = FUSE_ROOT_ID;
	while (size > 4) {
		size_t n = one(data, size);

		data += n;
		size -= n;
	}
	request(data, size, 64, 0);
	fsd_fs_reset(fs);
	if (inputs++ % 256 == 0)
		remove_tree();
	make_tree();
	return 0;
}
