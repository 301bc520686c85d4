/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs as people and the kernel write them: "0-3,8". */
#ifndef COMMON_CPUS_H
#define COMMON_CPUS_H

#include <sched.h>
#include <stddef.h>

/* Fills @set. 0; -EINVAL: not numbers and ranges from low to high; -ERANGE: beyond CPU_SETSIZE. */
int vqs_cpus_parse(const char *text, cpu_set_t *set);

/* Writes @set into @text of @size bytes, cut where it does not fit; returns @text. */
char *vqs_cpus_print(const cpu_set_t *set, char *text, size_t size);

#endif
