/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: one JSON object a line, both ways, on a thread of its own.
 *
 * Anybody who can open the socket (mode 0600) may read: status, stats. Changes need the lease,
 * which one connection at a time has; when it closes without release, mapping, engines, pinning and
 * sizes go back to what they were when the lease was given. A command is answered when it took
 * effect. Nothing a client does delays another: lines, answers and clients are bounded, and who
 * does not read its answer within FSD_CONTROL_STUCK_MS is closed.
 */
#ifndef VQFSD_CONTROL_H
#define VQFSD_CONTROL_H

#include "vqfsd/device.h"

#define FSD_CONTROL_CLIENTS  64u
#define FSD_CONTROL_LINE     4096u
#define FSD_CONTROL_STUCK_MS 10000u

struct fsd_control;

/*
 * Serves @listen_fd, taken over. @quit_fd, an eventfd of the caller's, is written when a client
 * asks the daemon to end. 0 or -errno.
 */
int fsd_control_start(struct fsd_control **c, struct fsd_device *dev, int listen_fd, int quit_fd);
void fsd_control_stop(struct fsd_control *c);

#endif
