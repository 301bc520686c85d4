# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of part-input.sh: each refusal has its exit status and a message that names
the thing, the reason and the remedy; nothing stays attached."""
import re

OK, USAGE, PRIVILEGE, UNSUPPORTED, NO_DEVICE, MEMORY, OUTPUT = 0, 2, 3, 4, 5, 6, 7

# name: exit status, and what the message must say: thing, reason, remedy.
REFUSED = {
    "not-root": (PRIVILEGE, "trace the kernel", "CAP_BPF and CAP_PERFMON", "as root"),
    "not-root-trace": (PRIVILEGE, "trace the kernel", "CAP_BPF and CAP_PERFMON", "as root"),
    "tag": (NO_DEVICE, "tag .nowhere.", r"mounted: .*data", "choose one"),
    "queue": (NO_DEVICE, "--queue", "no queue 200", "give 0 .* or 1"),
    "queue-value": (USAGE, "--queue", r"\"x\"|.x.", "such as --queue 1"),
    "interval": (USAGE, "--interval", r"\"0\"|.0.", "such as -i 1"),
    "count": (USAGE, "--count", "-1", "such as -n 10"),
    "op": (USAGE, "--op", "NOSUCH", "such as --op READ"),
    "slower": (USAGE, "--slower", "5parsec", "such as"),
    "slots": (USAGE, "--slots", "100", "power of two"),
    "rungs": (USAGE, "--rungs", "uprobe", "fentry, kprobe and tracepoint"),
    "option": (USAGE, "frobnicate", "option", "--help"),
    "command": (USAGE, "frobnicate", "command", "--help|help"),
    "memory": (MEMORY, "BPF maps", "--max-memory", "raise it or lower --slots"),
    "btf-missing": (None, "--btf", "nowhere", "No such file"),
    "btf-garbage": (None, "--btf", "garbage", "give|make|kernel build"),
    "tracepoint-only": (UNSUPPORTED, "cannot attach to", "no rung|rung", "--rungs"),
}


def judge_message(report, name, err, patterns):
    silent = [p for p in patterns if not re.search(p, err)]
    report.check(name + ".says", not silent and err.startswith("vqsteer"),
                 "%s%s" % (err.strip(), "; not said: %s" % silent if silent else ""))
    report.at_least(name + ".short", 4, err.count("\n"), "lines of message; limit")


def judge_refused(report, records):
    for name, (code, *patterns) in REFUSED.items():
        got = records.exit("input/" + name)
        if code is None:
            report.check(name + ".exit", got in (1, USAGE, UNSUPPORTED),
                         "%d, expected 1, 2 or 4" % got)
        else:
            report.equal(name + ".exit", got, code)
        judge_message(report, name, records.text("input/%s.err" % name), patterns)
        report.equal(name + ".quiet", records.text("input/%s.out" % name), "", "on standard output")


def judge_unwritable(report, records):
    for name in ("full", "full-json"):
        report.equal(name + ".exit", records.exit("input/" + name), OUTPUT)
        judge_message(report, name, records.text("input/%s.err" % name),
                      ("write", "No space left", "free some space|elsewhere"))
    report.equal("closed.exit", records.exit("input/closed"), OUTPUT)
    lines = records.text("input/closed.out").splitlines()
    report.equal("closed.lines", len(lines), 1)
    said = [l for l in records.text("input/closed.err").splitlines() if "BPF maps take" not in l]
    report.equal("closed.says", said, [], "nothing: who closed the pipe knows;")


def judge_ended(report, records):
    for name, code in (("int", OK), ("term", OK), ("hup", OK), ("kill", 128 + 9)):
        report.equal(name + ".exit", records.exit("input/" + name), code)
    table = records.text("input/int.out")
    wide = [l for l in table.splitlines() if len(l) > 80]
    report.check("int.table", "GETATTR" in table and "everything since start" in table
                 and not wide, "a summary in %d lines, %d wider than 80" % (table.count("\n"), len(wide)))
    lines = records.text("input/term.out").splitlines()
    report.check("term.lines", lines and all(l[0] == "{" and l[-1] == "}" for l in lines),
                 "%d whole lines" % len(lines))
    before = records.text("input/before-kill").split("\n")[0]
    report.check("kill.attached", "fexit" in before or "fentry" in before,
                 "%d bytes of programs before the kill" % len(before))


def judge(report, records):
    with report.group("refused"):
        judge_refused(report, records)
    with report.group("unwritable"):
        judge_unwritable(report, records)
    with report.group("ended"):
        judge_ended(report, records)
    with report.group("input"):
        for name in ("refused", "unwritable", "ended"):
            report.equal("left.after." + name, records.text("input/%s.left" % name).split(),
                         ["[]", "[]"], "programs, links")
