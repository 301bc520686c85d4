#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions that a request costs a guest: untraced, under vqsteer, under bpftrace. A synchronous
GETATTR alone, and 4 KiB random reads at depth 32.

Boots a guest with one CPU on which an instruction is a nanosecond, so that CPU time counts
instructions whatever else the machine does, and runs itself inside (--guest). CPU time is that of
the task that asks and of the kernel's workers; what interrupts took from idle is not in it.
"""
import glob
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "..", ".."))
CALLS = 3000
SETTLE_S = 10  # kernel workers free the maps of the one before, some seconds later
LOADS = {
    "getattr": [os.path.join(TOP, "build/e2e/load"), "1", str(CALLS), "0", "/mnt/data/file"],
    "read": ["fio", "--name=r", "--filename=/mnt/data/file", "--ioengine=libaio", "--direct=1",
             "--rw=randread", "--bs=4k", "--iodepth=32", "--norandommap", "--randseed=1",
             "--number_ios=%d" % CALLS],
}
TRACERS = {
    "untraced": None,
    "vqsteer": [os.path.join(TOP, "build/vqsteer"), "stat", "-i", "3600"],
    "bpftrace": ["bpftrace", os.path.join(HERE, "overhead.bt")],
}


def workers_ns():
    total = 0
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/comm") as comm, open(folder + "/schedstat") as stat:
                if comm.read().startswith("kworker"):
                    total += int(stat.read().split()[0])
        except OSError:
            pass
    return total


def children_ns():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e9


def per_request(command):
    workers, children = workers_ns(), children_ns()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return (workers_ns() - workers + children_ns() - children) / CALLS


def per_load():
    return tuple(per_request(command) for command in LOADS.values())


def programs():
    listed = subprocess.run(["bpftool", "prog"], stdout=subprocess.PIPE, text=True, check=False)
    return listed.stdout.count("tracing")


def in_guest():
    per_load()
    for name, command in list(TRACERS.items()) * 2:
        tracer = command and subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL)
        while command and programs() < 2:
            time.sleep(0.5)
        time.sleep(1)
        print("%-9s instructions a getattr %6.0f, a read at depth 32 %6.0f" % ((name,) + per_load()),
              flush=True)
        if tracer:
            tracer.terminate()
            tracer.wait()
        while programs():
            time.sleep(0.5)
        time.sleep(SETTLE_S)


def main():
    with tempfile.TemporaryDirectory() as share:
        with open(os.path.join(share, "file"), "w") as f:
            f.write("data" * (4 << 20))
        env = dict(os.environ, VQSTEER_LAB_ICOUNT="1", VQSTEER_LAB_ACCEL="tcg")
        return subprocess.run([os.path.join(TOP, "tests/lab/run.sh"), "--cpus", "1", "--share", share,
                               "--timeout", "600", "--", os.path.abspath(__file__), "--guest"],
                              env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(in_guest() if "--guest" in sys.argv else main())
