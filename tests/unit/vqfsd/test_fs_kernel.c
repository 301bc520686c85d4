// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The served tree under this machine's own Linux: its FUSE client takes the part of the guest, by
 * /dev/fuse instead of a ring. Programs that know nothing of it work on the mount. Skipped where
 * mounting is not allowed.
 */
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "fs_rig.h"

#define SERVERS 3
#define BUFFER  (DATA_MAX + 65536)

struct mount_rig {
	struct rig *rig;
	char at[64];
	int dev;
	pthread_t server[SERVERS];
};

/* Reads requests and writes replies until the mount is gone. */
static void *serve(void *arg)
{
	struct mount_rig *m = arg;
	char *in = malloc(BUFFER), *out = malloc(BUFFER);
	struct fsd_thread *thread;

	must(in && out && !fsd_thread_new(&thread, m->rig->fs));
	for (;;) {
		struct iovec iov[2] = {{in, BUFFER}, {out, BUFFER}};
		struct fsd_request r = {iov, 1, 0, iov + 1, 1, BUFFER};
		struct fsd_outcome outcome;
		ssize_t n = read(m->dev, in, BUFFER);
		uint32_t len;

		if (n < 0 && errno == ENODEV)
			break;
		if (n < 0)
			continue; /* EINTR, or ENOENT: interrupted while it was being read */
		iov[0].iov_len = r.in_bytes = (size_t)n;
		len = fsd_fs_handle(m->rig->fs, thread, &r, &outcome);
		/* ENOENT: nobody waits any longer. */
		if (len && write(m->dev, out, len) < 0)
			must(errno == ENOENT || errno == ENODEV);
	}
	fsd_thread_free(thread);
	free(in);
	free(out);
	return NULL;
}

static bool mount_it(struct mount_rig *m, struct rig *rig)
{
	char options[128];

	m->rig = rig;
	snprintf(m->at, sizeof(m->at), "/tmp/vqfsd-mount-XXXXXX");
	m->dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	must(mkdtemp(m->at));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions",
		 m->dev);
	if (m->dev < 0 || mount("vqfsd", m->at, "fuse.vqfsd", 0, options)) {
		rmdir(m->at);
		return false;
	}
	for (int i = 0; i < SERVERS; i++)
		must(!pthread_create(&m->server[i], NULL, serve, m));
	return true;
}

static void unmount_it(struct mount_rig *m)
{
	must(!umount2(m->at, 0));
	for (int i = 0; i < SERVERS; i++)
		pthread_join(m->server[i], NULL);
	close(m->dev);
	rmdir(m->at);
}

/*
 * Whoever uses the mount is another process without the device: one that serves itself waits for
 * itself when it faults on a mapping, and when it is killed with a file open. 0 or what it exits
 * with.
 */
static int as_client(struct mount_rig *m, int (*work)(const char *, const char *), const char *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		close(m->dev);
		_exit(chdir(m->at) ? 99 : work(arg, m->rig->dir));
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static int run_shell(const char *script, const char *behind)
{
	execl("/bin/sh", "sh", "-euc", script, "sh", behind, NULL);
	return 98;
}

/* A script in the mount; $1 is the directory behind it. */
static int shell(struct mount_rig *m, const char *script)
{
	return as_client(m, run_shell, script);
}

static const char *const scripts[] = {
	/* Trees, links, modes, times. */
	"mkdir -p a/b/c; echo hello > a/b/c/f; ln -s b a/l; ln a/b/c/f a/hard; chmod 751 a/b;"
	"touch -d @1000000 a/hard; [ $(stat -c %h a/b/c/f) = 2 ]; [ $(stat -c %a a/b) = 751 ];"
	"[ $(cat a/l/c/f) = hello ]; [ $(stat -c %Y $1/a/b/c/f) = 1000000 ]; diff -r a $1/a;"
	"mv a/b d; rm -r a d; [ -z \"$(ls -A $1)\" ]",
	/* Data: appended, cut, sparse, copied. */
	"head -c 5000000 /dev/urandom > x; cp x y; cmp x y; cmp x $1/y; cat x >> y;"
	"[ $(stat -c %s y) = 10000000 ]; truncate -s 12345 y; head -c 12345 x | cmp - y;"
	"truncate -s 1G s; [ $(stat -c %b s) = 0 ]; fallocate -l 100000 z;"
	"dd if=x of=y bs=7777 seek=3 conv=notrunc 2> /dev/null;"
	"tail -c +23332 y | head -c 1000000 > z; head -c 1000000 x | cmp - z; rm x y z s",
	/* Archives: thousands of files, removed again. */
	"mkdir t; i=0; while [ $i -lt 1500 ]; do echo $i > t/file-$i; i=$((i+1)); done;"
	"[ $(ls t | wc -l) = 1500 ]; tar cf t.tar t; mkdir u; tar xf t.tar -C u; diff -r t u/t;"
	"find u -type f -name '*7' -delete; [ $(find u -type f | wc -l) = 1350 ]; rm -rf t u t.tar",
	/* What is open lives on without a name. */
	"exec 3<> f; echo data >&3; rm f; [ \"$(cat /proc/self/fd/3)\" = data ]; exec 3>&-",
	/* Changes behind the guest's back are seen when the second is over. */
	"echo 1 > f; cat f > /dev/null; echo 22 > $1/f; sleep 1.1; [ $(cat f) = 22 ]; rm $1/f;"
	"sleep 1.1; ! cat f 2> /dev/null",
};

static void run_scripts(void **state, size_t nr)
{
	struct mount_rig m = {0};
	int status = 0;

	if (!mount_it(&m, *state))
		skip();
	for (size_t i = 0; i < nr && !status; i++) {
		status = shell(&m, scripts[i]);
		if (status)
			fprintf(stderr, "script %zu failed: %d\n", i, status);
	}
	unmount_it(&m);
	assert_int_equal(status, 0);
}

static void programs_work(void **state)
{
	run_scripts(state, ARRAY_SIZE(scripts));
}

/* All but what needs that others may write too. */
static void programs_work_alone(void **state)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;

	o.cache = FSD_CACHE_ALWAYS;
	o.writeback = o.xattr = o.allow_direct_io = true;
	rig_serve(*state, o);
	run_scripts(state, ARRAY_SIZE(scripts) - 1);
}

static void programs_work_without_cache(void **state)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;

	o.cache = FSD_CACHE_NEVER;
	rig_serve(*state, o);
	run_scripts(state, ARRAY_SIZE(scripts));
}

/* A shared mapping of a file, which gets a mode; the line where it went wrong. */
#define LINE_UNLESS(x)                   \
	do {                             \
		if (!(x))                \
			return __LINE__; \
	} while (0)

static int map_it(const char *name, const char *behind)
{
	int fd = open(name, O_RDWR | O_CREAT, 0666);
	char *at, byte = 0;

	LINE_UNLESS(fd >= 0 && !ftruncate(fd, 8192));
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	LINE_UNLESS(at != MAP_FAILED);
	memset(at, 'm', 8192);
	LINE_UNLESS(!msync(at, 8192, MS_SYNC) && !munmap(at, 8192));
	LINE_UNLESS(pread(fd, &byte, 1, 8191) == 1 && byte == 'm');
	LINE_UNLESS(!fchmod(fd, 06777) && !chmod(".", 0777));
	return 0;
}

/* Bits that writing takes away from who may not keep them; owners, and others. */
static const char *const rights =
	"as() { setpriv --reuid $1 --regid $1 --clear-groups sh -c \"$2\"; };"
	"as 1000 'echo x >> f; mkdir mine; echo y > mine/f';"
	"[ $(stat -c %a $1/f) = 777 ]; [ $(stat -c %u $1/mine/f) = 1000 ]; chmod 700 $1/mine;"
	"sleep 1.1; as 1000 'cat mine/f' > /dev/null; ! as 1001 'cat mine/f' 2> /dev/null";

static void mappings_and_rights(void **state)
{
	struct mount_rig m = {0};
	int mapped, right = 0;

	if (!mount_it(&m, *state))
		skip();
	mapped = as_client(&m, map_it, "f");
	if (!geteuid())
		right = shell(&m, rights);
	unmount_it(&m);
	assert_int_equal(mapped, 0);
	assert_int_equal(right, 0);
}

/* The end of a file is in the middle of a block, and the only handle is one with O_DIRECT. */
static void mapping_of_direct_io(void **state)
{
	struct fsd_fs_options o = FSD_FS_OPTIONS_DEFAULT;
	char path[128], got[5000] = {0}, *at;
	struct mount_rig m = {0};
	int fd, behind, synced;

	o.allow_direct_io = true;
	rig_serve(*state, o);
	if (!mount_it(&m, *state))
		skip();
	snprintf(path, sizeof(path), "%s/f", m.at);
	fd = open(path, O_RDWR | O_CREAT | O_DIRECT, 0666);
	assert_int_equal(ftruncate(fd, sizeof(got)), 0);
	at = mmap(NULL, sizeof(got), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	memset(at, 'm', sizeof(got));
	synced = msync(at, sizeof(got), MS_SYNC);
	munmap(at, sizeof(got));
	close(fd);
	unmount_it(&m); /* before anything fails: it would wait for pages that cannot be written */
	behind = openat(m.rig->fd, "f", O_RDONLY);
	assert_int_equal(synced, 0);
	assert_int_equal(read(behind, got, sizeof(got)), sizeof(got));
	assert_int_equal(got[sizeof(got) - 1], 'm');
	close(behind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(programs_work),       T(programs_work_alone),  T(programs_work_without_cache),
		T(mappings_and_rights), T(mapping_of_direct_io),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
