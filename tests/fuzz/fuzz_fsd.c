// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any bytes are requests to the served tree, which is a small one on a tmpfs of
 * its own where there may be one, and is made anew when much was changed. Each request is in
 * allocations of exactly its size; every reply must be one that Linux takes.
 */
#include <fcntl.h>
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
	if (symlinkat("dir/none", at, "link"))
		;
	close(openat(at, "dir/a", O_RDWR | O_CREAT, 0644));
	close(at);
}

static void clean_up(void)
{
	char command[64];

	fsd_thread_free(thread);
	fsd_fs_free(fs);
	if (mounted)
		umount2(dir, MNT_DETACH);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	check(!system(command));
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
	struct fsd_cursor at;
	uint32_t used;

	memcpy(in[0], data, a);
	memcpy(in[1], data + a, size - a);
	used = fsd_fs_handle(fs, thread, &r, &outcome);
	check(!used || (used >= REPLY && used <= room));
	at = fsd_cursor(iov + 2, 2, used);
	if (used && fsd_cursor_read(&at, &head, REPLY) == REPLY)
		check(head.len == used && head.error <= 0 && head.error > -512 &&
		      (!head.error || used == REPLY));
	for (int i = 0; i < 2; i++) {
		free(in[i]);
		free(out[i]);
	}
}

/* Numbers that mean something are small here: the root's, the first nodes' and handles'. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[1024];

	while (size > 4) {
		struct fuse_in_header head = {.opcode = data[0] % 56, .unique = 2};
		size_t len = data[2] * 2u < size - 4 ? data[2] * 2u : size - 4;
		size_t room = (data[1] & 15) * 24u + (data[1] & 128 ? 4096 : 0);

		head.nodeid = data[3] & 7;
		head.len = (uint32_t)(HEAD + len + (data[3] == 255));
		head.uid = head.gid = data[3] >> 6;
		memcpy(bytes, &head, HEAD);
		memcpy(bytes + HEAD, data + 4, len);
		/* SYNCFS is of the whole disk where there is no tmpfs of our own. */
		if (head.opcode != FUSE_SYNCFS)
			request(bytes, HEAD + len, room, data[1]);
		data += 4 + len;
		size -= 4 + len;
	}
	request(data, size, 64, 0);
	fsd_fs_reset(fs);
	make_tree();
	return 0;
}
