// SPDX-License-Identifier: GPL-2.0-or-later
/* The served tree: made, emptied, freed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "vqfsd/fs_priv.h"

#define DAY_S       86400.0
#define TIMEOUT_MAX 1e9 /* seconds; what is longer than a life */

static const double timeouts[] = {
	[FSD_CACHE_AUTO] = 1,
	[FSD_CACHE_NEVER] = 0,
	[FSD_CACHE_METADATA] = DAY_S,
	[FSD_CACHE_ALWAYS] = DAY_S,
};

__attribute__((format(printf, 3, 4))) static int fail(char **error, int err, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return err;
}

static int open_dirs(struct fsd_fs *fs, char **error)
{
	const struct fsd_fs_options *o = &fs->options;
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

	fs->root_fd = o->shared_dir ? open(o->shared_dir, flags) : openat(o->root_fd, ".", flags);
	if (fs->root_fd < 0)
		return fail(error, -errno,
			    "cannot open the share %s: %s; name a directory that exists",
			    o->shared_dir ? o->shared_dir : "by its descriptor", strerror(errno));
	fs->proc_fd = open("/proc/self/fd", flags);
	if (fs->proc_fd < 0)
		return fail(error, -errno, "cannot open /proc/self/fd: %s; mount proc there",
			    strerror(errno));
	return 0;
}

static int add_root(struct fsd_fs *fs, char **error)
{
	struct fuse_entry_out entry;
	int err = fsd_entry_of(fs, fs->root_fd, &entry);

	if (err)
		return fail(error, err, "cannot look at the share: %s", strerror(-err));
	return 0;
}

static void set_timeout(struct fsd_fs *fs)
{
	double s = fs->options.timeout_s;

	if (!(s >= 0))
		s = timeouts[fs->options.cache];
	if (s > TIMEOUT_MAX)
		s = TIMEOUT_MAX;
	fs->timeout_s = (uint64_t)s;
	fs->timeout_ns = (uint32_t)((s - (double)fs->timeout_s) * 1e9);
}

int fsd_fs_new(struct fsd_fs **out, const struct fsd_fs_options *options, char **error)
{
	struct fsd_fs *fs = calloc(1, sizeof(*fs));
	int err;

	*out = NULL;
	*error = NULL;
	if (!fs)
		return fail(error, -ENOMEM, "no memory for the share");
	fs->options = *options;
	fs->root_fd = fs->proc_fd = -1;
	set_timeout(fs);
	err = open_dirs(fs, error);
	if (!err && (fsd_inodes_init(&fs->inodes) || fsd_handles_init(&fs->handles)))
		err = fail(error, -ENOMEM, "no memory for the share's tables");
	if (!err)
		err = add_root(fs, error);
	/* Modes come with the guest's umask applied. A file that passes RLIMIT_FSIZE is an EFBIG.
	 */
	umask(0);
	signal(SIGXFSZ, SIG_IGN);
	/* The name is the caller's, and said all it had to. */
	fs->options.shared_dir = NULL;
	if (err) {
		fsd_fs_free(fs);
		return err;
	}
	*out = fs;
	return 0;
}

void fsd_fs_free(struct fsd_fs *fs)
{
	if (!fs)
		return;
	fsd_handles_free(&fs->handles);
	fsd_inodes_free(&fs->inodes);
	vqs_closep(&fs->root_fd);
	vqs_closep(&fs->proc_fd);
	free(fs);
}

void fsd_fs_reset(struct fsd_fs *fs)
{
	fsd_handles_close_all(&fs->handles);
	fsd_inodes_forget_all(&fs->inodes);
	atomic_store(&fs->negotiated, 0);
}

void fsd_fs_get_stats(const struct fsd_fs *fs, struct fsd_fs_stats *stats)
{
	stats->inodes = atomic_load_explicit(&fs->inodes.slots.live, memory_order_relaxed);
	stats->handles = atomic_load_explicit(&fs->handles.slots.live, memory_order_relaxed);
}

int fsd_thread_new(struct fsd_thread **out, struct fsd_fs *fs)
{
	struct fsd_thread *t = malloc(sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->fs = fs;
	t->bounce = NULL;
	err = fsd_creds_init(&t->creds);
	if (err) {
		free(t);
		return err;
	}
	t->creds.keep = fs->options.keep_creds;
	*out = t;
	return 0;
}

void fsd_thread_free(struct fsd_thread *t)
{
	if (!t)
		return;
	fsd_creds_restore(&t->creds);
	if (t->bounce)
		munmap(t->bounce, FSD_IO_MAX);
	free(t);
}
