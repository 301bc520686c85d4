# SPDX-License-Identifier: GPL-2.0-or-later
"""Contract 2 of the design: every request of a queue is accounted for, by cause."""
from snap import TERMS, device, queue


def imbalance(terms):
    return (terms["submitted"] + terms["complete_only"] - terms["completed"] -
            terms["in_flight"] - terms["aborted"] - terms["untracked_slot_taken"] -
            terms["end_missed"])


def equation(terms):
    """For a reader of a failure; fails on a term that is not there."""
    return " ".join("%s=%d" % (term, terms[term]) for term in TERMS)


def holds(report, name, snapshot, tag="data"):
    """The equation, with all its terms there, on every queue of a device."""
    for q in device(snapshot, tag)["queues"]:
        terms = q["conservation"]
        report.check("%s.q%d" % (name, q["index"]),
                     imbalance(terms) == 0 == terms["imbalance"], equation(terms))


def quiet(report, name, snapshot, tag="data"):
    """The equation at a quiet point, where nothing is in flight, as the kernel says too."""
    holds(report, name, snapshot, tag)
    for q in device(snapshot, tag)["queues"]:
        report.check("%s.q%d.in_flight" % (name, q["index"]),
                     q["conservation"]["in_flight"] == 0 == q["in_flight_kernel"],
                     "in_flight=%d in_flight_kernel=%d completing=%d" %
                     (q["conservation"]["in_flight"], q["in_flight_kernel"], q["completing"]))


def all_followed(report, name, snapshot, index=1, tag="data"):
    """Nothing was lost on the way: the sums of the same requests agree. On a preemptible kernel
    (7.3) the program at a request's allocation may find itself running on that CPU already, for a
    task that was preempted inside it, and be skipped; such a request has no total. That must be
    rare, be counted as start_missed, and be what the kernel counted as skipped."""
    q = queue(snapshot, index, tag)
    terms = q["conservation"]
    sums = {"submitted": terms["submitted"], "completed": terms["completed"],
            "by CPU": sum(n for _, n in q.get("cpus", [])), "device hop": q["hops"]["device"]["count"]}
    report.check(name, len(set(sums.values())) == 1, sums)
    missed = q["start_missed"]
    timed = {"by opcode": sum(o["total"]["count"] for o in q.get("ops", [])) + missed,
             "total hop": q["hops"]["total"]["count"] + missed}
    report.check(name + ".timed", set(timed.values()) == {terms["submitted"]},
                 "%s, start_missed %d of them, submitted %d" % (timed, missed, terms["submitted"]))
    skipped = sum(p["recursion_misses"] for p in snapshot["self"]["programs"]
                  if p["name"] == "fuse_request_alloc")
    report.check(name + ".missed", missed <= skipped and missed <= terms["submitted"] / 200,
                 "start_missed %d, programs skipped %d, at most 1 in 200 of %d" %
                 (missed, skipped, terms["submitted"]))
    lost = {t: terms[t] for t in ("aborted", "untracked_slot_taken", "end_missed")}
    report.check(name + ".lost", not any(lost.values()), lost)
