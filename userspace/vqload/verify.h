/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that say what they are: which file, which offset, which write, so that a block that comes
 * back tells what went wrong with it.
 *
 * A block is a header of 56 bytes and a body of pseudo-random words, each a function of the header
 * and of its position, and a CRC32C over all of it. Little endian. Lengths are multiples of 8.
 */
#ifndef VQLOAD_VERIFY_H
#define VQLOAD_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_BLOCK_MAGIC 0x6b6c62646c71760aULL /* "\nvqldblk" */
#define LOAD_BLOCK_MIN   64

/* What a block is. */
struct load_block {
	uint64_t seed;       /* of the run: blocks of an earlier run are told apart */
	uint64_t file;       /* any number that is the file's */
	uint64_t offset;     /* in the file, bytes */
	uint64_t generation; /* 1, 2, ...: of the writes to this place */
	uint32_t length;     /* bytes */
};

enum load_block_state {
	LOAD_BLOCK_GOOD,
	LOAD_BLOCK_NEVER_WRITTEN, /* zeros: a hole, or a write that was lost */
	LOAD_BLOCK_OTHER_OFFSET,  /* whole, but belongs at found.offset */
	LOAD_BLOCK_OTHER_FILE,    /* whole, but belongs into found.file */
	LOAD_BLOCK_OTHER_RUN,     /* whole, but of seed found.seed */
	LOAD_BLOCK_STALE,         /* whole, but of an older write: found.generation */
	LOAD_BLOCK_FUTURE,        /* whole, but of a write that was not done yet */
	LOAD_BLOCK_TORN,    /* up to first_bad one write (found), behind it another, or zeros */
	LOAD_BLOCK_CORRUPT, /* first_bad is the first byte that is wrong */
	LOAD_BLOCK_STATES,
};

struct load_block_check {
	enum load_block_state state;
	struct load_block found; /* what the block says it is; zeros when it says nothing */
	uint32_t first_bad;      /* CORRUPT, TORN: position in the block; else 0 */
	uint64_t tail;           /* TORN: generation of what follows; 0: zeros */
};

const char *load_block_state_name(enum load_block_state s);

/* Fills b->length bytes. -EINVAL: length < LOAD_BLOCK_MIN or no multiple of 8. */
int load_block_fill(void *data, const struct load_block *b);

/*
 * Whether the @want->length bytes at @data are @want. Generations in [oldest, want->generation] are
 * what can be there when the last writes were still in flight: for those give the oldest that may
 * be; @oldest == want->generation asks for exactly it. -EINVAL as above, else 0.
 */
int load_block_check(const void *data, const struct load_block *want, uint64_t oldest,
		     struct load_block_check *out);
/* One line for people, without a newline: "offset 8192 holds what belongs at 4096". */
void load_block_explain(const struct load_block_check *c, const struct load_block *want, char *text,
			size_t size);

/* CRC32C (RFC 3720, B.4) of @len bytes, continuing @crc; 0 to begin with. */
uint32_t load_crc32c(uint32_t crc, const void *data, size_t len);
/* The same without the processor's instruction: what the other is tested against. */
uint32_t load_crc32c_plain(uint32_t crc, const void *data, size_t len);

#endif
