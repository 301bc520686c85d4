/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose rights a thread uses. The guest's kernel has checked permissions (virtio-fs mounts have
 * default_permissions), so what is there is worked on as the daemon; what is made is made as who
 * asks, so that it belongs to them. glibc's setresuid() changes all threads: these are the raw
 * calls.
 */
#ifndef VQFSD_CREDS_H
#define VQFSD_CREDS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/capability.h>

#define FSD_GROUPS_MAX 32 /* a guest sends one: of the directory that it creates in */

struct fsd_creds {
	uint32_t uid, gid;                    /* effective, of the daemon */
	struct __user_cap_data_struct cap[2]; /* with everything that is permitted */
	bool can_switch;                      /* CAP_SETUID and CAP_SETGID */
	bool keep;                            /* set by the caller: whoever asks, as the daemon */
	bool can_fsetid;
	bool fsetid; /* CAP_FSETID is effective now */
};

/* Of the calling thread; drops its supplementary groups. 0 or -errno. */
int fsd_creds_init(struct fsd_creds *c);
/* As they were at first, groups excepted. */
void fsd_creds_restore(struct fsd_creds *c);

/* Who asks, and further groups. */
struct fsd_who {
	uint32_t uid, gid;
	uint32_t nr_groups;
	uint32_t groups[FSD_GROUPS_MAX];
};
/*
 * Until fsd_creds_end(). Capabilities of the daemon that making a file needs stay
 * (CAP_DAC_OVERRIDE: the caller's other groups are unknown; CAP_MKNOD). 0, or -errno with nothing
 * changed.
 */
int fsd_creds_begin(struct fsd_creds *c, const struct fsd_who *who);
void fsd_creds_end(struct fsd_creds *c, const struct fsd_who *who);

/*
 * With or without CAP_FSETID: without, the host's kernel takes set-user-ID and set-group-ID bits
 * away when a file is written or cut (FUSE_HANDLE_KILLPRIV_V2). It stays so until asked otherwise:
 * writes come in series of one kind.
 */
void fsd_creds_fsetid(struct fsd_creds *c, bool on);

#endif
