// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of open files and their data. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/stat.h>

#include "vqload/conform_priv.h"

#define SIZE 10000u

/* A file of SIZE bytes, byte i is i % 251. */
static bool make(struct conform *k, const char *name, uint64_t *node, uint64_t *fh)
{
	uint8_t data[SIZE];

	for (uint32_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i % 251);
	return conform_make(k, name, data, SIZE, node, fh);
}

/* Whether [from, to) of the file is as made, or zeros. */
static bool is_not(struct conform *k, uint64_t node, uint64_t fh, uint32_t from, uint32_t to,
		   bool zeros, const char *what)
{
	uint8_t data[2 * SIZE];
	uint32_t done;

	if (conform_not(k, load_do_read(k->s, node, fh, from, data, to - from, &done), 0, what) ||
	    conform_differs(k, done, to - from, "bytes read"))
		return true;
	for (uint32_t i = 0; i < done; i++)
		if (data[i] != (zeros ? 0 : (from + i) % 251))
			return conform_differs(k, data[i], zeros ? 0 : (from + i) % 251, what);
	return false;
}

static void check_open(struct conform *k)
{
	uint64_t node, fh, other;

	if (make(k, "f", &node, &fh) ||
	    conform_not(k, load_do_open(k->s, node, O_RDONLY, &other), 0, "for reading") ||
	    is_not(k, node, other, 0, 100, false, "reading it") ||
	    conform_not(k, load_do_release(k->s, node, other, O_RDONLY), 0, "closing it") ||
	    conform_not(k, load_do_open(k->s, node, O_RDWR, &other), 0, "for both") ||
	    conform_not(k, load_do_release(k->s, node, other, O_RDWR), 0, "closing it"))
		return;
	conform_close(k, node, fh);
}

static void check_create(struct conform *k)
{
	struct fuse_entry_out e;
	uint64_t fh, other;

	if (conform_not(k, load_do_create(k->s, k->dir, "f", O_EXCL, 0640, &e, &fh), 0,
			"a new file") ||
	    conform_differs(k, e.attr.mode, S_IFREG | 0640, "mode") ||
	    conform_differs(k, e.attr.size, 0, "size") || conform_close(k, e.nodeid, fh) ||
	    conform_not(k, load_do_create(k->s, k->dir, "f", O_EXCL, 0640, &e, &other), -EEXIST,
			"O_EXCL of one that is there"))
		return;
	conform_not(k,
		    load_do_create(k->s, k->dir, "no\xc3\xa4me with blanks", O_EXCL, 0640, &e, &fh),
		    0, "a name with blanks and letters");
	load_do_release(k->s, e.nodeid, fh, O_RDWR);
}

static void check_release(struct conform *k)
{
	uint64_t node, fh;

	if (make(k, "f", &node, &fh) ||
	    conform_not(k, load_do_unlink(k->s, k->dir, "f"), 0, "removing an open file") ||
	    is_not(k, node, fh, 0, SIZE, false, "reading a file that is removed"))
		return;
	conform_close(k, node, fh);
}

static void check_read(struct conform *k)
{
	uint8_t data[2 * SIZE];
	uint64_t node, fh;
	uint32_t done;

	if (make(k, "f", &node, &fh) || is_not(k, node, fh, 0, SIZE, false, "all of it") ||
	    is_not(k, node, fh, 4097, 8190, false, "the middle") ||
	    conform_not(k, load_do_read(k->s, node, fh, SIZE - 10, data, 100, &done), 0,
			"over the end") ||
	    conform_differs(k, done, 10, "bytes up to the end") ||
	    conform_not(k, load_do_read(k->s, node, fh, SIZE, data, 100, &done), 0, "at the end") ||
	    conform_differs(k, done, 0, "bytes at the end"))
		return;
	conform_close(k, node, fh);
}

static void check_write(struct conform *k)
{
	uint64_t node, fh;
	uint32_t done;

	if (make(k, "f", &node, &fh) ||
	    conform_not(k, load_do_write(k->s, node, fh, 2 * SIZE, "end", 3, &done), 0,
			"behind the end") ||
	    conform_differs(k, done, 3, "bytes written") ||
	    conform_size_is_not(k, node, 2 * SIZE + 3) ||
	    is_not(k, node, fh, SIZE, 2 * SIZE, true, "the hole") ||
	    is_not(k, node, fh, 0, SIZE, false, "what was there before"))
		return;
	conform_close(k, node, fh);
}

static void check_flush(struct conform *k)
{
	uint64_t node, fh;
	struct load_head h;

	if (make(k, "f", &node, &fh))
		return;
	h = conform_head(k, node);
	if (!conform_not(k, conform_send(k, load_build_flush(REQ(k), &h, fh, 1)), 0, "a file"))
		conform_close(k, node, fh);
}

static void check_fsync(struct conform *k)
{
	uint64_t node, fh;
	struct load_head h;

	if (make(k, "f", &node, &fh))
		return;
	h = conform_head(k, node);
	if (conform_not(k, conform_send(k, load_build_fsync(REQ(k), &h, fh, false)), 0, "a file"))
		return;
	h = conform_head(k, node);
	if (!conform_not(k, conform_send(k, load_build_fsync(REQ(k), &h, fh, true)), 0,
			 "its data only"))
		conform_close(k, node, fh);
}

static int fallocate_it(struct conform *k, uint64_t node, uint64_t fh, uint64_t offset,
			uint64_t len, uint32_t mode)
{
	struct load_head h = conform_head(k, node);

	return conform_send(k, load_build_fallocate(REQ(k), &h, fh, offset, len, mode));
}

static void check_fallocate(struct conform *k)
{
	uint64_t node, fh;

	if (make(k, "f", &node, &fh) ||
	    conform_not(k, fallocate_it(k, node, fh, 0, 3 * SIZE, FALLOC_FL_KEEP_SIZE), 0,
			"KEEP_SIZE") ||
	    conform_size_is_not(k, node, SIZE) ||
	    conform_not(k, fallocate_it(k, node, fh, 0, 2 * SIZE, 0), 0, "growing") ||
	    conform_size_is_not(k, node, 2 * SIZE) ||
	    is_not(k, node, fh, SIZE, 2 * SIZE, true, "what it grew by") ||
	    conform_not(
		    k,
		    fallocate_it(k, node, fh, 0, 4096, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE),
		    0, "PUNCH_HOLE") ||
	    is_not(k, node, fh, 0, 4096, true, "the hole") ||
	    is_not(k, node, fh, 4096, SIZE, false, "what is behind the hole"))
		return;
	conform_close(k, node, fh);
}

static int seek(struct conform *k, uint64_t node, uint64_t fh, uint64_t at, uint32_t whence,
		uint64_t *offset)
{
	struct load_head h = conform_head(k, node);
	int err = conform_send(k, load_build_lseek(REQ(k), &h, fh, at, whence));

	return err ? err : load_read_lseek(k->slot->out, conform_len(k), offset);
}

static void check_lseek(struct conform *k)
{
	uint64_t node, fh, at;

	/* Where holes are is the file system's choice, but that the end is one is not. */
	if (make(k, "f", &node, &fh) ||
	    conform_not(k, seek(k, node, fh, 0, SEEK_DATA, &at), 0, "SEEK_DATA") ||
	    conform_differs(k, at, 0, "first data") ||
	    conform_not(k, seek(k, node, fh, 0, SEEK_HOLE, &at), 0, "SEEK_HOLE") ||
	    conform_differs(k, at, SIZE, "first hole") ||
	    conform_not(k, seek(k, node, fh, SIZE + 1, SEEK_DATA, &at), -ENXIO,
			"SEEK_DATA behind the end"))
		return;
	conform_close(k, node, fh);
}

static void check_copy(struct conform *k)
{
	uint64_t from, fh, to, fh_to;
	uint32_t done;
	struct load_head h;

	if (make(k, "f", &from, &fh) || conform_make(k, "g", NULL, 0, &to, &fh_to))
		return;
	h = conform_head(k, from);
	struct fuse_copy_file_range_in in = {
		.fh_in = fh,
		.nodeid_out = to,
		.fh_out = fh_to,
		.len = SIZE,
	};
	if (conform_not(k, conform_send(k, load_build_copy_file_range(REQ(k), &h, &in, false)), 0,
			"a file") ||
	    conform_not(k, load_read_count(k->slot->out, conform_len(k), &done), 0, "its reply") ||
	    conform_differs(k, done, SIZE, "bytes copied") ||
	    is_not(k, to, fh_to, 0, SIZE, false, "the copy") || conform_close(k, from, fh))
		return;
	conform_close(k, to, fh_to);
}

const struct conform_check conform_data[] = {
	{"open", check_open},
	{"create", check_create},
	{"release", check_release},
	{"read", check_read},
	{"write", check_write},
	{"flush", check_flush},
	{"fsync", check_fsync},
	{"lseek", check_lseek},
	{"fallocate", check_fallocate},
	{"copy_file_range", check_copy},
	{NULL, NULL},
};
