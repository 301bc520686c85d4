/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtio-fs mounts and devices of this machine, as /proc and /sys tell. Text of the kernel
 * becomes checked structures here, and nowhere else.
 *
 * @root is what "/" is: "" for the machine itself, a folder with a made-up tree for tests.
 */
#ifndef OBSERVE_DEVICES_H
#define OBSERVE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vqsteer/guest_abi.h>

/* CPUs and queues that are believed when the kernel names them; above is nonsense. */
#define OBS_MAX_CPUS   8192
#define OBS_MAX_QUEUES 255

struct obs_mount {
	char tag[VQS_TAG_LEN];
	char *path; /* where it is mounted; owned */
};

struct obs_mounts {
	struct obs_mount *mount;
	size_t nr;
};

/* Request queue that no CPU of the map names. */
#define OBS_NO_QUEUE UINT32_MAX

struct obs_device {
	uint32_t virtio_index;   /* N of virtioN */
	char tag[VQS_TAG_LEN];   /* "": this kernel does not say */
	uint32_t request_queues; /* 0: this kernel does not say */
	uint32_t *map;           /* CPU -> index of its request queue, owned */
	size_t nr_map;           /* 0: this kernel does not say */
};

struct obs_devices {
	struct obs_device *device; /* ascending virtio_index */
	size_t nr;
};

/* The lines of mountinfo (proc_pid_mountinfo(5)) whose file system is virtiofs. 0 or -ENOMEM. */
int obs_mounts_parse(FILE *mountinfo, struct obs_mounts *out);
/* -errno when there is no /proc. */
int obs_mounts_read(const char *root, struct obs_mounts *out);
void obs_mounts_free(struct obs_mounts *m);
bool obs_mounts_have(const struct obs_mounts *m, const char *tag);

/* A machine without virtio-fs has none: that is no error. */
int obs_devices_read(const char *root, struct obs_devices *out);
void obs_devices_free(struct obs_devices *d);

/*
 * "0, 2, 3" (virtio-fs) or "0-3,7" (everything else in sysfs): calls @fn for each CPU, ascending or
 * not. -EINVAL at the first thing that is no such list.
 */
int obs_cpu_list_parse(const char *text, void (*fn)(uint32_t cpu, void *arg), void *arg);

/* CPUs that this machine may ever have: BPF's per-CPU maps have a column for each. At least 1. */
uint32_t obs_possible_cpus(const char *root);

/*
 * First line of @root/@path without its newline. Length or -errno; -E2BIG when @size is too small.
 */
int obs_read_line(const char *root, const char *path, char *buf, size_t size);

#endif
