// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of locks, hops and opcodes: one table each, used by every renderer and by --op. */
#include "observe/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cleanup.h"

static const char *const lock_names[] = {
	[VQS_LOCK_VQ] = "virtio_fs_vq.lock",    [VQS_LOCK_PQUEUE] = "fuse_pqueue.lock",
	[VQS_LOCK_IQUEUE] = "fuse_iqueue.lock", [VQS_LOCK_BG] = "fuse_conn.bg_lock",
	[VQS_LOCK_CONN] = "fuse_conn.lock",
};
_Static_assert(ARRAY_SIZE(lock_names) == VQS_LOCK_KINDS, "every lock has a name");

static const char *const hop_names[] = {
	[VQS_HOP_BACKGROUND] = "background", [VQS_HOP_INPUT] = "input",
	[VQS_HOP_DEVICE] = "device",         [VQS_HOP_IRQ] = "irq",
	[VQS_HOP_COMPLETE] = "complete",     [VQS_HOP_WAKE] = "wake",
	[VQS_HOP_TOTAL] = "total",           [VQS_HOP_RING_FULL] = "ring_full",
};
_Static_assert(ARRAY_SIZE(hop_names) == VQS_HOPS, "every hop has a name");

/* include/uapi/linux/fuse.h of Linux 7.3, protocol 7.46. CUSE_INIT never reaches virtio-fs. */
static const char *const op_names[VQS_OPS] = {
	[1] = "LOOKUP",
	[2] = "FORGET",
	[3] = "GETATTR",
	[4] = "SETATTR",
	[5] = "READLINK",
	[6] = "SYMLINK",
	[8] = "MKNOD",
	[9] = "MKDIR",
	[10] = "UNLINK",
	[11] = "RMDIR",
	[12] = "RENAME",
	[13] = "LINK",
	[14] = "OPEN",
	[15] = "READ",
	[16] = "WRITE",
	[17] = "STATFS",
	[18] = "RELEASE",
	[20] = "FSYNC",
	[21] = "SETXATTR",
	[22] = "GETXATTR",
	[23] = "LISTXATTR",
	[24] = "REMOVEXATTR",
	[25] = "FLUSH",
	[26] = "INIT",
	[27] = "OPENDIR",
	[28] = "READDIR",
	[29] = "RELEASEDIR",
	[30] = "FSYNCDIR",
	[31] = "GETLK",
	[32] = "SETLK",
	[33] = "SETLKW",
	[34] = "ACCESS",
	[35] = "CREATE",
	[36] = "INTERRUPT",
	[37] = "BMAP",
	[38] = "DESTROY",
	[39] = "IOCTL",
	[40] = "POLL",
	[41] = "NOTIFY_REPLY",
	[42] = "BATCH_FORGET",
	[43] = "FALLOCATE",
	[44] = "READDIRPLUS",
	[45] = "RENAME2",
	[46] = "LSEEK",
	[47] = "COPY_FILE_RANGE",
	[48] = "SETUPMAPPING",
	[49] = "REMOVEMAPPING",
	[50] = "SYNCFS",
	[51] = "TMPFILE",
	[52] = "STATX",
	[53] = "COPY_FILE_RANGE_64",
	[VQS_OP_OTHER] = "OTHER",
};

const char *obs_lock_name(enum vqs_lock_kind kind)
{
	return (unsigned int)kind < VQS_LOCK_KINDS ? lock_names[kind] : "unknown lock";
}

const enum vqs_hop obs_hops_in_line[OBS_HOPS_IN_LINE] = {VQS_HOP_BACKGROUND, VQS_HOP_INPUT,
							 VQS_HOP_DEVICE, VQS_HOP_COMPLETE};

const char *obs_hop_name(enum vqs_hop hop)
{
	return (unsigned int)hop < VQS_HOPS ? hop_names[hop] : "unknown hop";
}

const char *obs_op_name(uint32_t opcode)
{
	if (opcode >= VQS_OPS || !op_names[opcode])
		return op_names[VQS_OP_OTHER];
	return op_names[opcode];
}

int obs_op_parse(const char *text)
{
	const char *name = strncasecmp(text, "FUSE_", 5) ? text : text + 5;
	unsigned long n;
	char *end;

	for (int i = 0; i < VQS_OPS; i++)
		if (op_names[i] && !strcasecmp(name, op_names[i]))
			return i;
	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || n < 1 || n >= VQS_OPS)
		return -EINVAL;
	return (int)n;
}
