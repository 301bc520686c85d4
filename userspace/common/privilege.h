/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities of this process, by the raw system calls: three calls do not need a library.
 */
#ifndef COMMON_PRIVILEGE_H
#define COMMON_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

/* CAP_* of linux/capability.h; newer than the headers of old systems. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define VQS_CAP(cap) (1ULL << (cap))

/* Effective capabilities as bits, or 0 when they cannot be read. */
uint64_t vqs_caps_effective(void);

/*
 * What @effective lets a process do with tracing programs: since 5.8 CAP_BPF and CAP_PERFMON
 * are split off CAP_SYS_ADMIN, which still stands for both.
 */
bool vqs_caps_can_trace(uint64_t effective);

/*
 * Gives up all capabilities but @keep, for good: effective, permitted, inheritable, ambient and
 * bounding, and sets no_new_privs. 0 or -errno; what could be given up then is.
 */
int vqs_caps_drop(uint64_t keep);

#endif
