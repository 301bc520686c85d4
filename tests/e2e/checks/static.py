# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of guest-static.sh: the static vqsteer where there is nothing but a kernel."""
import json

from snap import device, ops

CLI_USAGE = 2  # what `top` ends with where there is no terminal, see vqsteer-top(1)


def judge_stat(report, records):
    lines = [json.loads(line) for line in records.text("json.out").splitlines()]
    report.equal("lines", len(lines), 2)
    report.equal("schema", {line["schema"] for line in lines}, {"vqsteer/1"})
    counts = [sum(sum(ops(q).values()) for q in device(line)["queues"]) for line in lines]
    report.check("traffic", 0 < counts[0] < counts[1], "requests at both lines: %s" % counts)
    report.equal("queues", device(lines[-1])["request_queues"], 4)
    text = records.text("text.out")
    widest = max(len(line) for line in text.splitlines())
    report.check("text", "4 request queues" in text and "READ" in text and widest <= 80,
                 "%d lines, the widest has %d columns" % (len(text.splitlines()), widest))


def judge(report, records):
    report.check("empty", "usr" not in records.text("root").split() and records.exit("file") != 0,
                 "root: %s" % records.text("root"))
    for name in ("doctor", "text", "json", "trace"):
        with report.group(name):
            report.equal("exit", records.exit(name), 0, "%s: exit status" %
                         records.text(name + ".err").strip())
    with report.group("doctor"):
        probes = records.json("doctor.out")["probes"]
        report.check("probes", len(probes) > 10, "%d probes" % len(probes))
    with report.group("stat"):
        judge_stat(report, records)
    with report.group("trace"):
        lines = [json.loads(line) for line in records.text("trace.out").splitlines()]
        report.equal("records", (len(lines), {line["schema"] for line in lines}),
                     (20, {"vqsteer-trace/1"}))
    with report.group("top"):
        report.equal("exit", records.exit("top"), CLI_USAGE)
        report.check("says", "terminal" in records.text("top.err"), records.text("top.err"))
    with report.group("end"):
        before, during, after = (records.text("programs.%s" % moment).split()
                                 for moment in ("before", "during", "after"))
        report.check("seen", int(during[0]) > int(before[0]) and int(during[1]) > int(before[1]),
                     "descriptors, programs: %s before, %s while it runs" % (before, during))
        report.equal("left", after, before, "descriptors, programs")
