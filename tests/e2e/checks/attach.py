# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of part-attach.sh."""
import conservation
import counts
from snap import ops, queue

def judge_midway(report, records):
    quiet, after = records.snap("midway.quiet"), records.snap("midway.after")
    conservation.quiet(report, "quiet", quiet)
    q = queue(quiet)
    terms = q["conservation"]
    report.at_least("cause", terms["complete_only"] + q["start_missed"], 1,
                    "complete_only %d, start_missed %d: sum" %
                    (terms["complete_only"], q["start_missed"]))
    # What was followed from its start on has a total; the rest is named.
    timed = sum(ops(q).values())
    report.equal("named", timed, terms["completed"] - terms["complete_only"] - q["start_missed"],
                 "requests timed whole")
    counts.judge_getattrs(report, quiet, after, 100, "getattr")


def judge_flood(report, records):
    snapshot = records.snap("flood.1")
    conservation.quiet(report, "quiet", snapshot)
    terms = queue(snapshot)["conservation"]
    report.at_least("untracked", terms["untracked_slot_taken"], 1)
    reads = counts.fio_reads(records.json("flood.fio"))
    opened = {"LOOKUP", "GETATTR", "OPEN", "FLUSH", "RELEASE"}  # fio's own, of which some are untracked too
    report.between("submitted", terms["submitted"], reads, reads + 64, "READs and fio's opens")
    report.check("followed", set(ops(queue(snapshot))) <= opened | {"READ"}, ops(queue(snapshot)))


def judge(report, records):
    with report.group("midway"):
        judge_midway(report, records)
    with report.group("flood"):
        judge_flood(report, records)
    with report.group("attach"):
        for name in ("midway", "flood"):
            report.equal(name + ".exit", records.exit(name), 0)
        report.equal("left", records.text("attach.left").split(), ["[]", "[]"], "programs, links")
