// SPDX-License-Identifier: GPL-2.0-or-later
/* Files: opened, read, written, cut, copied; flags of the guest and of the options. */
#include "fs_rig.h"

static struct fsd_fs_options defaults(void)
{
	return (struct fsd_fs_options)FSD_FS_OPTIONS_DEFAULT;
}

static mode_t mode_of(const struct rig *rig, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(rig->fd, name, &st, 0), 0);
	return st.st_mode & 07777;
}

static void fill(struct guest *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		g->sent[i] = (uint8_t)fixture_rand(&g->random);
}

static void init(struct guest *g)
{
	struct load_init i;

	load_init_linux(&i);
	assert_int_equal(CALL(g, init, on(g, 0), &i), 0);
}

static void data_goes_there_and_back(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	static uint8_t want[DATA_MAX];
	uint64_t id, fh;
	int fd;

	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR | O_EXCL, &id, &fh), 0);
	assert_int_equal(mode_of(rig, "f"), 0644);
	fill(g, DATA_MAX);
	assert_int_equal(write_at(g, fh, 0, DATA_MAX), DATA_MAX);
	assert_int_equal(g->outcome.bytes_in, DATA_MAX);
	fd = openat(rig->fd, "f", O_RDONLY);
	assert_int_equal(pread(fd, want, DATA_MAX, 0), DATA_MAX);
	close(fd);
	assert_memory_equal(want, g->sent, DATA_MAX);
	assert_int_equal(read_at(g, fh, 0, DATA_MAX), DATA_MAX);
	assert_int_equal(g->outcome.bytes_out, DATA_MAX);
	assert_memory_equal(g->got, want, DATA_MAX);
	for (int n = 0; n < 200; n++) {
		uint32_t at = (uint32_t)fixture_below(&g->random, DATA_MAX);
		uint32_t len = 1 + (uint32_t)fixture_below(&g->random, 9000);
		int got = read_at(g, fh, at, len);

		assert_int_equal(got, at + len > DATA_MAX ? DATA_MAX - at : len);
		assert_memory_equal(g->got, want + at, got);
	}
	assert_int_equal(read_at(g, fh, DATA_MAX, 4096), 0);
	assert_int_equal(read_at(g, fh, UINT64_MAX, 4096), -EINVAL);
	assert_int_equal(write_at(g, fh, 0, 0), 0);
	assert_int_equal(CALL(g, flush, on(g, id), fh, 1), 0);
	assert_int_equal(CALL(g, fsync, on(g, id), fh, true), 0);
	assert_int_equal(CALL(g, release, on(g, id), fh, 0), 0);
	assert_int_equal(CALL(g, release, on(g, id), fh, 0), -EBADF);
	assert_int_equal(read_at(g, fh, 0, 1), -EBADF);
}

static void only_files_are_opened(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint64_t fh;

	assert_int_equal(mkfifoat(rig->fd, "fifo", 0600), 0);
	/* Would wait for a writer. */
	assert_int_equal(open_node(g, node(g, FUSE_ROOT_ID, "fifo"), O_RDONLY, &fh), -EINVAL);
	assert_int_equal(CALL(g, create, on(g, FUSE_ROOT_ID), "fifo", O_WRONLY, 0644, 0), -EINVAL);
	assert_int_equal(open_node(g, FUSE_ROOT_ID, O_RDONLY, &fh), -EISDIR);
	assert_int_equal(open_node(g, 4711, O_RDONLY, &fh), -ESTALE);
}

static void create_takes_what_is_there(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint64_t id, fh;

	put_file(rig, "f", "there");
	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR, &id, &fh), 0);
	assert_int_equal(id, node(g, FUSE_ROOT_ID, "f"));
	assert_int_equal(read_at(g, fh, 0, 100), 5);
	assert_memory_equal(g->got, "there", 5);
	assert_int_equal(CALL(g, create, on(g, FUSE_ROOT_ID), "f", O_RDWR | O_EXCL, 0644, 0),
			 -EEXIST);
	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR | O_TRUNC, &id, &fh), 0);
	assert_int_equal(read_at(g, fh, 0, 100), 0);
}

/* FUSE_HANDLE_KILLPRIV_V2: the guest says whether writing takes set-user-ID away. */
static void set_user_id_goes_when_asked(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_setattr_in set = {.valid = FATTR_SIZE | FATTR_KILL_SUIDGID, .size = 1};
	struct fuse_write_in *in = (void *)(g->in + sizeof(struct fuse_in_header));
	uint64_t id, fh;

	if (geteuid())
		skip();
	init(g);
	put_file(rig, "f", "x");
	id = node(g, FUSE_ROOT_ID, "f");
	assert_int_equal(open_node(g, id, O_RDWR, &fh), 0);
	for (int kill = 0; kill < 4; kill++) {
		assert_int_equal(fchmodat(rig->fd, "f", 06755, 0), 0);
		load_build_write(&g->r, on(g, id), fh, 0, 10);
		in->write_flags = kill & 1 ? FUSE_WRITE_KILL_SUIDGID : 0;
		assert_int_equal(call(g), 0);
		assert_int_equal(mode_of(rig, "f"), kill & 1 ? 0755 : 06755);
	}
	assert_int_equal(fchmodat(rig->fd, "f", 06755, 0), 0);
	assert_int_equal(CALL(g, setattr, on(g, id), &set), 0);
	assert_int_equal(mode_of(rig, "f"), 0755);
	assert_int_equal(fchmodat(rig->fd, "f", 06755, 0), 0);
	set.valid = FATTR_SIZE;
	assert_int_equal(CALL(g, setattr, on(g, id), &set), 0);
	assert_int_equal(mode_of(rig, "f"), 06755);
	/* An owner takes it, the mode that came along gives it. */
	set = (struct fuse_setattr_in){.valid = FATTR_UID | FATTR_GID | FATTR_MODE,
				       .uid = 5,
				       .gid = 6,
				       .mode = S_IFREG | 04711};
	assert_int_equal(CALL(g, setattr, on(g, id), &set), 0);
	assert_int_equal(mode_of(rig, "f"), 04711);
}

/* The host wants alignment; the guest's memory has none here. On a disk's file system, if there is.
 */
static void direct_io_takes_any_memory(void **state)
{
	struct rig *rig = *state;
	struct fsd_fs_options o = defaults();
	struct guest *g;
	uint64_t id, fh;
	int err;

	o.allow_direct_io = true;
	rig_serve(rig, o);
	g = rig->g;
	err = create(g, FUSE_ROOT_ID, "f", O_RDWR | O_DIRECT, &id, &fh);
	if (err == -EINVAL)
		skip();
	assert_int_equal(err, 0);
	fill(g, 256 << 10);
	for (int n = 0; n < 5; n++) {
		assert_int_equal(write_at(g, fh, 0, 256 << 10), 256 << 10);
		assert_int_equal(read_at(g, fh, 4096, 128 << 10), 128 << 10);
		assert_memory_equal(g->got, g->sent + 4096, 128 << 10);
	}
}

static void ranges(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_copy_file_range_in copy = {.len = 100};
	uint64_t a, b, fa, fb, at = 0, n64 = 0;
	uint32_t n = 0;

	assert_int_equal(create(g, FUSE_ROOT_ID, "a", O_RDWR, &a, &fa), 0);
	assert_int_equal(create(g, FUSE_ROOT_ID, "b", O_RDWR, &b, &fb), 0);
	fill(g, 100);
	assert_int_equal(write_at(g, fa, 1 << 20, 100), 100);
	assert_int_equal(CALL(g, lseek, on(g, a), fa, 0, SEEK_DATA), 0);
	assert_int_equal(load_read_lseek(g->out, g->r.out_size, &at), 0);
	assert_int_equal(at, 1 << 20);
	assert_int_equal(CALL(g, lseek, on(g, a), fa, 2 << 20, SEEK_DATA), -ENXIO);
	assert_int_equal(CALL(g, lseek, on(g, a), fa, 0, SEEK_CUR), -EINVAL);
	copy.fh_in = fa;
	copy.off_in = 1 << 20;
	copy.nodeid_out = b;
	copy.fh_out = fb;
	assert_int_equal(CALL(g, copy_file_range, on(g, a), &copy, false), 0);
	assert_int_equal(load_read_count(g->out, g->r.out_size, &n), 0);
	assert_int_equal(n, 100);
	copy.off_out = 100;
	assert_int_equal(CALL(g, copy_file_range, on(g, a), &copy, true), 0);
	assert_int_equal(load_read_count64(g->out, g->r.out_size, &n64), 0);
	assert_int_equal(n64, 100);
	assert_int_equal(read_at(g, fb, 0, 4096), 200);
	assert_memory_equal(g->got, g->sent, 100);
	assert_memory_equal(g->got + 100, g->sent, 100);
	copy.flags = 1;
	assert_int_equal(CALL(g, copy_file_range, on(g, a), &copy, false), -EINVAL);
	assert_int_equal(CALL(g, fallocate, on(g, b), fb, 0, 4096, 0), 0);
	assert_int_equal(read_at(g, fb, 0, 8192), 4096);
	assert_int_equal(CALL(g, fallocate, on(g, b), fb, UINT64_MAX, 1, 0), -EINVAL);
	assert_int_equal(CALL(g, syncfs, on(g, FUSE_ROOT_ID)), 0);
}

static void read_only_changes_nothing(void **state)
{
	struct rig *rig = *state;
	struct fuse_setattr_in set = {.valid = FATTR_SIZE};
	struct fsd_fs_options o = defaults();
	struct guest *g;
	uint64_t id, fh;

	put_file(rig, "f", "text");
	o.readonly = true;
	rig_serve(rig, o);
	g = rig->g;
	id = node(g, FUSE_ROOT_ID, "f");
	assert_int_equal(open_node(g, id, O_RDWR, &fh), -EROFS);
	assert_int_equal(open_node(g, id, O_RDONLY | O_TRUNC, &fh), -EROFS);
	assert_int_equal(open_node(g, id, O_RDONLY, &fh), 0);
	assert_int_equal(read_at(g, fh, 0, 10), 4);
	assert_int_equal(write_at(g, fh, 0, 1), -EROFS);
	assert_int_equal(CALL(g, setattr, on(g, id), &set), -EROFS);
	assert_int_equal(CALL(g, unlink, on(g, FUSE_ROOT_ID), "f"), -EROFS);
	assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), "d", 0755, 0), -EROFS);
	assert_int_equal(CALL(g, access, on(g, id), W_OK), -EROFS);
	assert_int_equal(CALL(g, access, on(g, id), R_OK), 0);
}

static void writing_back_needs_reading(void **state)
{
	struct rig *rig = *state;
	struct fsd_fs_options o = defaults();
	struct guest *g;
	uint64_t fh;

	put_file(rig, "f", "0123456789");
	o.writeback = true;
	rig_serve(rig, o);
	g = rig->g;
	init(g);
	assert_int_equal(open_node(g, node(g, FUSE_ROOT_ID, "f"), O_WRONLY | O_APPEND, &fh), 0);
	assert_int_equal(read_at(g, fh, 0, 10), 10);
	g->sent[0] = 'x';
	/* Not at the end: the guest knows where it belongs. */
	assert_int_equal(write_at(g, fh, 2, 1), 1);
	assert_int_equal(read_at(g, fh, 0, 11), 10);
	assert_memory_equal(g->got, "01x3456789", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(data_goes_there_and_back),   T(only_files_are_opened),
		T(create_takes_what_is_there), T(set_user_id_goes_when_asked),
		T(direct_io_takes_any_memory), T(ranges),
		T(read_only_changes_nothing),  T(writing_back_needs_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
