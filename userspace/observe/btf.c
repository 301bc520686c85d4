// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/btf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"

#define BTF_MAGIC 0xeB9F

static int refuse(int code, const char *reason, char *why, size_t size)
{
	snprintf(why, size, "%s", reason);
	return code;
}

int obs_btf_check(const char *path, char *why, size_t size)
{
	/* A FIFO would make a blocking open wait for its writer. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char head[SELFMAG] = {0};
	struct stat st;
	uint16_t magic;

	if (fd < 0)
		return refuse(-errno, strerror(errno), why, size);
	if (fstat(fd, &st))
		return refuse(-errno, strerror(errno), why, size);
	if (!S_ISREG(st.st_mode))
		return refuse(-EINVAL, "not a regular file", why, size);
	if (read(fd, head, sizeof(head)) != (ssize_t)sizeof(head))
		return refuse(-EINVAL, "too short", why, size);
	memcpy(&magic, head, sizeof(magic));
	if (magic != BTF_MAGIC && memcmp(head, ELFMAG, SELFMAG) != 0)
		return refuse(-EINVAL, "neither BTF nor ELF", why, size);
	return 0;
}
