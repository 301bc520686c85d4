/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is a file given as kernel types (--btf) one that could be? */
#ifndef OBSERVE_BTF_H
#define OBSERVE_BTF_H

#include <stddef.h>

/*
 * A regular file that begins as BTF (Documentation/bpf/btf.rst, magic 0xeB9F) or as ELF that may
 * carry it. 0, or -errno with the reason in @why; the rest is libbpf's to judge at load.
 */
int obs_btf_check(const char *path, char *why, size_t size);

#endif
