/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbols, from /proc/kallsyms: does a function exist, and what is at an address. */
#ifndef OBSERVE_KSYMS_H
#define OBSERVE_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksyms;

/* Reads the functions of @path (NULL: /proc/kallsyms). 0 or -errno; -ENODATA: it has none. */
int ksyms_load(struct ksyms **out, const char *path);
void ksyms_free(struct ksyms *k);

bool ksyms_has(const struct ksyms *k, const char *name);

/*
 * A clone of @name that gcc made (name.isra.0, name.constprop.1; not name.cold or name.part.N,
 * which are pieces of it), or NULL.
 */
const char *ksyms_clone(const struct ksyms *k, const char *name);

/* "symbol+0xoff" at @addr into @buf, or the bare address where symbols are hidden or unknown. */
void ksyms_format(const struct ksyms *k, uint64_t addr, char *buf, size_t size);

/* False when the kernel hides addresses from this process (kptr_restrict, no CAP_SYSLOG). */
bool ksyms_has_addresses(const struct ksyms *k);

/* Address of the kernel's variable preempt_dynamic_mode, 0 when there is none or it is hidden. */
uint64_t ksyms_preempt_mode(const struct ksyms *k);

#endif
