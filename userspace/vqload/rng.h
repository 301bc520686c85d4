/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014):
 * eight bytes of state, any seed is a good one, the same on every machine.
 */
#ifndef VQLOAD_RNG_H
#define VQLOAD_RNG_H

#include <stdint.h>

#define LOAD_RNG_STEP 0x9e3779b97f4a7c15ULL

/* Its output function: a bijection of u64 in which every bit depends on every bit. */
static inline uint64_t load_mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t load_rng(uint64_t *state)
{
	return load_mix64(*state += LOAD_RNG_STEP);
}

/* 0 .. @n - 1, @n > 0; off from uniform by less than @n / 2^64. */
static inline uint64_t load_rng_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)load_rng(state) * n >> 64);
}

/* In (0, 1), 53 bits. */
static inline double load_rng_unit(uint64_t *state)
{
	return ((double)(load_rng(state) >> 11) + 0.5) * 0x1p-53;
}

#endif
