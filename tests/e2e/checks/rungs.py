# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges two vqsteers at once, one on each rung, and their accounts of themselves."""
import conservation
import counts
import locks
from snap import BG, VQ, queue

UNDER_LOCK = ("virtqueue_add_sgs", "virtqueue_get_buf")
# Of every request; what else is attached runs for locks, forgets, mounts.
BUSY = ("fuse_request_alloc", "virtqueue_add_sgs", "virtqueue_get_buf", "fuse_request_end",
        "request_wait_answer", "virtqueue_notify", "virtio_fs_vq_done")


def judge_two(report, records):
    """Two at once, and the second one's rung: they saw the same requests."""
    calls = 300 + records.json("two.calls.8")["calls"]
    reads = counts.fio_reads(records.json("two.fio"))
    submitted = {}
    for name in ("fentry", "kprobe"):
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
    report.equal("same", submitted["kprobe"], submitted["fentry"], "requests, bytes by kprobes")


def judge_self(report, records, name, rungs):
    before, after = records.snap("two.%s.0" % name), records.snap("two.%s.1" % name)
    old = {(p["name"], p["rung"]): p for p in before["self"]["programs"]}
    programs = [p for p in after["self"]["programs"] if p["rung"] != "syscall"]
    used = {p["rung"] for p in programs}
    report.check("rungs", used <= rungs, "%s, allowed %s" % (sorted(used), sorted(rungs)))
    report.check("timed", after["self"]["timed"], "timed %s" % after["self"]["timed"])
    for wanted in BUSY:
        runs = [(p["runs"] - old[(p["name"], p["rung"])]["runs"],
                 p["run_ns"] - old[(p["name"], p["rung"])]["run_ns"])
                for p in programs if p["name"] == wanted]
        report.check("runs." + wanted, runs and all(n > 0 and ns > 0 for n, ns in runs),
                     "runs and ns: %s" % runs)
    ends = sum(p["runs"] - old[(p["name"], p["rung"])]["runs"] for p in programs
               if p["name"] == "fuse_request_end")
    requests = sum(counts.ops_gained(before, after).values())
    report.at_least("ends", ends, requests, "runs at fuse_request_end")
    judge_recursion(report, after, programs)
    report.at_least("memory", after["self"]["bpf_memory_bytes"], 1 << 20, "bytes")


def judge_recursion(report, after, programs):
    """A program that is preempted, or interrupted inside a lock's slow path, refuses to run a second
    time on its CPU: rare, and counted. Under the queue's lock there is neither."""
    misses = {p["name"]: p["recursion_misses"] for p in programs if p["recursion_misses"]}
    runs = {p["name"]: p["runs"] for p in programs}
    often = [n for n in misses if misses[n] > 1 + runs[n] / 100]
    never = [n for n in misses if n in UNDER_LOCK]
    report.check("recursion", not often and not never, "misses %s, of which in more than 1 of 100 "
                 "runs %s, under the queue's lock %s" % (misses, often, never))
    report.equal("recursion.sum", after["losses"]["recursion"], sum(misses.values()),
                 "misses in all")


def judge(report, records):
    with report.group("two"):
        judge_two(report, records)
    with report.group("self.fentry"):
        judge_self(report, records, "fentry", {"fentry", "fexit"})
    with report.group("self.kprobe"):
        judge_self(report, records, "kprobe", {"kprobe", "kretprobe"})
