# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of part-trace.sh: what `vqsteer trace` prints, against a `vqsteer stat` and an
unfiltered trace of the same requests."""
import collections
import re

import counts
import snap
from snap import HIST_ERROR, exact_percentile

SLOWER_NS = 10_000_000


def whole_ns(record):
    """What --slower looks at: until the waiter runs."""
    return record["hops"].get("total", 0) + record["hops"].get("wake", 0)


def by_unique(records):
    return {r["unique"]: r for r in records if r["tag"] == "data"}


def judge_all(report, everything, before, after):
    """One record per request, with the hops of a synchronous request."""
    seen = dict(collections.Counter(r["op"] for r in everything))
    expected = counts.ops_gained(before, after)
    missing = {op: n - seen.get(op, 0) for op, n in expected.items() if n != seen.get(op, 0)}
    report.check("all.ops", set(seen) <= set(expected) and not missing,
                 "%s, missing %s" % (seen, missing))
    strange = [r for r in everything if r["queue"] != 1 or r["tag"] != "data" or
               not {"input", "device", "complete", "total"} <= set(r["hops"])]
    report.check("all.fields", not strange, "%d of %d records strange: %s" %
                 (len(strange), len(everything), strange[:1]))
    # Now and then a file is released in the background.
    parts = ("background", "input", "device", "complete")
    uneven = [r for r in everything
              if r["hops"].get("total") != sum(r["hops"].get(hop, 0) for hop in parts)]
    report.check("all.parts", not uneven, "%d of %d records: total is not the sum of its parts: %s" %
                 (len(uneven), len(everything), uneven[:1]))


def judge_filters(report, records, everything):
    of = {name: snap.load_lines(records.file("trace/%s.out" % name))
          for name in ("op", "pid", "slower", "errors")}
    ops = collections.Counter(r["op"] for r in of["op"])
    report.equal("op", dict(ops), {"WRITE": 50})
    pid = int(records.text("trace.pid"))
    pids = collections.Counter(r["pid"] for r in of["pid"])
    report.equal("pid.only", set(pids), {pid}, "pids")
    wanted = sorted(u for u, r in by_unique(everything).items() if r["pid"] == pid)
    report.equal("pid.all", sorted(by_unique(of["pid"])), wanted, "uniques")
    report.at_least("pid.writes", sum(r["op"] == "WRITE" for r in of["pid"]), 50)
    wanted = sorted(u for u, r in by_unique(everything).items() if "error" in r)
    report.equal("errors.all", sorted(by_unique(of["errors"])), wanted, "uniques")
    kinds = collections.Counter((r["op"], r.get("errno")) for r in of["errors"])
    report.equal("errors.kinds", dict(kinds), {("LOOKUP", "ENOENT"): 20})
    judge_slower(report, by_unique(of["slower"]), by_unique(everything))


def judge_slower(report, slower, everything):
    """30 requests were held for 20 ms. The other trace has its own clock readings, some microseconds
    away, or more where the emulated CPU was taken away in between: hence a fifth of slack in time and
    one in twenty in number."""
    fast = [whole_ns(r) for r in slower.values() if whole_ns(r) < SLOWER_NS]
    report.check("slower.only", not fast, "%d of %d are faster than 10 ms: %s" %
                 (len(fast), len(slower), fast[:3]))
    missing = [u for u, r in everything.items()
               if whole_ns(r) >= SLOWER_NS * 1.2 and u not in slower]
    slack = 1 + len(slower) // 20
    report.check("slower.all", len(missing) <= slack and len(slower) >= 30,
                 "%d records, %d requests of 12 ms and more missing" % (len(slower), len(missing)))
    extra = [whole_ns(everything[u]) for u in slower if whole_ns(everything[u]) < SLOWER_NS * 0.8]
    report.check("slower.extra", len(extra) <= slack,
                 "%d of %d took less than 8 ms by the other trace: %s" %
                 (len(extra), len(slower), extra[:3]))


def judge_percentiles(report, everything, before, after):
    """stat's percentiles against the exact ones of the same requests. Two vqsteers read the clock
    one after the other, so a value differs by some microseconds, and by more in the few requests
    where the emulated CPU was taken away in between: half a per cent of rank and a fiftieth of the
    value are allowed on top of the histogram's own 1/16."""
    for hop in ("total", "device"):
        exact = [r["hops"][hop] for r in everything if r["end_ns"] <= after["time"]["mono_ns"]]
        hist = counts.gained_hist(before, after, hop)
        report.between("percentiles.%s.count" % hop, hist.count, 0.99 * len(exact),
                       1.01 * len(exact), "requests")
        for per_mille in (500, 900, 990):
            low = exact_percentile(exact, max(1, per_mille - 5)) * (1 - HIST_ERROR - 0.02)
            high = exact_percentile(exact, min(1000, per_mille + 5)) * (1 + HIST_ERROR + 0.02)
            report.between("percentiles.%s.p%d" % (hop, per_mille // 10), hist.percentile(per_mille),
                           low, high, "of %d, exact %d:" %
                           (len(exact), exact_percentile(exact, per_mille)))


def judge_lost(report, records):
    kept = len(snap.load_lines(records.file("trace/lost.out")))
    said = re.findall(r"(\d+) more records lost, (\d+) in all", records.text("trace/lost.err"))
    lost = int(said[-1][1]) if said else 0
    report.at_least("lost", lost, 1, "records lost as said")
    report.equal("accounted", kept + lost, 3000, "%d kept + %d lost" % (kept, lost))
    report.equal("sum", sum(int(more) for more, _ in said), lost, "of what was said in turn")
    early = re.findall("records lost", records.text("trace/lost.said"))
    report.at_least("early", len(early), 1, "said while running")


def judge(report, records):
    everything = snap.load_lines(records.file("trace/all.out"))
    snaps = [records.snap("traced.%d" % i) for i in range(3)]
    with report.group("trace"):
        judge_all(report, everything, snaps[0], snaps[2])
        judge_filters(report, records, everything)
        judge_percentiles(report, everything, snaps[0], snaps[1])
        report.equal("left", records.text("trace.left").split(), ["[]", "[]"], "programs, links")
    with report.group("trace.lost"):
        judge_lost(report, records)
