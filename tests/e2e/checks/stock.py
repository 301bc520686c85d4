# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of guest-stock.sh: one queue of a stock daemon under changing loads."""
import conservation
import counts
import doctor
import locks
import rungs
from snap import BG, CONN, IQUEUE, PQUEUE, VQ, device, lock, queue

HOLDS_US = (10000, 40000)  # the host's scheduler adds its 4 ms slices to some


def judge_background(report, records):
    before, after = records.pair("aio")
    locks.judge_contended(report, locks.Waits(before, after), "data", BG)
    reads = counts.fio_reads(records.json("aio.fio"))
    expected = dict(counts.ops_gained(before, after), READ=reads)  # fio opens as often as it likes
    counts.judge_ops(report, "reads", before, after, expected)
    # A file that is closed while a read of it is under way is released in the background.
    report.between("background", counts.gained(before, after, "background"), reads,
                   reads + expected.get("RELEASE", 0), "in the background queue")
    conservation.all_followed(report, "sums", after)
    conservation.quiet(report, "quiet", after)


def judge_hold(report, records, hold_us):
    """Waits for a lock that is held for a known time. Two submitters meet at the lock, so the
    commonest wait is a whole hold. Not the median: an emulated CPU that holds the lock or has just
    got it is taken off its own now and then, which stretches a part of the waits on a busy machine."""
    before, after = records.pair("hold.%d" % hold_us)
    held = records.json("hold.%d.held" % hold_us)
    calls = records.json("hold.%d.calls" % hold_us)["calls"]
    waits = locks.Waits(before, after)
    hist = waits.hist("data/1", VQ)
    report.at_least("held", held["holds"], max(50, calls), "times")
    report.at_least("waits", hist.count, 20)
    report.between("length", hist.commonest() / (hold_us * 1000), 0.7, 1.5,
                   "commonest of %d waits is %d ns (median %d, mean hold %d): ratio" %
                   (hist.count, hist.commonest(), hist.percentile(500), held["mean_ns"]))
    mine, everything = hist.sum, waits.all_ns()
    report.at_least("right_lock", mine / everything, 0.9,
                    "virtio_fs_vq.lock of data/1 has %d of %d ns waited: share" % (mine, everything))
    other = waits.hist("root/1", VQ)
    report.check("other_device", other.count <= waits.acquisitions("root/1", VQ) and
                 other.sum <= 0.05 * mine,
                 "virtio_fs_vq.lock of root/1: %d waits of %d acquisitions, %d ns, at most 5%% of %d" %
                 (other.count, waits.acquisitions("root/1", VQ), other.sum, mine))
    conservation.quiet(report, "quiet", after)
    return hist.commonest()


def judge_remount(report, records, turn):
    gone, other, back = (records.snap("remount.%d.%s" % (turn, moment))
                         for moment in ("gone", "other", "back"))
    for moment, snapshot, known in (("gone", gone, False), ("back", back, True)):
        report.equal(moment + ".mounted", device(snapshot)["mounted"], known)
        learnt = {name: lock(device(snapshot), name)["learnt"] for name in (IQUEUE, BG, CONN)}
        learnt[PQUEUE] = lock(queue(snapshot), PQUEUE)["learnt"]
        report.check(moment + ".learnt", set(learnt.values()) == {known}, learnt)
        conservation.quiet(report, moment, snapshot)
    waits = locks.Waits(gone, other)
    stale = {"%s %s" % key: waits.contended(*key) for key in waits.lock if key[0][:4] == "data"}
    report.check("stale", set(stale.values()) == {0}, "waits while not mounted: %s" % stale)
    calls = records.json("remount.%d.calls" % turn)["calls"]
    gain = counts.ops_gained(other, back)
    # The first look at the mount asks for its root's attributes and for the file's name.
    report.equal("counted", gain, {"INIT": 1, "GETATTR": calls + 1, "LOOKUP": 1})
    gain = counts.ops_gained(gone, other)
    report.equal("silent", gain, {}, "while not mounted")


def judge(report, records):
    with report.group("counts"):
        counts.judge(report, records)
    with report.group("sync"):
        locks.judge_sync(report, records)
    with report.group("background"):
        judge_background(report, records)
    lengths = []
    for hold_us in HOLDS_US:
        with report.group("hold.%d" % hold_us):
            lengths.append(judge_hold(report, records, hold_us))
    with report.group("hold"):
        report.between("ratio", lengths[1] / lengths[0], 2.5, 6,
                       "commonest waits %d and %d ns for holds of 40 and 10 ms: ratio" %
                       (lengths[1], lengths[0]))
    for turn in (1, 2, 3):
        with report.group("remount.%d" % turn):
            judge_remount(report, records, turn)
    rungs.judge(report, records)
    with report.group("doctor"):
        doctor.judge(report, records)
    with report.group("end"):
        for name in ("main", "best", "kprobe"):
            report.equal(name + ".exit", records.exit(name), 0)
        report.equal("left", records.text("end.left").split(), ["[]", "[]"], "programs, links")
