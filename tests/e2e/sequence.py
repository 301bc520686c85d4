#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sequence.py DIR: system calls whose FUSE requests are known exactly (checks/counts.py has them).

DIR is a virtio-fs mount whose daemon lets names and attributes be cached for good, and which has
been looked at before, so that nothing depends on how long a step takes.
"""
import os
import sys

os.chdir(sys.argv[1])
fd = os.open("new", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
for _ in range(7):
    os.pwrite(fd, bytes(4096), 0)
for _ in range(3):
    os.fsync(fd)
os.close(fd)
os.unlink("new")
for i in range(5):
    try:
        os.stat("absent%d" % i)
    except FileNotFoundError:
        pass
names = sorted(os.listdir("dir"))
assert names == ["a", "bb", "ccc"], names
