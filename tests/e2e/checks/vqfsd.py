# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of guest-vqfsd.sh: a guest over vqfsd, standing still and being moved. What
can be had without a guest was, on the same file system: DIR.host."""
import json
import os
import re

from snap import exact_percentile, grown

QUEUES = [1, 2, 3, 4]
PARTS = ("tree", "clone", "verified", "names", "free", "model")


def host(records, name):
    path = os.path.join(records.path, "..", "vqfsd-%s.host" % records.kernel, name)
    with open(path, encoding="utf-8") as f:
        return f.read()


def submitted(snapshot):
    """Requests by queue; vqsteer knows no device before its first request."""
    return {q["index"]: q["conservation"]["submitted"]
            for d in snapshot["devices"] if d["tag"] == "data" for q in d["queues"]}


def carried(before, after):
    """Requests by request queue in this window."""
    gain = grown(submitted(before), submitted(after))
    return {i: n for i, n in gain.items() if i}


def one_queue(records):
    return records.version < (6, 11)


def judge_boot(report, records):
    report.check("kernel", records.text("release").startswith(records.kernel + "."),
                 records.text("release"))
    mounts = [line.split()[:3] for line in records.text("mounts").splitlines()]
    report.check("mounts", ["root", "/", "virtiofs"] in mounts and
                 ["data", "/mnt/data", "virtiofs"] in mounts, mounts[:3])
    report.equal("cpus", int(records.text("cpus")), 4)


def judge_queues(report, records):
    before, after = records.pair("queues")
    calls, seen = records.json("queues.calls")["calls"], carried(before, after)
    report.equal("called", calls, 1200)
    fact = [f for f in records.json("doctor.out")["facts"] if f["id"] == "multiqueue"][0]
    if one_queue(records):
        report.check("only_first", list(seen) == [1] and seen[1] >= calls, "requests %s" % seen)
        report.check("doctor", fact["verdict"] == "warn" and
                     "only the first request queue" in fact["value"], fact)
    else:
        report.check("all", list(seen) == QUEUES and all(n >= 300 for n in seen.values()),
                     "requests by queue %s, 300 from each CPU" % seen)
        report.check("doctor", fact["verdict"] == "ok", fact)


def judge_tree(report, records, phase):
    lines = records.text(phase + "/tree.out").split()
    report.equal("tree.built", lines, ["214", host(records, "sum").strip()],
                 "entries unpacked, what the program says:")


def judge_clone(report, records, phase):
    report.equal("clone.head", records.text(phase + "/clone.out").split(),
                 [host(records, "head").strip()])


def judge_fio(report, records, phase):
    jobs = {}
    text = records.text(phase + "/verified.out")
    for job in json.loads(text[text.index("{"):])["jobs"]:
        name = job["jobname"]
        old = jobs.get(name, (0, 0, 0))
        jobs[name] = (old[0] + job["write"]["io_bytes"], old[1] + job["read"]["io_bytes"],
                      old[2] + job["error"])
    report.equal("verified.direct", jobs["direct"], (4 << 20, 4 << 20, 0), "written, read, errors")
    report.equal("verified.large", jobs["large"], (8 << 20, 8 << 20, 0), "written, read, errors")
    written, read, errors = jobs["mixed"]
    report.check("verified.mixed", written and read > written and not errors,
                 "%d bytes written, %d read, %d errors" % (written, read, errors))


def judge_names(report, records, phase):
    got, want = records.json(phase + "/names.out"), json.loads(host(records, "names.out"))
    for part in want:
        report.equal("names." + part, got[part], want[part])
    blocks = int(records.text(phase + "/free.out").split()[1])
    report.equal("df", blocks, want["space"]["bytes"] // 1024, "KiB in all:")


def judge_model(report, records, phase):
    lines = [json.loads(line) for line in records.text(phase + "/model.out").splitlines()]
    done = {}
    for line in lines:
        for op, n in line["done"].items():
            done[op] = done.get(op, 0) + n
    report.check("model.operations", len(lines) == 4 and min(done.values()) > 0 and
                 not any(line["refused"] for line in lines), "%d checkers: %s" % (len(lines), done))


def judge_phase(report, records, phase):
    for part in PARTS:
        said = records.text("%s/%s.err" % (phase, part)).strip()
        report.equal(part, records.exit("%s/%s" % (phase, part)), 0,
                     "%s exit status" % said[-400:])
    for judge_part in (judge_tree, judge_clone, judge_fio, judge_names, judge_model):
        try:
            judge_part(report, records, phase)
        except (KeyError, ValueError, IndexError, OSError) as e:
            report.check(judge_part.__name__, False, "%s: %s" % (type(e).__name__, e))


def mapping(status):
    return [(q["queue"], q["worker"], q["engine"], q["threshold"]) for q in status["queues"]]


def judge_moves(report, records):
    moves = records.json("moves.json")
    done, seconds = moves["acknowledged"], moves["seconds"]
    report.check("errors", not moves["errors"] and not moves["cancelled"],
                 "%d errors, %d cancelled of %d: %s" % (len(moves["errors"]), moves["cancelled"],
                                                        sum(done.values()), moves["errors"][:3]))
    report.check("moved", done["move-queue"] >= 5 * seconds and
                 done["set-engine"] == done["move-queue"],
                 "%.1f s, acknowledged: %s" % (seconds, done))
    pauses = moves["pauses_ns"]
    report.check("pauses", pauses and max(pauses) > 0,
                 "us: p50 %.0f, p99 %.0f, max %.0f" % tuple(n / 1000 for n in (
                     exact_percentile(pauses, 500), exact_percentile(pauses, 990), max(pauses))))
    popped = {q["queue"]: q["popped"] for q in moves["after"]["queues"] if q["queue"]}
    used = [i for i in popped if popped[i]]
    report.equal("used", used, [1] if one_queue(records) else QUEUES,
                 "popped by queue %s, used" % popped)
    counted = sum(q["moves"] for q in moves["after"]["queues"])
    report.check("counted", 0 < counted, "%d moves to another worker, by the daemon" % counted)
    states = {word for q in moves["reverted"]["queues"] for word in q["state"]}
    report.check("states", "broken" not in states and "drained" not in states, sorted(states))
    report.equal("reverted", mapping(moves["reverted"]), mapping(moves["before"]),
                 "queue, worker, engine, threshold:")
    report.equal("workers", (len(moves["reverted"]["workers"]), moves["reverted"]["pool_size"]),
                 (len(moves["before"]["workers"]), moves["before"]["pool_size"]))


def judge(report, records):
    with report.group("boot"):
        judge_boot(report, records)
    with report.group("queues"):
        judge_queues(report, records)
    for phase in ("still", "moving"):
        with report.group(phase):
            judge_phase(report, records, phase)
    with report.group("moves"):
        judge_moves(report, records)
    with report.group("log"):
        report.equal("unmounted", records.exit("unmount"), 0)
        bad = [line for line in records.text("dmesg").splitlines()
               if re.search(r"virtio-fs:|Oops|BUG:|blocked for more than", line)]
        report.check("quiet", not bad, "%d lines: %s" % (len(bad), bad[:3]))
