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
    """Nothing was lost on the way: the sums of the same requests agree."""
    q = queue(snapshot, index, tag)
    terms = q["conservation"]
    sums = {"submitted": terms["submitted"], "completed": terms["completed"],
            "by CPU": sum(n for _, n in q.get("cpus", [])), "device hop": q["hops"]["device"]["count"]}
    report.check(name, len(set(sums.values())) == 1, sums)
    timed = {"by opcode": sum(o["total"]["count"] for o in q.get("ops", [])),
             "total hop": q["hops"]["total"]["count"]}
    report.check(name + ".timed", set(timed.values()) == {terms["submitted"]},
                 "%s, submitted %d" % (timed, terms["submitted"]))
    report.equal(name + ".missed", (q["start_missed"], snapshot["losses"]["wake_missed"]), (0, 0),
                 "starts, wake-ups")
    lost = {t: terms[t] for t in ("aborted", "untracked_slot_taken", "end_missed")}
    report.check(name + ".lost", not any(lost.values()), lost)
