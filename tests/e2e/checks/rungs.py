# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges two vqsteers at once, one on the best rungs and one on kprobes, and their accounts of themselves."""
import conservation
import counts
import locks
from snap import BG, VQ, queue

# Run for each request; what else is attached runs for locks, forgets, mounts. The wake-up is seen
# where the waiter goes on (fentry) or gives the request back (kprobe).
BUSY = ({"fuse_args_to_req"}, {"virtqueue_add_sgs"}, {"virtqueue_get_buf"}, {"fuse_request_end"},
        {"request_wait_answer", "fuse_put_request"}, {"virtqueue_notify"}, {"virtio_fs_vq_done"})


def judge_two(report, records):
    """Two at once, and the second one's rung: they saw the same requests."""
    calls = 300 + records.json("two.calls.8")["calls"]
    reads = counts.fio_reads(records.json("two.fio"))
    submitted = {}
    for name in ("best", "kprobe"):
        before, after = records.snap("two.%s.0" % name), records.snap("two.%s.1" % name)
        expected = dict(counts.ops_gained(before, after), GETATTR=calls, READ=reads)
        counts.judge_ops(report, name + ".counts", before, after, expected)
        submitted[name] = (queue(after)["conservation"]["submitted"], queue(after)["bytes_in"],
                           queue(after)["bytes_out"])
        conservation.all_followed(report, name + ".sums", after)
        conservation.quiet(report, name, after)
        waits = locks.Waits(before, after)
        locks.judge_contended(report, waits, "data/1", VQ, name + ".")
        locks.judge_contended(report, waits, "data", BG, name + ".")
    report.equal("same", submitted["kprobe"], submitted["best"], "requests, bytes by kprobes")


def judge_self(report, records, name, rungs):
    before, after = records.snap("two.%s.0" % name), records.snap("two.%s.1" % name)
    old = {(p["name"], p["rung"]): p for p in before["self"]["programs"]}
    programs = [p for p in after["self"]["programs"] if p["rung"] != "syscall"]
    used = {p["rung"] for p in programs}
    report.check("rungs", used <= rungs, "%s, allowed %s" % (sorted(used), sorted(rungs)))
    report.check("timed", after["self"]["timed"], "timed %s" % after["self"]["timed"])
    for names in BUSY:
        runs = [(p["runs"] - old[(p["name"], p["rung"])]["runs"],
                 p["run_ns"] - old[(p["name"], p["rung"])]["run_ns"])
                for p in programs if p["name"] in names]
        report.check("runs." + "|".join(sorted(names)), runs and all(n > 0 and ns > 0 for n, ns in runs),
                     "runs and ns: %s" % runs)
    ends = sum(p["runs"] - old[(p["name"], p["rung"])]["runs"] for p in programs
               if p["name"] == "fuse_request_end")
    requests = sum(counts.ops_gained(before, after).values())
    report.at_least("ends", ends, requests, "runs at fuse_request_end")
    judge_recursion(report, after, programs)
    report.at_least("memory", after["self"]["bpf_memory_bytes"], 1 << 20, "bytes")


def judge_recursion(report, after, programs):
    """A program refuses to run while it is already on its CPU: only those on a lock's slow path,
    where an interrupt may wait for another lock, and then rarely; and it is counted."""
    misses = {p["name"]: p["recursion_misses"] for p in programs if p["recursion_misses"]}
    runs = {p["name"]: p["runs"] for p in programs}
    bad = [n for n in misses if "slowpath" not in n or misses[n] > 1 + runs[n] / 100]
    report.check("recursion", not bad, "misses %s, of which not in locks, or in more than 1 of 100 "
                 "runs %s" % (misses, bad))
    report.equal("recursion.sum", after["losses"]["recursion"],
                 sum(p["recursion_misses"] for p in programs), "misses in all")


def judge(report, records):
    with report.group("two"):
        judge_two(report, records)
    # Where the kernel preempts, what may be preempted has a kprobe.
    preempts = {"kprobe", "kretprobe"} if records.version >= (7, 0) else set()
    with report.group("self.best"):
        judge_self(report, records, "best", {"fentry", "fexit"} | preempts)
    with report.group("self.kprobe"):
        judge_self(report, records, "kprobe", {"kprobe", "kretprobe"})
