#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vqload against real daemons: vqfsd, QEMU's C virtiofsd and, where its package can be fetched, the
Rust one. Each case has a daemon of its own on a fresh share, as stock ones end with their first
connection.
Prints a line per assertion and, last, how many passed.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from daemons import VQLOAD, c_virtiofsd, daemon, rust_folder, rust_virtiofsd, vqfsd  # noqa: E402

LIMIT_S = 60
# What a daemon does not do, or does wrong, as seen of the versions in Debian 12 and 13; all else is
# to work.
UNSUPPORTED = {
    "c": {"statx", "access"},
    "rust": {"statx", "getlk", "setlk"},
    "vqfsd": {"getlk", "setlk"},
}
# EIO where ENOENT is due; EINVAL from F_OFD_GETLK, which wants no pid.
KNOWN_FAULTS = {"c": {"unlink", "rmdir", "rename", "getlk"}}
# With all that it has.
OPTIONS = {"c": ("-o", "xattr", "-o", "posix_lock"), "rust": ("--xattr",), "vqfsd": ("--xattr",)}
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, good, figures):
    counts["passed" if good else "failed"] += 1
    print("%s %s: %s" % ("ok" if good else "not ok", name, figures), flush=True)
    return good


def skip(name, reason):
    counts["skipped"] += 1
    print("skip %s: %s" % (name, reason), flush=True)


def vqfsd_of_four(socket, share):
    return vqfsd(socket, share) + ["--request-queues", "4"]


def vqload(*words):
    """What it printed; a status beyond 128 when it did not end in time."""
    return subprocess.run(["timeout", "-s", "KILL", str(LIMIT_S), VQLOAD] + list(words),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def run(socket, *words):
    said = vqload("run", "--json", "--wait", "--socket", socket, *words)
    try:
        return said, json.loads(said.stdout)
    except ValueError:
        return said, None


def judge_clean(name, said, report, least):
    good = said.returncode == 0 and report is not None and report["judge"]["clean"]
    if not check(name + ".clean", good, "exit %d, %s" % (said.returncode, said.stderr.strip()[-300:])):
        return
    done = sum(job["requests"] for job in report["jobs"])
    check(name + ".requests", done >= least, "%d, at least %d" % (done, least))
    faults = {f: n for f, n in report["judge"]["findings"].items() if n}
    check(name + ".faults", not faults.keys() - {"out_of_order", "unusual_error"}, faults)


def test_opcodes(daemon_name, command):
    name = daemon_name + ".check"
    with daemon(command, OPTIONS[daemon_name]) as (socket, _, _):
        said = vqload("check", "--json", "--wait", "--socket", socket)
    if not check(name + ".json", said.stdout.startswith("{"), said.stdout[:80] + said.stderr[-200:]):
        return
    report = json.loads(said.stdout)
    faulty, lacking = KNOWN_FAULTS.get(daemon_name, set()), UNSUPPORTED[daemon_name]
    for op in report["checks"]:
        allowed = {"ok"} | ({"unsupported"} if op["name"] in lacking else set())
        allowed |= {"failed"} if op["name"] in faulty else set()
        check("%s.%s" % (name, op["name"]), op["outcome"] in allowed,
              "%s %s" % (op["outcome"], op["reason"]))
    check(name + ".exit", said.returncode == (1 if report["failed"] else 0),
          "%d %s" % (said.returncode, said.stderr.strip()[-300:]))
    check(name + ".clean", report["judge"]["clean"], report["judge"]["findings"])


LOADS = {
    "verify-write": (["--rw=write", "--bs=64k", "--size=16m", "--iodepth=8", "--verify=crc32c"], 256),
    "verify-randrw": (["--rw=randrw", "--bs=4k", "--size=8m", "--iodepth=16", "--verify=crc32c",
                       "--time_based", "--runtime=2"], 1000),
    "read-1m": (["--rw=read", "--bs=1m", "--size=64m", "--iodepth=4", "--queue-size=1024"], 64),
    "getattr": (["--rw=getattr", "--iodepth=32", "--time_based", "--runtime=1"], 1000),
    "lookup": (["--rw=lookup", "--iodepth=8", "--time_based", "--runtime=1"], 500),
    "create": (["--rw=create", "--iodepth=4", "--time_based", "--runtime=1"], 100),
    "readdir": (["--rw=readdir", "--iodepth=4", "--time_based", "--runtime=1"], 100),
    "open-loop": (["--rw=getattr", "--arrival=poisson", "--rate_iops=2000", "--iodepth=64",
                   "--time_based", "--runtime=2"], 3500),
    "small-ring": (["--rw=getattr", "--iodepth=1", "--queue-size=8", "--time_based",
                               "--runtime=1", "--no-indirect", "--no-event-idx"], 100),
}


def test_loads(name, command):
    for load, (words, least) in LOADS.items():
        with daemon(command) as (socket, share, _):
            said, report = run(socket, *words)
            judge_clean("%s.%s" % (name, load), said, report, least)
            check("%s.%s.left" % (name, load), not os.listdir(share), os.listdir(share)[:3])
        if report and "verify" in load:
            verified = sum(job["verified"] for job in report["jobs"])
            check("%s.%s.verified" % (name, load), verified >= 100, "%d blocks" % verified)


def test_two_queues(name, command):
    """More queues than it has: known of stock daemons, one line, an exit code of its own."""
    with daemon(command) as (socket, _, _):
        said = vqload("run", "--wait", "--socket", socket, "--request-queues=2", "--rw=getattr")
    lines = said.stderr.strip().splitlines()
    check(name + ".exit", said.returncode == 4, said.returncode)
    check(name + ".line", len(lines) == 1 and "it has 1 request queue, not 2" in said.stderr,
          said.stderr.strip())


def test_killed(name, command):
    with daemon(command) as (socket, _, process):
        load = subprocess.Popen([VQLOAD, "run", "--wait", "--socket", socket, "--rw=getattr",
                                 "--iodepth=16", "--time_based", "--runtime=30",
                                 "--no-progress"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        os.killpg(process.pid, signal.SIGKILL)
        started = time.monotonic()
        try:
            _, err = load.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            load.kill()
            _, err = load.communicate()
        check(name, load.returncode == 5 and time.monotonic() - started < 10,
              "exit %s after %.1f s: %s" % (load.returncode, time.monotonic() - started,
                                            err.strip()[-200:]))


def test_share(name, command, options, prepare, words=()):
    """A share that cannot be written to: exit 8, and the message says which it is."""
    with tempfile.TemporaryDirectory(prefix="vqload-share.") as share:
        subprocess.run(["mount", "-t", "tmpfs", "-o", prepare, "tmpfs", share], check=True)
        try:
            with daemon(command, options, share) as (socket, _, _):
                said = vqload("run", "--wait", "--socket", socket, "--rw=write", "--bs=64k",
                              "--size=8m")
        finally:
            subprocess.run(["umount", "-l", share], check=True)
    check(name, said.returncode == 8 and all(w in said.stderr for w in words),
          "exit %d: %s" % (said.returncode, said.stderr.strip()[-200:]))


def test_bad_input():
    def case(name, code, words, *arguments):
        said = vqload(*arguments)
        check("bad." + name, said.returncode == code and all(w in said.stderr for w in words),
              "exit %d: %s" % (said.returncode, said.stderr.strip()[-200:]))

    case("no-socket", 3, ["/nowhere/sock"], "run", "--socket", "/nowhere/sock", "--rw=getattr")
    case("no-daemon-named", 2, ["--socket"], "run", "--rw=getattr")
    with tempfile.TemporaryDirectory() as work:
        job = os.path.join(work, "job.ini")
        with open(job, "w", encoding="utf-8") as f:
            f.write("[global]\nrw=randread\n\n[a]\niodepht=4\n")
        case("job-key", 2, ["job.ini", "5", "iodepht", "iodepth"], "run", "--socket", "/nowhere/sock",
             job)
        plain = os.path.join(work, "plain")
        with open(plain, "w", encoding="utf-8") as f:
            f.write("")
        case("not-a-socket", 3, [plain], "run", "--socket", plain, "--rw=getattr")
    closes_at_once()


def closes_at_once():
    """A daemon that accepts and closes: no hang, its own exit code."""
    import socket as sockets
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "sock")
        with sockets.socket(sockets.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(4)
            load = subprocess.Popen([VQLOAD, "run", "--socket", path, "--rw=getattr"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            listener.settimeout(10)
            peer, _ = listener.accept()
            peer.close()
            _, err = load.communicate(timeout=LIMIT_S)
    check("bad.closes-at-once", load.returncode == 3, "exit %d: %s" % (load.returncode, err.strip()))


def main():
    daemons = {"c": c_virtiofsd, "rust": rust_virtiofsd, "vqfsd": vqfsd_of_four}
    if not rust_folder():
        skip("rust", "its package cannot be fetched: no network, and no cache of the lab")
        del daemons["rust"]
    test_bad_input()
    for name, command in daemons.items():
        test_opcodes(name, command)
        test_loads(name, command)
        if name != "vqfsd":
            test_two_queues(name + ".two-queues", command)
        test_killed(name + ".killed", command)
        test_share(name + ".read-only", command, (), "ro,size=16m", ["read-only"])
        test_share(name + ".full", command, (), "size=1m", ["No space left"])
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
