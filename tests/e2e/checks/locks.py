# SPDX-License-Identifier: GPL-2.0-or-later
"""Contended waits for locks between two snapshots."""
import conservation
import counts
from snap import IQUEUE, VQ, Hist, all_locks


class Waits:
    """Waits for each lock between two snapshots, by (where, name)."""

    def __init__(self, before, after):
        old = {(where, l["lock"]): l for where, l in all_locks(before)}
        self.lock = {}
        for where, l in all_locks(after):
            key = (where, l["lock"])
            self.lock[key] = (old.get(key, {}), l)

    def contended(self, where, name):
        before, after = self.lock[(where, name)]
        return after["contended"] - before.get("contended", 0)

    def acquisitions(self, where, name):
        before, after = self.lock[(where, name)]
        return after.get("acquisitions", 0) - before.get("acquisitions", 0)

    def hist(self, where, name):
        before, after = self.lock[(where, name)]
        return Hist(after.get("wait")).since(Hist(before.get("wait")))

    def longest(self, where, name):
        return Hist(self.lock[(where, name)][1].get("wait")).max

    def all_ns(self):
        return sum(self.hist(*key).sum for key in self.lock)


def judge_contended(report, waits, where, name, prefix=""):
    """@name was waited for, and its figures fit each other."""
    hist, n = waits.hist(where, name), waits.contended(where, name)
    p50, p99, longest = hist.percentile(500), hist.percentile(990), waits.longest(where, name)
    report.at_least(prefix + name + ".contended", n, 1)
    report.equal(prefix + name + ".timed", hist.count, n, "waits in the histogram")
    # A percentile is the middle of its bucket: the longest may be in the lower half of it.
    report.check(prefix + name + ".lengths", longest * 17 / 16 >= p99 >= p50 > 0,
                 "longest %d >= p99 %d >= p50 %d > 0 ns" % (longest, p99, p50))
    share = n / max(1, waits.acquisitions(where, name))
    report.check(prefix + name + ".ratio", 0 < share < 1, "%d of %d acquisitions, 0 < %.4f < 1" %
                 (n, waits.acquisitions(where, name), share))


def judge_sync(report, records):
    before, after = records.pair("sync")
    waits = Waits(before, after)
    judge_contended(report, waits, "data/1", VQ)
    judge_contended(report, waits, "data", IQUEUE)
    calls = sum(records.json("sync.calls.%d" % i)["calls"] for i in (1, 2, 3)
                if records.has("sync.calls.%d" % i))
    counts.judge_getattrs(report, before, after, calls)
    conservation.all_followed(report, "sums", after)
    conservation.quiet(report, "quiet", after)
