/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU -> queue map that Linux keeps per virtio-fs device, as sysfs shows it (since 6.13). */
#ifndef OBSERVE_MQMAP_H
#define OBSERVE_MQMAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads /sys/fs/virtiofs/N/mqs/Q/cpu_list below @root for the device whose tag is @tag: map[cpu]
 * is the index of the queue that requests of this CPU go to, 0 for a CPU without. *nr is 0 and
 * *map NULL when this kernel does not say. The caller frees *map. 0 or -ENOMEM.
 */
int mqmap_read(const char *root, const char *tag, uint32_t cpus, uint32_t **map, size_t *nr);

#endif
