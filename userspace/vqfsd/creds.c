// SPDX-License-Identifier: GPL-2.0-or-later
/* Credentials of one thread, by raw system calls. */
#include "vqfsd/creds.h"

#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>

#define KEEP (1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_MKNOD)

/* Where a system has two calls, the newer one has 32 bits. */
#ifdef SYS_setresuid32
#define SET_UID    SYS_setresuid32
#define SET_GID    SYS_setresgid32
#define SET_GROUPS SYS_setgroups32
#else
#define SET_UID    SYS_setresuid
#define SET_GID    SYS_setresgid
#define SET_GROUPS SYS_setgroups
#endif

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static bool permitted(const struct fsd_creds *c, int cap)
{
	return c->cap[CAP_TO_INDEX(cap)].permitted & CAP_TO_MASK(cap);
}

/* Of what is permitted, only @effective. */
static int set_effective(const struct fsd_creds *c, uint64_t effective)
{
	struct __user_cap_header_struct h = header();
	struct __user_cap_data_struct cap[2] = {c->cap[0], c->cap[1]};

	cap[0].effective = cap[0].permitted & (uint32_t)effective;
	cap[1].effective = cap[1].permitted & (uint32_t)(effective >> 32);
	return syscall(SYS_capset, &h, cap) ? -errno : 0;
}

int fsd_creds_init(struct fsd_creds *c)
{
	struct __user_cap_header_struct h = header();

	*c = (struct fsd_creds){.uid = geteuid(), .gid = getegid()};
	if (syscall(SYS_capget, &h, c->cap))
		return -errno;
	c->can_switch = permitted(c, CAP_SETUID) && permitted(c, CAP_SETGID);
	c->can_fsetid = permitted(c, CAP_FSETID);
	/* EPERM in a user namespace without right to: they stay, and serve nobody but the daemon.
	 */
	if (c->can_switch && syscall(SET_GROUPS, 0, NULL) && errno != EPERM)
		return -errno;
	c->fsetid = c->can_fsetid;
	return set_effective(c, UINT64_MAX);
}

void fsd_creds_restore(struct fsd_creds *c)
{
	fsd_creds_fsetid(c, true);
}

static bool is_other(const struct fsd_creds *c, const struct fsd_who *who)
{
	return !c->keep && (who->uid != c->uid || who->gid != c->gid || who->nr_groups);
}

int fsd_creds_begin(struct fsd_creds *c, const struct fsd_who *who)
{
	int err;

	if (!is_other(c, who))
		return 0;
	if (!c->can_switch)
		return -EPERM;
	if (who->nr_groups && syscall(SET_GROUPS, who->nr_groups, who->groups))
		return -errno;
	if (syscall(SET_GID, -1, who->gid, -1) || syscall(SET_UID, -1, who->uid, -1)) {
		err = -errno;
		fsd_creds_end(c, who);
		return err;
	}
	/* Gone with the effective user ID of root. */
	if (who->uid != c->uid)
		set_effective(c, KEEP);
	return 0;
}

void fsd_creds_end(struct fsd_creds *c, const struct fsd_who *who)
{
	if (!is_other(c, who))
		return;
	/* CAP_SETUID is not effective, but the real user ID may be returned to; then it is. */
	syscall(SET_UID, -1, c->uid, -1);
	set_effective(c, UINT64_MAX);
	c->fsetid = c->can_fsetid;
	syscall(SET_GID, -1, c->gid, -1);
	if (who->nr_groups)
		syscall(SET_GROUPS, 0, NULL);
}

void fsd_creds_fsetid(struct fsd_creds *c, bool on)
{
	uint64_t drop = on ? 0 : 1ULL << CAP_FSETID;

	if (on == c->fsetid || !c->can_fsetid)
		return;
	if (!set_effective(c, ~drop))
		c->fsetid = on;
}
