# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of FUSE requests and replies (include/uapi/linux/fuse.h), headers included."""

IN, OUT = 40, 16          # struct fuse_in_header, fuse_out_header
ENTRY, ATTR = 128, 104    # struct fuse_entry_out, fuse_attr_out
OPEN = 16                 # struct fuse_open_out
DIRENTPLUS = 152          # FUSE_NAME_OFFSET_DIRENTPLUS; names follow, padded to 8

GETATTR = (IN + 16, OUT + ATTR)  # struct fuse_getattr_in


def lookup(name, found=True):
    return IN + len(name) + 1, OUT + (ENTRY if found else 0)


def create(name):
    return IN + 16 + len(name) + 1, OUT + ENTRY + OPEN


def write(size):
    return IN + 40 + size, OUT + 8


def readdirplus(*names):
    return IN + 40, OUT + sum((DIRENTPLUS + len(n) + 7) // 8 * 8 for n in names)


FSYNC = (IN + 16, OUT)
FLUSH = (IN + 24, OUT)
RELEASE = (IN + 24, OUT)
OPENDIR = (IN + 8, OUT + OPEN)
READDIR_END = (IN + 40, OUT)


def unlink(name):
    return IN + len(name) + 1, OUT


def total(requests):
    """[(how many, (bytes in, bytes out)), ...] -> all bytes in, all bytes out."""
    return (sum(n * size[0] for n, size in requests), sum(n * size[1] for n, size in requests))
