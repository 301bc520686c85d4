// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <linux/fuse.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "vqfsd/lock.h"

/* Linux 5.1; not in old headers. */
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static int make_region(struct fsd_stats *s)
{
	_cleanup_close_ int fd = memfd_create("vqfsd-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)s->bytes))
		return -errno;
	s->header = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->header == MAP_FAILED) {
		s->header = NULL;
		return -errno;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return -errno;
	s->fd = TAKE_FD(fd);
	return 0;
}

int fsd_stats_new(struct fsd_stats *s, uint32_t nr_queues, const char *tag)
{
	size_t queues = (sizeof(struct vqs_fsd_header) + 127) & ~(size_t)127;
	size_t threads = queues + nr_queues * sizeof(struct vqs_fsd_queue);
	int err;

	*s = (struct fsd_stats){.fd = -1};
	s->bytes = threads + FSD_THREADS_MAX * sizeof(struct vqs_fsd_thread);
	err = make_region(s);
	if (err) {
		fsd_stats_free(s);
		return err;
	}
	s->queue = (void *)((char *)s->header + queues);
	s->thread = (void *)((char *)s->header + threads);
	*s->header = (struct vqs_fsd_header){
		.magic = VQS_FSD_MAGIC,
		.version = VQS_FSD_VERSION,
		.header_bytes = sizeof(struct vqs_fsd_header),
		.queue_bytes = sizeof(struct vqs_fsd_queue),
		.thread_bytes = sizeof(struct vqs_fsd_thread),
		.total_bytes = s->bytes,
		.queues_offset = queues,
		.threads_offset = threads,
		.nr_queues = nr_queues,
		.nr_threads = FSD_THREADS_MAX,
		.pid = getpid(),
		.started_ns = vqs_now_ns(CLOCK_MONOTONIC),
	};
	strncpy(s->header->tag, tag, VQS_FSD_TAG_BYTES - 1);
	for (uint32_t i = 0; i < nr_queues; i++)
		s->queue[i].index = i;
	return 0;
}

void fsd_stats_free(struct fsd_stats *s)
{
	if (!s->bytes)
		return;
	if (s->header)
		munmap(s->header, s->bytes);
	vqs_closep(&s->fd);
	*s = (struct fsd_stats){.fd = -1};
}

uint64_t fsd_stats_oldest(const struct fsd_stats *s, uint32_t queue, uint32_t *opcode)
{
	uint64_t oldest = 0;

	for (uint32_t i = 0; i < FSD_THREADS_MAX; i++) {
		const struct vqs_fsd_thread *t = &s->thread[i];
		uint64_t began = __atomic_load_n(&t->current_ns, __ATOMIC_ACQUIRE);
		uint32_t q = fsd_get32(&t->current_queue), op = fsd_get32(&t->current_opcode);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!began || q != queue || fsd_get(&t->current_ns) != began ||
		    (oldest && began >= oldest))
			continue;
		oldest = began;
		*opcode = op;
	}
	return oldest;
}

const char *fsd_opcode_name(uint32_t opcode)
{
	static const char *const names[] = {
		[FUSE_LOOKUP] = "LOOKUP",
		[FUSE_FORGET] = "FORGET",
		[FUSE_GETATTR] = "GETATTR",
		[FUSE_SETATTR] = "SETATTR",
		[FUSE_READLINK] = "READLINK",
		[FUSE_SYMLINK] = "SYMLINK",
		[FUSE_MKNOD] = "MKNOD",
		[FUSE_MKDIR] = "MKDIR",
		[FUSE_UNLINK] = "UNLINK",
		[FUSE_RMDIR] = "RMDIR",
		[FUSE_RENAME] = "RENAME",
		[FUSE_LINK] = "LINK",
		[FUSE_OPEN] = "OPEN",
		[FUSE_READ] = "READ",
		[FUSE_WRITE] = "WRITE",
		[FUSE_STATFS] = "STATFS",
		[FUSE_RELEASE] = "RELEASE",
		[FUSE_FSYNC] = "FSYNC",
		[FUSE_SETXATTR] = "SETXATTR",
		[FUSE_GETXATTR] = "GETXATTR",
		[FUSE_LISTXATTR] = "LISTXATTR",
		[FUSE_REMOVEXATTR] = "REMOVEXATTR",
		[FUSE_FLUSH] = "FLUSH",
		[FUSE_INIT] = "INIT",
		[FUSE_OPENDIR] = "OPENDIR",
		[FUSE_READDIR] = "READDIR",
		[FUSE_RELEASEDIR] = "RELEASEDIR",
		[FUSE_FSYNCDIR] = "FSYNCDIR",
		[FUSE_GETLK] = "GETLK",
		[FUSE_SETLK] = "SETLK",
		[FUSE_SETLKW] = "SETLKW",
		[FUSE_ACCESS] = "ACCESS",
		[FUSE_CREATE] = "CREATE",
		[FUSE_INTERRUPT] = "INTERRUPT",
		[FUSE_BMAP] = "BMAP",
		[FUSE_DESTROY] = "DESTROY",
		[FUSE_IOCTL] = "IOCTL",
		[FUSE_POLL] = "POLL",
		[FUSE_NOTIFY_REPLY] = "NOTIFY_REPLY",
		[FUSE_BATCH_FORGET] = "BATCH_FORGET",
		[FUSE_FALLOCATE] = "FALLOCATE",
		[FUSE_READDIRPLUS] = "READDIRPLUS",
		[FUSE_RENAME2] = "RENAME2",
		[FUSE_LSEEK] = "LSEEK",
		[FUSE_COPY_FILE_RANGE] = "COPY_FILE_RANGE",
		[FUSE_SETUPMAPPING] = "SETUPMAPPING",
		[FUSE_REMOVEMAPPING] = "REMOVEMAPPING",
		[50] = "SYNCFS", /* Linux 5.14 */
		[51] = "TMPFILE",
		[52] = "STATX",
	};

	return opcode < ARRAY_SIZE(names) ? names[opcode] : NULL;
}
