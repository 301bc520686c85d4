# SPDX-License-Identifier: GPL-2.0-or-later
"""waited.py BEFORE AFTER: in the guest; succeeds when every lock that synchronous requests contend
for has been waited for in between: fuse_iqueue.lock is, only a few times a second."""
import sys

from snap import IQUEUE, VQ, device, load, lock, queue

before, after = load(sys.argv[1]), load(sys.argv[2])
gains = [lock(queue(after), VQ)["contended"] - lock(queue(before), VQ)["contended"],
         lock(device(after), IQUEUE)["contended"] - lock(device(before), IQUEUE)["contended"]]
sys.exit(0 if min(gains) > 0 else 1)
