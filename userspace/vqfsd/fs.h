/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The served tree: executes FUSE requests that lie in guest memory, and writes their replies there.
 *
 * Data flows one way: whoever popped a chain describes it as a struct fsd_request, and gets back
 * the used length to push. Nothing here knows queues, rings or workers. One struct fsd_fs is shared
 * by all threads; each thread that executes brings a struct fsd_thread of its own.
 *
 * What a guest sends is hostile: it may be cut, wrong, and change while it is read. No request ends
 * the process, blocks longer than the host's file system does, or writes outside @out.
 */
#ifndef VQFSD_FS_H
#define VQFSD_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/uio.h>

struct fsd_fs;
struct fsd_thread;

/* How long the guest may believe what it was told, as --cache of virtiofsd has it. */
enum fsd_cache {
	FSD_CACHE_AUTO,  /* the default: metadata for a second, data until the file is opened again
			  */
	FSD_CACHE_NEVER, /* not at all, and files are opened with direct I/O */
	FSD_CACHE_METADATA, /* metadata as always, files with direct I/O */
	FSD_CACHE_ALWAYS,   /* a day: nobody else changes the tree */
};

/* FSD_FS_OPTIONS_DEFAULT first, then what is to differ. */
struct fsd_fs_options {
	const char *shared_dir; /* the share; NULL: root_fd is it */
	int root_fd;            /* a directory, O_PATH or not; stays the caller's. -1: none */
	enum fsd_cache cache;
	double timeout_s;        /* of entries and attributes; negative: as @cache says */
	bool writeback;          /* the guest gathers writes */
	bool xattr;              /* off: xattr calls are answered with ENOSYS */
	bool readonly;           /* what would change the tree is answered with EROFS */
	bool allow_direct_io;    /* O_DIRECT of the guest reaches the host; off: it is dropped */
	bool keep_creds;         /* whoever asks, make files as who runs the daemon */
	uint16_t max_background; /* asynchronous requests that the guest keeps in flight */
};

#define FSD_MAX_BACKGROUND 65535
#define FSD_FS_OPTIONS_DEFAULT                                                       \
	{                                                                            \
		.root_fd = -1, .timeout_s = -1, .max_background = FSD_MAX_BACKGROUND \
	}

/*
 * Opens the share. Call it before the sandbox closes: all paths are opened here (the share, and
 * /proc/self/fd, which must be that of the process that serves: fork first). Sets the process's
 * umask to 0 and ignores SIGXFSZ. 0, or -errno with *error a text to print and free.
 */
int fsd_fs_new(struct fsd_fs **fs, const struct fsd_fs_options *options, char **error);
/* NULL is allowed. No other thread may be in fsd_fs_handle(). */
void fsd_fs_free(struct fsd_fs *fs);

/*
 * What one executing thread needs: a bounce buffer, current credentials. Made and used by the same
 * thread: credentials are the thread's (and it leaves the others' working directory and umask
 * alone). -ENOMEM, or -errno of what the kernel refused.
 */
int fsd_thread_new(struct fsd_thread **thread, struct fsd_fs *fs);
/* Gives the thread its own credentials back. NULL is allowed. */
void fsd_thread_free(struct fsd_thread *thread);

/* One request as the guest described it: iovecs over its memory. */
struct fsd_request {
	const struct iovec *in; /* to be read; in_bytes is their sum */
	unsigned int nr_in;
	size_t in_bytes;
	const struct iovec *out; /* to be written; out_bytes is their sum */
	unsigned int nr_out;
	size_t out_bytes;
};

/* For the books. What could not be read of a request is 0. */
struct fsd_outcome {
	uint32_t opcode;
	int error;          /* as replied: 0, or negative */
	uint32_t bytes_in;  /* of data: WRITE, COPY_FILE_RANGE counts neither way */
	uint32_t bytes_out; /* of data: READ, READDIR, READLINK, xattrs */
	uint64_t unique;
};

/*
 * The head of a request, for who wants opcode and unique before executing it (oldest request in
 * flight). It is another read of guest memory: for display only. False: too short.
 */
bool fsd_request_peek(const struct fsd_request *request, uint32_t *opcode, uint64_t *unique);

/*
 * Executes one request and writes its reply. Returns the used length: bytes written, 0 when the
 * request wants no reply (FORGET, BATCH_FORGET, INTERRUPT without room) or had no room for one. Any
 * thread, concurrently.
 */
uint32_t fsd_fs_handle(struct fsd_fs *fs, struct fsd_thread *thread,
		       const struct fsd_request *request, struct fsd_outcome *outcome);

/*
 * The guest is gone (device reset, disconnect): drops all inodes and handles. What others execute
 * at the same time finishes on what it holds. DESTROY does the same by itself.
 */
void fsd_fs_reset(struct fsd_fs *fs);

/* As of now. */
struct fsd_fs_stats {
	uint64_t inodes, handles;
};
void fsd_fs_get_stats(const struct fsd_fs *fs, struct fsd_fs_stats *stats);

#endif
