// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks that say what they are: filled, checked, and what is wrong with them explained. */
#include "vqload/verify.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "vqload/rng.h"

/* As it lies in the block. */
struct header {
	uint64_t magic;
	uint64_t seed;
	uint64_t file;
	uint64_t offset;
	uint64_t generation;
	uint32_t length;
	uint32_t crc; /* over the block with this field as 0 */
	uint64_t reserved;
};
_Static_assert(sizeof(struct header) == 56, "as verify.h says");

#define WORD  sizeof(uint64_t)
#define FIRST (sizeof(struct header) / WORD) /* word of the body */

static const char *const state_names[] = {
	[LOAD_BLOCK_GOOD] = "good",
	[LOAD_BLOCK_NEVER_WRITTEN] = "never_written",
	[LOAD_BLOCK_OTHER_OFFSET] = "other_offset",
	[LOAD_BLOCK_OTHER_FILE] = "other_file",
	[LOAD_BLOCK_OTHER_RUN] = "other_run",
	[LOAD_BLOCK_STALE] = "stale",
	[LOAD_BLOCK_FUTURE] = "future",
	[LOAD_BLOCK_TORN] = "torn",
	[LOAD_BLOCK_CORRUPT] = "corrupt",
};
_Static_assert(ARRAY_SIZE(state_names) == LOAD_BLOCK_STATES, "every state has a name");

const char *load_block_state_name(enum load_block_state s)
{
	return s >= 0 && s < LOAD_BLOCK_STATES ? state_names[s] : "none";
}

/* Two blocks that differ in anything share no words: the key depends on every field. */
static uint64_t body_key(const struct load_block *b)
{
	uint64_t key = load_mix64(b->seed + LOAD_RNG_STEP);

	key = load_mix64(key ^ b->file);
	key = load_mix64(key ^ b->offset);
	key = load_mix64(key ^ b->generation);
	return load_mix64(key ^ b->length);
}

static uint64_t body_word(uint64_t key, size_t i)
{
	return htole64(load_mix64(key + i * LOAD_RNG_STEP));
}

static bool length_valid(uint32_t length)
{
	return length >= LOAD_BLOCK_MIN && !(length % WORD);
}

static struct header header_of(const struct load_block *b)
{
	return (struct header){
		.magic = htole64(LOAD_BLOCK_MAGIC),
		.seed = htole64(b->seed),
		.file = htole64(b->file),
		.offset = htole64(b->offset),
		.generation = htole64(b->generation),
		.length = htole32(b->length),
	};
}

static struct load_block block_of(const struct header *h)
{
	return (struct load_block){
		.seed = le64toh(h->seed),
		.file = le64toh(h->file),
		.offset = le64toh(h->offset),
		.generation = le64toh(h->generation),
		.length = le32toh(h->length),
	};
}

/* Of @h, with its crc left out, and the body that follows it in @data. */
static uint32_t crc_of(const struct header *h, const void *data, size_t length)
{
	struct header bare = *h;

	bare.crc = 0;
	return load_crc32c(load_crc32c(0, &bare, sizeof(bare)), (const char *)data + sizeof(bare),
			   length - sizeof(bare));
}

int load_block_fill(void *data, const struct load_block *b)
{
	struct header h = header_of(b);
	uint64_t key = body_key(b);

	if (!length_valid(b->length))
		return -EINVAL;
	for (size_t i = FIRST; i < b->length / WORD; i++) {
		uint64_t w = body_word(key, i);

		memcpy((char *)data + i * WORD, &w, WORD);
	}
	h.crc = htole32(crc_of(&h, data, b->length));
	memcpy(data, &h, sizeof(h));
	return 0;
}

static uint64_t word_at(const void *data, size_t i)
{
	uint64_t w;

	memcpy(&w, (const char *)data + i * WORD, WORD);
	return w;
}

static bool zeros(const void *data, size_t from, size_t to)
{
	for (const uint8_t *p = data; from < to; from++)
		if (p[from])
			return false;
	return true;
}

/* First byte of the body from word @i on that is not @b's; b->length: none. */
static uint32_t first_difference(const void *data, const struct load_block *b, size_t i)
{
	uint64_t key = body_key(b);

	for (; i < b->length / WORD; i++) {
		uint64_t want = body_word(key, i), got = word_at(data, i);

		if (want == got)
			continue;
		for (size_t n = 0; n < WORD; n++)
			if (((const uint8_t *)&want)[n] != ((const uint8_t *)&got)[n])
				return (uint32_t)(i * WORD + n);
	}
	return b->length;
}

/* Whether all behind byte @from is @b's; of the word with @from in it only the bytes behind count.
 */
static bool tail_is(const void *data, const struct load_block *b, uint32_t from)
{
	size_t i = from / WORD;
	uint64_t key = body_key(b), want = body_word(key, i), got = word_at(data, i);
	size_t skip = from % WORD;

	if (memcmp((char *)&want + skip, (char *)&got + skip, WORD - skip))
		return false;
	return i + 1 >= b->length / WORD || first_difference(data, b, i + 1) == b->length;
}

/* How many generations back the tail of a torn block is looked for. */
#define TORN_REACH 64
/* A tail of fewer bytes would match some generation by chance. */
#define TORN_LEAST 16

/*
 * The header is sound, the body is not. When what follows the first wrong byte is, to the end, what
 * another write would have put there, a write was torn; else the bytes are corrupt.
 */
static void check_torn(const void *data, const struct load_block *want,
		       struct load_block_check *out)
{
	struct load_block other = out->found;
	uint64_t high = want->generation + 1;
	uint64_t low = high > TORN_REACH ? high - TORN_REACH : 1;

	if (want->length - out->first_bad < TORN_LEAST)
		return;
	if (zeros(data, out->first_bad, want->length)) {
		out->state = LOAD_BLOCK_TORN;
		return;
	}
	for (uint64_t g = high; g >= low; g--) {
		other.generation = g;
		if (g == out->found.generation || !tail_is(data, &other, out->first_bad))
			continue;
		out->state = LOAD_BLOCK_TORN;
		out->tail = g;
		return;
	}
}

/* A whole block: is it the one that was wanted? */
static enum load_block_state judge_whole(const struct load_block *found,
					 const struct load_block *want, uint64_t oldest)
{
	if (found->seed != want->seed)
		return LOAD_BLOCK_OTHER_RUN;
	if (found->file != want->file)
		return LOAD_BLOCK_OTHER_FILE;
	if (found->offset != want->offset)
		return LOAD_BLOCK_OTHER_OFFSET;
	if (found->generation < oldest)
		return LOAD_BLOCK_STALE;
	if (found->generation > want->generation)
		return LOAD_BLOCK_FUTURE;
	return LOAD_BLOCK_GOOD;
}

/* First byte of the header that is not @b's; when all are, it is the crc that is wrong. */
static uint32_t header_difference(const struct header *h, const struct load_block *b)
{
	struct header good = header_of(b);
	size_t i = 0;

	good.crc = h->crc;
	while (i < sizeof(good) && ((const uint8_t *)&good)[i] == ((const uint8_t *)h)[i])
		i++;
	return (uint32_t)(i < sizeof(good) ? i : offsetof(struct header, crc));
}

/* Not whole, not zeros: where is the first wrong byte? */
static void check_broken(const void *data, const struct header *h, const struct load_block *want,
			 struct load_block_check *out)
{
	struct header good = header_of(want);
	struct load_block own = *want;

	out->state = LOAD_BLOCK_CORRUPT;
	own.generation = out->found.generation;
	if (out->found.length != want->length) {
		out->first_bad = header_difference(h, &own);
		return;
	}
	out->first_bad = first_difference(data, &out->found, FIRST);
	if (out->first_bad == want->length)
		out->first_bad = header_difference(h, &out->found);
	else if (first_difference(data, &own, FIRST) == want->length)
		out->first_bad = header_difference(h, &own);
	else if (le32toh(h->crc) == crc_of(&good, data, want->length))
		/* The body is what was wanted, and so is the crc: the generation lies. */
		out->first_bad = header_difference(h, want);
	else
		check_torn(data, want, out);
}

int load_block_check(const void *data, const struct load_block *want, uint64_t oldest,
		     struct load_block_check *out)
{
	struct header h;

	*out = (struct load_block_check){.state = LOAD_BLOCK_GOOD};
	if (!length_valid(want->length))
		return -EINVAL;
	memcpy(&h, data, sizeof(h));
	if (h.magic == htole64(LOAD_BLOCK_MAGIC))
		out->found = block_of(&h);
	if (out->found.length == want->length && le32toh(h.crc) == crc_of(&h, data, want->length))
		out->state = judge_whole(&out->found, want, oldest);
	else if (zeros(data, 0, want->length))
		out->state = LOAD_BLOCK_NEVER_WRITTEN;
	else
		check_broken(data, &h, want, out);
	return 0;
}

static void explain_torn(const struct load_block_check *c, char *text, size_t size)
{
	if (c->tail)
		snprintf(text, size,
			 "torn: write %" PRIu64 " up to byte %u, write %" PRIu64 " behind it",
			 c->found.generation, c->first_bad, c->tail);
	else
		snprintf(text, size, "torn: write %" PRIu64 " up to byte %u, zeros behind it",
			 c->found.generation, c->first_bad);
}

void load_block_explain(const struct load_block_check *c, const struct load_block *want, char *text,
			size_t size)
{
	switch (c->state) {
	case LOAD_BLOCK_NEVER_WRITTEN:
		snprintf(text, size, "offset %" PRIu64 " holds zeros instead of write %" PRIu64,
			 want->offset, want->generation);
		break;
	case LOAD_BLOCK_OTHER_OFFSET:
		snprintf(text, size, "offset %" PRIu64 " holds what belongs at %" PRIu64,
			 want->offset, c->found.offset);
		break;
	case LOAD_BLOCK_OTHER_FILE:
		snprintf(text, size,
			 "file %" PRIu64 " offset %" PRIu64
			 " holds what belongs into file %" PRIu64,
			 want->file, want->offset, c->found.file);
		break;
	case LOAD_BLOCK_OTHER_RUN:
		snprintf(text, size, "offset %" PRIu64 " holds what another run wrote",
			 want->offset);
		break;
	case LOAD_BLOCK_STALE:
	case LOAD_BLOCK_FUTURE:
		snprintf(text, size,
			 "offset %" PRIu64 " holds write %" PRIu64 " instead of %" PRIu64,
			 want->offset, c->found.generation, want->generation);
		break;
	case LOAD_BLOCK_TORN:
		explain_torn(c, text, size);
		break;
	case LOAD_BLOCK_CORRUPT:
		snprintf(text, size, "offset %" PRIu64 " is wrong from byte %u of its block on",
			 want->offset, c->first_bad);
		break;
	default:
		snprintf(text, size, "good");
	}
}
