#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""moves.py CONTROL SHARE REPORT: on the host, beside vqfsd, whose control socket is CONTROL: while
the guest keeps a file `steer` in SHARE, moves a queue to a worker and switches the engine of one
every 50 ms, both at random, and other things now and then. When the guest renames the file to
`stop`, drops the lease without releasing it, writes REPORT and removes the file."""
import json
import os
import random
import socket
import sys
import time

PERIOD_S = 0.05


class Control:
    """Asks one thing at a time; how long a move took is in its answer."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        while self.socket.connect_ex(path):
            time.sleep(PERIOD_S)
        self.file = self.socket.makefile("rw")

    def ask(self, **command):
        self.file.write(json.dumps(command) + "\n")
        self.file.flush()
        line = self.file.readline()
        if not line:
            raise EOFError("the daemon closed the connection at %s" % command)
        return json.loads(line)

    def close(self):
        self.file.close()
        self.socket.close()


class Steering:
    def __init__(self, control):
        self.control = control
        self.report = {"acknowledged": {}, "errors": [], "cancelled": 0, "ticks": 0,
                       "pauses_ns": [], "before": control.ask(command="status")}
        self.queues = len(self.report["before"]["queues"]) - 1
        self.started = time.monotonic()

    def do(self, command, **args):
        answer = self.control.ask(command=command, **args)
        if answer["ok"]:
            done = self.report["acknowledged"]
            done[command] = done.get(command, 0) + 1
            if command == "move-queue":
                self.report["pauses_ns"].append(answer["pause_ns"])
        elif answer.get("cancelled"):
            self.report["cancelled"] += 1
        else:
            self.report["errors"].append([command, args, answer["error"]])

    def tick(self):
        number, queue = self.report["ticks"], lambda: random.randint(1, self.queues)
        self.report["ticks"] += 1
        if number % 20 == 10:
            # Down to two and back: queues of workers that end move to others.
            self.do("set-workers", workers=2)
            self.do("set-workers", workers=self.queues)
            self.do("set-pool-size", size=random.randint(1, 6))
            self.do("set-threshold", queue=queue(), threshold=random.randint(0, 8))
        self.do("move-queue", queue=queue(), worker=random.randint(1, self.queues))
        self.do("set-engine", queue=queue(), engine=random.choice(["inline", "pool", "threshold"]))

    def end(self, path):
        self.report["seconds"] = time.monotonic() - self.started
        self.report["after"] = self.control.ask(command="status")
        self.control.close()
        # The daemon sees the end of the connection when it comes to it.
        control = Control(path)
        for _ in range(100):
            self.report["reverted"] = control.ask(command="status")
            if not self.report["reverted"]["lease"]["held"]:
                break
            time.sleep(PERIOD_S)
        control.close()
        return self.report


def steer(path, wanted):
    """Until @wanted() is false; what happened."""
    steering = Steering(Control(path))
    try:
        steering.do("lease")
        while wanted():
            due = time.monotonic() + PERIOD_S
            steering.tick()
            time.sleep(max(0, due - time.monotonic()))
        return steering.end(path)
    except (OSError, EOFError, ValueError) as e:
        steering.report["errors"].append([type(e).__name__, {}, str(e)])
        return steering.report


def main():
    path, share, report = sys.argv[1:]
    go, stop = (os.path.join(share, name) for name in ("steer", "stop"))
    for stale in (go, stop):
        if os.path.exists(stale):
            os.unlink(stale)
    while not os.path.exists(go):
        time.sleep(PERIOD_S)
    with open(report, "w", encoding="utf-8") as f:
        json.dump(steer(path, lambda: os.path.exists(go)), f)
    if os.path.exists(stop):
        os.unlink(stop)


main()
