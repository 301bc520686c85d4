/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that a function hands to its caller, who frees them. */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include <stdarg.h>

/*
 * Puts "@who @what: @fmt..." into *err; without @what (NULL) "@who: ...", without either the bare
 * message. Returns @code, or -ENOMEM, which leaves *err NULL.
 */
int vqs_verror(char **err, int code, const char *who, const char *what, const char *fmt, va_list ap)
	__attribute__((format(printf, 5, 0)));

#endif
