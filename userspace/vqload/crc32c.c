// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CRC32C (Castagnoli; RFC 3720, B.4), with the processor's instruction where there is one. It is
 * three cycles a word; the plain one a few a nibble, and only there for other machines and as the
 * reference of the tests.
 */
#include <string.h>

#include "vqload/verify.h"

#if defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

/* Of a nibble: 0x82f63b78 is the polynomial 0x1edc6f41, reflected. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t load_crc32c_plain(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)
#define HAVE_CRC32C      __attribute__((target("sse4.2")))
#define CRC_WORD(crc, w) ((uint32_t)__builtin_ia32_crc32di(crc, w))
#define CRC_BYTE(crc, b) __builtin_ia32_crc32qi(crc, b)

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
#define HAVE_CRC32C      __attribute__((target("+crc")))
#define CRC_WORD(crc, w) __crc32cd(crc, w)
#define CRC_BYTE(crc, b) __crc32cb(crc, b)

static bool has_instruction(void)
{
	return getauxval(AT_HWCAP) & (1 << 7); /* HWCAP_CRC32 */
}
#endif

#ifdef HAVE_CRC32C
static HAVE_CRC32C uint32_t crc32c_fast(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t w;

	crc = ~crc;
	for (; len >= sizeof(w); len -= sizeof(w), p += sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		crc = CRC_WORD(crc, w);
	}
	while (len--)
		crc = CRC_BYTE(crc, *p++);
	return ~crc;
}
#endif

uint32_t load_crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef HAVE_CRC32C
	if (has_instruction())
		return crc32c_fast(crc, data, len);
#endif
	return load_crc32c_plain(crc, data, len);
}
