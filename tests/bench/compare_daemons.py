#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vqfsd and the stock virtio-fs daemons beside each other, natively, loaded by vqload: requests a
second, p99, requests per second of the daemon's CPU time.

Each round runs every load against every daemon in turn, and against the first one a second time: the
spread between those two (A/A) says how much of a difference is noise. The first round is dropped,
the rest are medians. Every run has a daemon of its own on a fresh share in memory.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from daemons import VQLOAD, c_virtiofsd, daemon, pinned, rust_virtiofsd, vqfsd  # noqa: E402

DAEMONS = {"C": c_virtiofsd, "Rust": rust_virtiofsd, "vqfsd": vqfsd}
OPTIONS = {"vqfsd": ("--sandbox", "none")}
DATA = ["--bs=4k", "--size=64m", "--nrfiles=1"]
LOADS = {
    "getattr depth 1": ["--rw=getattr", "--iodepth=1"],
    "getattr depth 32": ["--rw=getattr", "--iodepth=32"],
    "read 4k depth 1": ["--rw=randread", "--iodepth=1"] + DATA,
    "read 4k depth 32": ["--rw=randread", "--iodepth=32"] + DATA,
    "read 1M depth 4": ["--rw=read", "--iodepth=4", "--bs=1m", "--size=64m"],
    "create + unlink": ["--rw=create", "--iodepth=1"],
}
MODES = {  # vqload's CPU, the daemon's CPU, vqload's options
    "pinned, polling": ("0", "1", ["--poll"]),
    "pinned, waiting": ("0", "1", []),
    "not pinned, waiting": (None, None, []),
}


def one_run(name, load, mode, seconds):
    own_cpu, daemon_cpu, options = MODES[mode]
    with daemon(DAEMONS[name], OPTIONS.get(name, ()), folder="/dev/shm",
                cpu=daemon_cpu) as (socket, _, _):
        said = subprocess.run(
            pinned(own_cpu, [VQLOAD, "run", "--json", "--wait", "--socket", socket,
                             "--queue-size=1024", "--ramp_time=200ms", "--time_based=1",
                             "--runtime=%dms" % (1000 * seconds)] + options + LOADS[load]),
            stdout=subprocess.PIPE, text=True, check=True, timeout=60 + 10 * seconds).stdout
    return figures(json.loads(said))


def figures(run):
    requests = sum(job["requests"] for job in run["jobs"])
    p99 = max(job["latency_ns"]["p99"] for job in run["jobs"])
    return {"rate": requests * 1e9 / run["counted_ns"], "p99": p99,
            "per_cpu": run.get("daemon", {}).get("requests_per_cpu_second", 0)}


def measure(rounds, seconds, modes, loads):
    seen = {}
    turns = list(DAEMONS) + ["A/A"]
    for turn in range(rounds + 1):
        for mode in modes:
            for load in loads:
                for name in turns:
                    got = one_run(name if name in DAEMONS else turns[0], load, mode, seconds)
                    if turn:
                        seen.setdefault((mode, load, name), []).append(got)
        print("round %d of %d" % (turn, rounds), file=sys.stderr, flush=True)
    return seen


def spread(seen, mode, load):
    first = next(iter(DAEMONS))
    ratios = [b["rate"] / a["rate"] for a, b in zip(seen[mode, load, first],
                                                    seen[mode, load, "A/A"])]
    return max(abs(r - 1) for r in ratios)


def table(seen, modes, loads):
    for mode in modes:
        print("\n%s\n\n| load | daemon | requests/s | p99 us | requests per daemon-CPU-second | A/A |" % mode)
        print("| --- | --- | --- | --- | --- | --- |")
        for load in loads:
            for name in DAEMONS:
                runs = seen[mode, load, name]
                middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                print("| %s | %s | %s | %.0f | %s | %.0f%% |" % (
                    load, name, format(round(middle["rate"]), ","), middle["p99"] / 1000,
                    format(round(middle["per_cpu"]), ","), 100 * spread(seen, mode, load)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--load", action="append", choices=LOADS)
    args = parser.parse_args()
    for name, command in list(DAEMONS.items()):
        program = command("", "")[0]
        if not shutil.which(program):
            print("no daemon %s here: %s" % (name, program), file=sys.stderr)
            del DAEMONS[name]
    modes, loads = args.mode or list(MODES), args.load or list(LOADS)
    started = time.monotonic()
    table(measure(args.rounds, args.seconds, modes, loads), modes, loads)
    print("\n%d rounds of %g s a run, %.0f s in all" % (args.rounds, args.seconds,
                                                       time.monotonic() - started))


if __name__ == "__main__":
    main()
