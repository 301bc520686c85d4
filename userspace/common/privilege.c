// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_SETS 2 /* 32 capabilities each, _LINUX_CAPABILITY_VERSION_3 */

static int caps_get(struct __user_cap_data_struct data[CAP_SETS])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &head, data) ? -errno : 0;
}

uint64_t vqs_caps_effective(void)
{
	struct __user_cap_data_struct data[CAP_SETS] = {0};

	if (caps_get(data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool vqs_caps_can_trace(uint64_t effective)
{
	uint64_t both = VQS_CAP(CAP_BPF) | VQS_CAP(CAP_PERFMON);

	return (effective & VQS_CAP(CAP_SYS_ADMIN)) || (effective & both) == both;
}

int vqs_caps_drop(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[CAP_SETS] = {0};
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Needs CAP_SETPCAP; whoever lacks it cannot gain anything from the set either. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep & VQS_CAP(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	r = caps_get(data);
	if (r)
		return r;
	for (int i = 0; i < CAP_SETS; i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i));

		data[i].permitted &= part;
		data[i].effective &= part;
		data[i].inheritable = 0;
	}
	/* Ambient capabilities go with the inheritable ones. */
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}
