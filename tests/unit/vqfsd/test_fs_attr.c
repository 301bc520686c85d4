// SPDX-License-Identifier: GPL-2.0-or-later
/* Set-up and end; attributes read and set; extended attributes. */
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "fs_rig.h"
#include "vqfsd/fs_priv.h"

static struct fsd_fs_options defaults(void)
{
	return (struct fsd_fs_options)FSD_FS_OPTIONS_DEFAULT;
}

static struct fuse_init_out init(struct guest *g, uint32_t minor)
{
	struct fuse_init_out out = {0};
	struct load_init i;

	load_init_linux(&i);
	i.minor = minor;
	assert_int_equal(CALL(g, init, on(g, 0), &i), 0);
	assert_int_equal(load_read_init(g->out, g->r.out_size, &out), 0);
	return out;
}

static void init_accepts_what_there_is(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fsd_fs_options o = defaults();
	struct fuse_init_out out = init(g, 46);
	struct load_init i;

	assert_int_equal(out.major, 7);
	assert_int_equal(out.max_write, 1 << 20);
	assert_int_equal(out.max_pages, 256);
	assert_int_equal(out.max_background, 65535);
	assert_true(out.congestion_threshold > 0 && out.congestion_threshold <= out.max_background);
	assert_true(out.flags & FUSE_PARALLEL_DIROPS && out.flags & FUSE_MAX_PAGES);
	assert_false(out.flags &
		     (FUSE_WRITEBACK_CACHE | FUSE_DONT_MASK | FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS |
		      FUSE_SUBMOUNTS | FUSE_SETXATTR_EXT | FUSE_NO_OPEN_SUPPORT | FUSE_POSIX_ACL));
	init(g, 27);
	load_init_linux(&i);
	i.minor = 26;
	assert_int_equal(CALL(g, init, on(g, 0), &i), -EPROTO);
	/* Nothing that was not offered. */
	i = (struct load_init){.minor = 38, .flags = FUSE_ASYNC_READ};
	assert_int_equal(CALL(g, init, on(g, 0), &i), 0);
	assert_int_equal(load_read_init(g->out, g->r.out_size, &out), 0);
	assert_int_equal(out.flags, FUSE_ASYNC_READ);
	assert_int_equal(out.flags2, 0);
	o.writeback = true;
	o.max_background = 5;
	o.cache = FSD_CACHE_NEVER;
	rig_serve(rig, o);
	out = init(rig->g, 46);
	assert_int_equal(out.max_background, 5);
	assert_int_equal(out.congestion_threshold, 4);
	assert_true(out.flags & FUSE_WRITEBACK_CACHE);
	assert_false(out.flags & FUSE_DO_READDIRPLUS);
}

static void destroy_drops_everything(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fsd_fs_stats s;
	uint64_t id, fh, dir;

	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR, &id, &fh), 0);
	assert_int_equal(opened(g, CALL(g, opendir, on(g, FUSE_ROOT_ID), 0), &dir), 0);
	assert_int_equal(CALL(g, destroy, on(g, 0)), 0);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 1);
	assert_int_equal(s.handles, 0);
	assert_int_equal(read_at(g, fh, 0, 1), -EBADF);
	assert_int_equal(CALL(g, getattr, on(g, id), NULL), -ESTALE);
	assert_true(node(g, FUSE_ROOT_ID, "f"));
	fsd_fs_reset(rig->fs);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 1);
}

static void attributes_are_the_file_s(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_statx_out sx;
	struct fuse_attr_out a;
	struct fuse_kstatfs fs;
	struct statvfs vfs;
	struct stat st;
	uint64_t id, fh;

	put_file(rig, "f", "12345");
	id = node(g, FUSE_ROOT_ID, "f");
	assert_int_equal(fstatat(rig->fd, "f", &st, 0), 0);
	assert_int_equal(open_node(g, id, O_RDONLY, &fh), 0);
	for (int by_handle = 0; by_handle < 2; by_handle++) {
		assert_int_equal(CALL(g, getattr, on(g, id), by_handle ? &fh : NULL), 0);
		assert_int_equal(load_read_attr(g->out, g->r.out_size, &a), 0);
		assert_int_equal(a.attr_valid, 1);
		assert_int_equal(a.attr.ino, st.st_ino);
		assert_int_equal(a.attr.size, 5);
		assert_int_equal(a.attr.mode, st.st_mode);
		assert_int_equal(a.attr.nlink, 1);
		assert_int_equal(a.attr.mtime, st.st_mtim.tv_sec);
		assert_int_equal(a.attr.mtimensec, st.st_mtim.tv_nsec);
		assert_int_equal(CALL(g, statx, on(g, id), by_handle ? &fh : NULL,
				      STATX_BASIC_STATS | STATX_BTIME),
				 0);
		assert_int_equal(load_read_statx(g->out, g->r.out_size, &sx), 0);
		assert_int_equal(sx.stat.ino, st.st_ino);
		assert_int_equal(sx.stat.mask & STATX_BASIC_STATS, STATX_BASIC_STATS);
	}
	fh += 1ULL << 32;
	assert_int_equal(CALL(g, getattr, on(g, id), &fh), -EBADF);
	assert_int_equal(CALL(g, statfs, on(g, id)), 0);
	assert_int_equal(load_read_statfs(g->out, g->r.out_size, &fs), 0);
	assert_int_equal(fstatvfs(rig->fd, &vfs), 0);
	assert_int_equal(fs.blocks, vfs.f_blocks);
	assert_int_equal(fs.namelen, vfs.f_namemax);
}

static void attributes_are_set(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_setattr_in in = {.valid = FATTR_MODE | FATTR_SIZE | FATTR_ATIME | FATTR_MTIME |
					      FATTR_CTIME,
				     .mode = S_IFREG | 0640,
				     .size = 3,
				     .atime = 1000,
				     .atimensec = 1,
				     .mtime = 2000,
				     .mtimensec = 2};
	struct stat st;
	uint64_t id, link;

	put_file(rig, "f", "12345");
	assert_int_equal(symlinkat("f", rig->fd, "l"), 0);
	id = node(g, FUSE_ROOT_ID, "f");
	link = node(g, FUSE_ROOT_ID, "l");
	assert_int_equal(CALL(g, setattr, on(g, id), &in), 0);
	assert_int_equal(fstatat(rig->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_atim.tv_sec, 1000);
	assert_int_equal(st.st_mtim.tv_nsec, 2);
	/* Of the link, not of what it points to. */
	in = (struct fuse_setattr_in){
		.valid = FATTR_MTIME | FATTR_UID, .mtime = 77, .uid = getuid()};
	assert_int_equal(CALL(g, setattr, on(g, link), &in), 0);
	assert_int_equal(fstatat(rig->fd, "l", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mtim.tv_sec, 77);
	assert_int_equal(fstatat(rig->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 2000);
	in = (struct fuse_setattr_in){.valid = FATTR_SIZE, .size = UINT64_MAX};
	assert_int_equal(CALL(g, setattr, on(g, id), &in), -EFBIG);
	assert_int_equal(CALL(g, setattr, on(g, FUSE_ROOT_ID), &in), -EISDIR);
	assert_int_equal(CALL(g, setattr, on(g, link), &in), -EINVAL);
	in = (struct fuse_setattr_in){.valid = FATTR_ATIME_NOW};
	assert_int_equal(CALL(g, setattr, on(g, id), &in), 0);
	assert_int_equal(fstatat(rig->fd, "f", &st, 0), 0);
	assert_true(st.st_atim.tv_sec > 1000);
}

static void access_goes_by_mode(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct stat st;
	uint64_t id;

	put_file(rig, "f", "");
	assert_int_equal(fchmodat(rig->fd, "f", 0640, 0), 0);
	assert_int_equal(fstatat(rig->fd, "f", &st, 0), 0);
	id = node(g, FUSE_ROOT_ID, "f");
	assert_int_equal(CALL(g, access, on(g, id), R_OK | W_OK), 0);
	assert_int_equal(CALL(g, access, on(g, id), X_OK), -EACCES);
	g->head.uid = st.st_uid + 1;
	g->head.gid = st.st_gid;
	assert_int_equal(CALL(g, access, on(g, id), R_OK), 0);
	assert_int_equal(CALL(g, access, on(g, id), W_OK), -EACCES);
	g->head.gid++;
	assert_int_equal(CALL(g, access, on(g, id), R_OK), -EACCES);
	assert_int_equal(CALL(g, access, on(g, id), F_OK), 0);
	assert_int_equal(CALL(g, access, on(g, id), 8), -EINVAL);
}

static void names_that_are_not_may_be_remembered(void **state)
{
	struct rig *rig = *state;
	struct fsd_fs_options o = defaults();
	struct fuse_entry_out e;

	o.cache = FSD_CACHE_ALWAYS;
	rig_serve(rig, o);
	assert_int_equal(
		entry_of(rig->g, CALL(rig->g, lookup, on(rig->g, FUSE_ROOT_ID), "none"), &e), 0);
	assert_int_equal(e.nodeid, 0);
	assert_int_equal(e.entry_valid, 86400);
}

static void xattrs(void **state)
{
	struct rig *rig = *state;
	struct fsd_fs_options o = defaults();
	struct guest *g = rig->g;
	uint32_t size = 0;
	uint64_t id;
	int err;

	put_file(rig, "f", "");
	assert_int_equal(CALL(g, getxattr, on(g, FUSE_ROOT_ID), "user.x", 10), -ENOSYS);
	assert_int_equal(CALL(g, setxattr, on(g, FUSE_ROOT_ID), "user.x", "v", 1, 0, false),
			 -ENOSYS);
	o.xattr = true;
	for (int old = 0; old < 2; old++) {
		rig_serve(rig, o);
		rig->fs->no_xattrat = old;
		g = rig->g;
		id = node(g, FUSE_ROOT_ID, "f");
		err = CALL(g, setxattr, on(g, id), "user.x", "value", 5, 0, false);
		if (err == -EOPNOTSUPP)
			skip();
		assert_int_equal(err, 0);
		assert_int_equal(
			CALL(g, setxattr, on(g, id), "user.x", "v", 1, XATTR_CREATE, false),
			-EEXIST);
		assert_int_equal(CALL(g, getxattr, on(g, id), "user.x", 0), 0);
		assert_int_equal(load_read_xattr_size(g->out, g->r.out_size, &size), 0);
		assert_int_equal(size, 5);
		assert_int_equal(CALL(g, getxattr, on(g, id), "user.x", 4), -ERANGE);
		assert_int_equal(CALL(g, getxattr, on(g, id), "user.x", 100), 0);
		assert_int_equal(g->verdict.data_len, 5);
		assert_memory_equal(g->got, "value", 5);
		assert_int_equal(CALL(g, listxattr, on(g, id), 0), 0);
		assert_int_equal(CALL(g, listxattr, on(g, id), 1000), 0);
		assert_non_null(memmem(g->got, g->verdict.data_len, "user.x", 7));
		assert_int_equal(CALL(g, listxattr, on(g, id), 2), -ERANGE);
		assert_int_equal(CALL(g, getxattr, on(g, id), "system.posix_acl_access", 100),
				 -EOPNOTSUPP);
		assert_int_equal(CALL(g, removexattr, on(g, id), "user.x"), 0);
		assert_int_equal(CALL(g, removexattr, on(g, id), "user.x"), -ENODATA);
		assert_int_equal(rig->fs->no_xattrat || !old, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(init_accepts_what_there_is),
		T(destroy_drops_everything),
		T(attributes_are_the_file_s),
		T(attributes_are_set),
		T(access_goes_by_mode),
		T(names_that_are_not_may_be_remembered),
		T(xattrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
