# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of requests whose number is known: what `load` and sequence.py of the guest ask for."""
import conservation
import wire
from snap import Hist, grown, has_queue, ops, queue

# sequence.py over a daemon that lets everything be cached. Verified with a bpftrace script on
# fuse_request_end of each kernel. LOOKUP: "new" before its CREATE, then five names that are absent.
SEQUENCE = {
    "LOOKUP": (6, None), "CREATE": (1, wire.create("new")), "WRITE": (7, wire.write(4096)),
    "FSYNC": (3, wire.FSYNC), "FLUSH": (1, wire.FLUSH), "RELEASE": (1, wire.RELEASE),
    "UNLINK": (1, wire.unlink("new")), "OPENDIR": (1, wire.OPENDIR),
    "READDIRPLUS": (1, wire.readdirplus(".", "..", "a", "bb", "ccc")),
    "READDIR": (1, wire.READDIR_END), "RELEASEDIR": (1, wire.RELEASE),
    "GETATTR": (3, wire.GETATTR),
}


def sequence(version):
    """Expected requests by opcode, and bytes."""
    expected = dict(SEQUENCE)
    # opendir() asks for the directory's attributes: reading it before has aged its atime. Until
    # Linux 6.12 a directory's own change (CREATE, UNLINK) also makes its mode stale, which the next
    # path through it asks for again.
    expected["GETATTR"] = ((3 if version < (6, 13) else 1), wire.GETATTR)
    sizes = [e for op, e in expected.items() if op != "LOOKUP"]
    sizes += [(1, wire.lookup("new", found=False)), (5, wire.lookup("absent0", found=False))]
    return {op: n for op, (n, _) in expected.items()}, wire.total(sizes)


def gained(before, after, key):
    return queue(after)[key] - (queue(before)[key] if before_has(before) else 0)


def before_has(snapshot):
    """A queue that has not worked yet is not in a snapshot."""
    try:
        return has_queue(snapshot, 1)
    except LookupError:
        return False


def ops_gained(before, after):
    return grown(ops(queue(before)) if before_has(before) else {}, ops(queue(after)))


def errors_gained(before, after):
    old = queue(before).get("errors", {}) if before_has(before) else {}
    return grown(old, queue(after).get("errors", {}))


def judge_ops(report, name, before, after, expected):
    """Exactly the @expected requests by opcode."""
    report.equal(name, ops_gained(before, after), {op: n for op, n in expected.items() if n})


def judge_getattrs(report, before, after, calls, name="getattr"):
    """@calls GETATTRs, and nothing else, were made in between."""
    judge_ops(report, name + ".ops", before, after, {"GETATTR": calls})
    size = wire.total([(calls, wire.GETATTR)])
    report.equal(name + ".bytes", (gained(before, after, "bytes_in"),
                                   gained(before, after, "bytes_out")), size)


def judge_sequence(report, before, after, version):
    expected, size = sequence(version)
    report.equal("sequence.ops", ops_gained(before, after), expected)
    report.equal("sequence.bytes", (gained(before, after, "bytes_in"),
                                    gained(before, after, "bytes_out")), size)
    report.equal("sequence.errors", errors_gained(before, after), {"ENOENT": 6})
    forgets = [queue(s, 0)["conservation"]["submitted"] if has_queue(s, 0) else 0
               for s in (before, after)]
    report.equal("sequence.forgets", forgets[1] - forgets[0], 1, "hiprio submitted")


def fio_reads(said):
    """Reads that fio made, each of them one READ: they are direct and small."""
    return sum(job["read"]["total_ios"] for job in said["jobs"])


def judge_hops(report, name, before, after):
    """Each hop of synchronous requests was measured once per request, and the parts of a request
    are no longer than the whole."""
    requests = gained_hist(before, after, "total").count
    for hop in ("input", "device", "complete", "wake"):
        report.equal("%s.%s" % (name, hop), gained_hist(before, after, hop).count, requests)
    parts = sum(gained_hist(before, after, hop).sum for hop in ("input", "device", "complete"))
    whole = gained_hist(before, after, "total").sum
    report.equal(name + ".parts", parts, whole, "ns in input + device + complete")


def gained_hist(before, after, hop):
    old = Hist(queue(before)["hops"].get(hop)) if before_has(before) else Hist()
    return Hist(queue(after)["hops"].get(hop)).since(old)


def judge(report, records):
    """Records counts.0, .1 (500 GETATTRs later), .2 (and sequence.py)."""
    snaps = [records.snap("counts.%d" % i) for i in range(3)]
    report.equal("called", records.json("counts.calls")["calls"], 500)
    judge_getattrs(report, snaps[0], snaps[1], 500)
    judge_hops(report, "getattr.hops", snaps[0], snaps[1])
    judge_sequence(report, snaps[1], snaps[2], records.version)
    conservation.all_followed(report, "sums", snaps[2])
    conservation.quiet(report, "quiet", snaps[2])
