#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing costs a guest: throughput lost under vqsteer and under a bpftrace script.

Boots one guest per run through tests/lab/run.sh and prints, per load, the median over rounds of
rate / mean of that round's two untraced rates, with quartiles, and the A/A spread beside it: a
difference smaller than that is not resolved.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "..", "lab", "run.sh")


def run_guest(kernel, rounds, seconds):
    with tempfile.TemporaryDirectory() as share:
        with open(os.path.join(share, "big"), "wb") as f:
            f.write(os.urandom(32 << 20))
        limit = rounds * 4 * (3 * seconds + 8) + 120
        out = subprocess.run(
            [LAB, "--kernel", kernel, "--share", share, "--timeout", str(int(limit)), "--",
             os.path.join(HERE, "overhead_guest.sh"), str(rounds), str(seconds)],
            stdout=subprocess.PIPE, text=True, check=False)
    return out.stdout.splitlines()


def parse(lines):
    """{load: {round: {tracer: rate}}} of complete rounds, the first one dropped."""
    rates = {}
    for line in lines:
        part = line.split()
        if len(part) != 4 or not part[0].isdigit() or not part[3].replace(".", "").isdigit():
            continue
        turn, tracer, load, rate = int(part[0]), part[1], part[2], float(part[3])
        if turn > 1:
            rates.setdefault(load, {}).setdefault(turn, {})[tracer] = rate
    return {load: {t: r for t, r in turns.items() if len(r) == 4} for load, turns in rates.items()}


def quartiles(values):
    q = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return q[1], q[0], q[2]


def report(load, turns):
    ratio = {"vqsteer": [], "bpftrace": [], "A/A": []}
    for r in turns.values():
        base = (r["none"] + r["none2"]) / 2
        for tracer in ("vqsteer", "bpftrace"):
            ratio[tracer].append(100 * (1 - r[tracer] / base))
        ratio["A/A"].append(100 * (r["none2"] / r["none"] - 1))
    base = statistics.median((r["none"] + r["none2"]) / 2 for r in turns.values())
    print(f"{load}: {len(turns)} rounds, {base:.0f}/s untraced")
    for name, values in ratio.items():
        print("  %-9s %6.1f%% lost  (quartiles %.1f .. %.1f)" % ((name,) + quartiles(values)))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--kernel", default="6.12")
    p.add_argument("--rounds", type=int, default=16)
    p.add_argument("--seconds", type=float, default=2)
    a = p.parse_args()
    rates = parse(run_guest(a.kernel, a.rounds, a.seconds))
    if not any(rates.values()):
        sys.exit("overhead: the guest returned no complete round")
    print(f"kernel {a.kernel}")
    for load, turns in rates.items():
        if turns:
            report(load, turns)


if __name__ == "__main__":
    main()
