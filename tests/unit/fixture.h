/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots for tests, without a kernel: a realistic guest whose counters grow second by second,
 * and random ones with every optional part and every extreme value. Freed by obs_snapshot_free().
 */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/snapshot.h"

/* A small, seeded generator (splitmix64): tests print the seed and can be repeated. */
uint64_t fixture_rand(uint64_t *state);
/* 0 .. @n - 1; 0 for @n 0. */
uint64_t fixture_below(uint64_t *state, uint64_t n);

/*
 * A Linux 6.12 guest with two mounts, as counted @seconds after attach: "data" with four request
 * queues on eight CPUs, queue 1 hot, its vq.lock contended, background reads; "home", quiet, with
 * one. Cumulative and deterministic: the difference of two of them is a valid interval.
 */
struct vqs_snapshot *fixture_guest(unsigned int seconds);

/*
 * Devices, queues, opcodes, histograms, stacks at random, sorted and bounded as the contract says
 * and otherwise anything: zeros, small numbers, 2^64 - 1, names of full length, UTF-8.
 */
struct vqs_snapshot *fixture_random(uint64_t seed);

/* Whether two snapshots say exactly the same; if not, @where gets the first thing that differs. */
bool fixture_equal(const struct vqs_snapshot *a, const struct vqs_snapshot *b, char *where,
		   size_t where_len);

#endif
