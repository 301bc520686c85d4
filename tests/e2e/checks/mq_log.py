# SPDX-License-Identifier: GPL-2.0-or-later
"""The test device's own account (mqfsd --log): a line for each request it pushed, ring by ring."""
import collections
import errno
import json

from snap import device


class DeviceLog:
    def __init__(self, path):
        self.queue = collections.defaultdict(list)
        with open(path, encoding="utf-8") as f:
            for line in f:
                request = json.loads(line)
                self.queue[request["queue"]].append(request)

    def of(self, index, first=0, last=None):
        return self.queue[index][first:last]

    def between(self, before, after, index=None, op=None):
        """What the device pushed between two snapshots taken when all was quiet: on each ring
        replies are collected in the order they are pushed, so counts are positions."""
        old, found = completed(before), []
        for i, last in completed(after).items():
            if index in (None, i):
                found += [r for r in self.of(i, old.get(i, 0), last) if op in (None, r["op"])]
        return found


def completed(snapshot):
    return {q["index"]: q["conservation"]["completed"] for q in device(snapshot)["queues"]}


def handled_ns(requests):
    return [r["push_ns"] - r["pop_ns"] for r in requests]


def by_op(requests):
    return dict(collections.Counter(r["op"] for r in requests))


def by_errno(requests):
    return dict(collections.Counter(errno.errorcode[r["error"]] for r in requests if r["error"]))
