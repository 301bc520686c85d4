/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the vhost-user side. */
#ifndef VQFSD_VHOST_PRIV_H
#define VQFSD_VHOST_PRIV_H

#include "virtqueue/vhost_user.h"
#include "vqfsd/vhost.h"

/*
 * Obeys one message. A request with a reply of its own has it in @m after 0; others are
 * acknowledged by the caller. Else -errno and *why: refused, nothing was done. Takes descriptors
 * by TAKE_FD.
 */
int fsd_vhost_obey(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds, const char **why);

typedef int fsd_vhost_handler(struct fsd_vhost *v, struct vhu_msg *m, struct vhu_fds *fds,
			      const char **why);

/* vhost_vring.c */
fsd_vhost_handler fsd_vhost_set_num, fsd_vhost_set_addr, fsd_vhost_set_base, fsd_vhost_get_base,
	fsd_vhost_set_kick, fsd_vhost_set_call, fsd_vhost_set_err, fsd_vhost_set_enable;

/* Stops all rings, drops what the guest had of the file system. Memory stays. */
void fsd_vhost_reset(struct fsd_vhost *v);

#endif
