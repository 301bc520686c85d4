// SPDX-License-Identifier: GPL-2.0-or-later
/* Names: looked up, made, moved, removed; what belongs to whom; names that are none. */
#include <grp.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "fs_rig.h"

static struct stat of(const struct rig *rig, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(rig->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st;
}

static void lookups_count(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fsd_fs_stats s;
	uint64_t id, other;

	put_file(rig, "a", "x");
	id = node(g, FUSE_ROOT_ID, "a");
	assert_true(id > FUSE_ROOT_ID);
	assert_int_equal(node(g, FUSE_ROOT_ID, "a"), id);
	/* Another name of the same file is the same node. */
	assert_int_equal(linkat(rig->fd, "a", rig->fd, "b", 0), 0);
	assert_int_equal(node(g, FUSE_ROOT_ID, "b"), id);
	forget(g, id, 2);
	assert_int_equal(CALL(g, getattr, on(g, id), NULL), 0);
	forget(g, id, 100);
	assert_int_equal(CALL(g, getattr, on(g, id), NULL), -ESTALE);
	/* Its slot is used again, its number is not. */
	other = node(g, FUSE_ROOT_ID, "b");
	assert_int_equal((uint32_t)other, (uint32_t)id);
	assert_int_not_equal(other, id);
	forget(g, FUSE_ROOT_ID, UINT64_MAX);
	assert_int_equal(CALL(g, getattr, on(g, FUSE_ROOT_ID), NULL), 0);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 2);
	assert_int_equal(node(g, FUSE_ROOT_ID, "none"), 0);
	assert_int_equal(g->verdict.error, -ENOENT);
}

static void forgets_come_in_batches(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_forget_one ones[3];
	struct fsd_fs_stats s;

	put_file(rig, "a", "");
	put_file(rig, "b", "");
	ones[0] = (struct fuse_forget_one){.nodeid = node(g, FUSE_ROOT_ID, "a"), .nlookup = 1};
	ones[1] = (struct fuse_forget_one){.nodeid = 12345, .nlookup = 1};
	ones[2] = (struct fuse_forget_one){.nodeid = node(g, FUSE_ROOT_ID, "b"), .nlookup = 1};
	assert_int_equal(CALL(g, batch_forget, on(g, 0), ones, 3), 0);
	fsd_fs_get_stats(rig->fs, &s);
	assert_int_equal(s.inodes, 1);
}

static void names_stay_in_their_directory(void **state)
{
	static const char *const bad[] = {".", "..", "a/b", "/", "/etc", "../x"};
	struct rig *rig = *state;
	struct guest *g = rig->g;
	char lengthy[300];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(CALL(g, lookup, on(g, FUSE_ROOT_ID), bad[i]), -EINVAL);
		assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), bad[i], 0755, 0), -EINVAL);
		assert_int_equal(CALL(g, unlink, on(g, FUSE_ROOT_ID), bad[i]), -EINVAL);
		assert_int_equal(
			CALL(g, rename2, on(g, FUSE_ROOT_ID), "x", FUSE_ROOT_ID, bad[i], 0),
			-EINVAL);
		assert_int_equal(CALL(g, create, on(g, FUSE_ROOT_ID), bad[i], O_RDWR, 0644, 0),
				 -EINVAL);
	}
	memset(lengthy, 'n', sizeof(lengthy));
	lengthy[256] = 0;
	assert_int_equal(CALL(g, lookup, on(g, FUSE_ROOT_ID), lengthy), -ENAMETOOLONG);
	lengthy[255] = 0;
	assert_int_equal(CALL(g, lookup, on(g, FUSE_ROOT_ID), lengthy), -ENOENT);
	assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), lengthy, 0755, 0), 0);
	put_file(rig, "file", "");
	assert_int_equal(CALL(g, lookup, on(g, node(g, FUSE_ROOT_ID, "file")), "x"), -ENOTDIR);
}

/* A link to outside is a link to the guest, whatever is asked of it. */
static void links_are_not_followed(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint64_t id, fh;

	assert_int_equal(symlinkat("/etc", rig->fd, "out"), 0);
	id = node(g, FUSE_ROOT_ID, "out");
	assert_true(id);
	assert_int_equal(CALL(g, lookup, on(g, id), "passwd"), -ENOTDIR);
	assert_int_equal(CALL(g, opendir, on(g, id), 0), -ENOTDIR);
	assert_int_equal(open_node(g, id, O_RDONLY, &fh), -EINVAL);
	assert_int_equal(CALL(g, create, on(g, FUSE_ROOT_ID), "out", O_RDWR, 0644, 0), -EINVAL);
	assert_int_equal(CALL(g, readlink, on(g, id), 4095), 0);
	assert_int_equal(g->verdict.data_len, 4);
	assert_memory_equal(g->got, "/etc", 4);
	assert_int_equal(CALL(g, readlink, on(g, id), 3), -ENAMETOOLONG);
	assert_int_equal(CALL(g, readlink, on(g, FUSE_ROOT_ID), 4095), -EINVAL);
}

static void everything_is_made(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_entry_out e;
	uint64_t dir, file;

	umask(077);
	rig_serve(rig, (struct fsd_fs_options)FSD_FS_OPTIONS_DEFAULT);
	g = rig->g;
	assert_int_equal(entry_of(g, CALL(g, mkdir, on(g, FUSE_ROOT_ID), "d", 0751, 022), &e), 0);
	dir = e.nodeid;
	assert_int_equal(of(rig, "d").st_mode, S_IFDIR | 0751);
	assert_int_equal(CALL(g, mknod, on(g, dir), "f", S_IFREG | 0664, 0, 0), 0);
	assert_int_equal(of(rig, "d/f").st_mode, S_IFREG | 0664);
	file = node(g, dir, "f");
	assert_int_equal(CALL(g, mknod, on(g, dir), "p", S_IFIFO | 0600, 0, 0), 0);
	assert_int_equal(of(rig, "d/p").st_mode, S_IFIFO | 0600);
	/* 0x12345 of minor, as Linux writes it on the wire. */
	assert_int_equal(CALL(g, mknod, on(g, dir), "c", S_IFCHR | 0600, 0x12300145, 0), 0);
	assert_int_equal(of(rig, "d/c").st_rdev, makedev(1, 0x12345));
	assert_int_equal(entry_of(g, CALL(g, lookup, on(g, dir), "c"), &e), 0);
	assert_int_equal(e.attr.rdev, 0x12300145);
	assert_int_equal(CALL(g, mknod, on(g, dir), "x", S_IFDIR | 0600, 0, 0), -EPERM);
	assert_int_equal(CALL(g, symlink, on(g, dir), "l", "../some/where"), 0);
	assert_int_equal(CALL(g, link, on(g, dir), file, "g"), 0);
	assert_int_equal(of(rig, "d/g").st_nlink, 2);
	assert_int_equal(CALL(g, link, on(g, FUSE_ROOT_ID), node(g, dir, "l"), "l2"), 0);
	assert_true(S_ISLNK(of(rig, "l2").st_mode));
	assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), "d", 0755, 0), -EEXIST);
	assert_int_equal(CALL(g, rmdir, on(g, FUSE_ROOT_ID), "d"), -ENOTEMPTY);
	assert_int_equal(CALL(g, unlink, on(g, dir), "f"), 0);
	assert_int_equal(CALL(g, unlink, on(g, dir), "f"), -ENOENT);
	assert_int_equal(CALL(g, unlink, on(g, FUSE_ROOT_ID), "d"), -EISDIR);
	/* The node lives on under its other name. */
	assert_int_equal(CALL(g, getattr, on(g, file), NULL), 0);
}

static void names_move(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint64_t dir, file;

	put_file(rig, "a", "1");
	put_file(rig, "b", "22");
	assert_int_equal(mkdirat(rig->fd, "d", 0755), 0);
	dir = node(g, FUSE_ROOT_ID, "d");
	file = node(g, FUSE_ROOT_ID, "a");
	assert_int_equal(CALL(g, rename2, on(g, FUSE_ROOT_ID), "a", dir, "c", 0), 0);
	assert_int_equal(node(g, dir, "c"), file);
	assert_int_equal(CALL(g, rename2, on(g, FUSE_ROOT_ID), "b", dir, "c", RENAME_NOREPLACE),
			 -EEXIST);
	assert_int_equal(CALL(g, rename2, on(g, FUSE_ROOT_ID), "b", dir, "c", RENAME_EXCHANGE), 0);
	assert_int_equal(of(rig, "b").st_size, 1);
	assert_int_equal(of(rig, "d/c").st_size, 2);
	assert_int_equal(CALL(g, rename2, on(g, FUSE_ROOT_ID), "b", dir, "c", 1u << 20), -EINVAL);
	assert_int_equal(CALL(g, rename2, on(g, FUSE_ROOT_ID), "none", dir, "c", 0), -ENOENT);
}

/* --- who ---------------------------------------------------------------------------------------*/

static void what_is_made_belongs_to_who_asked(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint64_t id, fh;

	if (geteuid())
		skip();
	/* 0700 of root: the guest has checked, and let them. */
	assert_int_equal(fchmod(rig->fd, 0700), 0);
	g->head.uid = 1234;
	g->head.gid = 4321;
	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR, &id, &fh), 0);
	assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), "d", 0755, 0), 0);
	assert_int_equal(CALL(g, symlink, on(g, FUSE_ROOT_ID), "l", "x"), 0);
	assert_int_equal(CALL(g, mknod, on(g, FUSE_ROOT_ID), "c", S_IFCHR | 0600, 0x103, 0), 0);
	for (size_t i = 0; i < 4; i++) {
		struct stat st = of(rig, (const char *[]){"f", "d", "l", "c"}[i]);

		assert_int_equal(st.st_uid, 1234);
		assert_int_equal(st.st_gid, 4321);
	}
	assert_int_equal(geteuid(), 0);
	assert_int_equal(getegid(), 0);
	g->head.uid = g->head.gid = 0;
	assert_int_equal(CALL(g, mkdir, on(g, FUSE_ROOT_ID), "r", 0755, 0), 0);
	assert_int_equal(of(rig, "r").st_uid, 0);
	/* (uid_t)-1 is nobody's. */
	g->head.uid = UINT32_MAX;
	assert_int_equal(fchmod(rig->fd, 0777), 0);
	CALL(g, mkdir, on(g, FUSE_ROOT_ID), "m", 0755, 0);
	assert_int_equal(geteuid(), 0);
}

static void owners_may_be_the_daemon(void **state)
{
	struct rig *rig = *state;
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;

	o.keep_creds = true;
	rig_serve(rig, o);
	rig->g->head.uid = rig->g->head.gid = 1234;
	assert_int_equal(CALL(rig->g, mkdir, on(rig->g, FUSE_ROOT_ID), "d", 0755, 0), 0);
	assert_int_equal(of(rig, "d").st_uid, geteuid());
}

/* Groups as Linux sends them after the name, of a directory with the set-group-ID bit. */
static void further_groups_count(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct {
		struct fuse_ext_header head;
		uint32_t nr, group;
	} ext = {{sizeof(ext), FUSE_EXT_GROUPS}, 1, 777};
	struct fuse_in_header *head = (void *)g->in;

	if (geteuid())
		skip();
	assert_int_equal(fchown(rig->fd, 0, 777), 0);
	assert_int_equal(fchmod(rig->fd, 02777), 0);
	g->head.uid = 1000;
	g->head.gid = 1000;
	for (int with = 0; with < 2; with++) {
		const char *name = with ? "with" : "none";

		load_build_mknod(&g->r, on(g, FUSE_ROOT_ID), name, S_IFREG | 02770, 0, 0);
		if (with) {
			memcpy(g->in + g->r.in_size, &ext, sizeof(ext));
			g->r.in_size += sizeof(ext);
			head->total_extlen = sizeof(ext) / 8;
			head->len = g->r.in_size;
		}
		assert_int_equal(call(g), 0);
		assert_int_equal(of(rig, name).st_gid, 777);
		/* Only a member may have it. */
		assert_int_equal(!(of(rig, name).st_mode & S_ISGID), !with);
		assert_int_equal(getgroups(0, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(lookups_count),
		T(forgets_come_in_batches),
		T(names_stay_in_their_directory),
		T(links_are_not_followed),
		T(everything_is_made),
		T(names_move),
		T(what_is_made_belongs_to_who_asked),
		T(owners_may_be_the_daemon),
		T(further_groups_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
