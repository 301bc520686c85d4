// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/error.h"

#include <errno.h>
#include <stdio.h>

#include "common/cleanup.h"

int vqs_verror(char **err, int code, const char *who, const char *what, const char *fmt, va_list ap)
{
	_cleanup_free_ char *msg = NULL;

	*err = NULL;
	if (vasprintf(&msg, fmt, ap) < 0) {
		msg = NULL;
		return -ENOMEM;
	}
	if (asprintf(err, "%s%s%s%s%s", who ? who : "", what ? " " : "", what ? what : "",
		     who ? ": " : "", msg) < 0) {
		*err = NULL;
		return -ENOMEM;
	}
	return code;
}
