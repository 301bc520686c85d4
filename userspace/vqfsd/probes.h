/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes for tracers (USDT, provider "vqfsd"): a nop each while nobody looks. bpftrace -l
 * 'usdt:/path/to/vqfsd:*' lists them.
 *
 *	pop(queue, requests)                         requests taken off a ring together
 *	request_start(queue, opcode, unique)         a thread begins with a request
 *	request_done(queue, opcode, unique, error, handler_ns)
 *	move(queue, from worker, to worker)          the mapping changed
 */
#ifndef VQFSD_PROBES_H
#define VQFSD_PROBES_H

#if __has_include(<sys/sdt.h>) && !defined(__clang_analyzer__) && !defined(__cppcheck__)
#include <sys/sdt.h>
#define FSD_PROBE2(name, a, b)          DTRACE_PROBE2(vqfsd, name, a, b)
#define FSD_PROBE3(name, a, b, c)       DTRACE_PROBE3(vqfsd, name, a, b, c)
#define FSD_PROBE5(name, a, b, c, d, e) DTRACE_PROBE5(vqfsd, name, a, b, c, d, e)
#else
#define FSD_PROBE2(name, a, b)          ((void)(a), (void)(b))
#define FSD_PROBE3(name, a, b, c)       ((void)(a), (void)(b), (void)(c))
#define FSD_PROBE5(name, a, b, c, d, e) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#endif

#endif
