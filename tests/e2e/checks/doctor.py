#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor --json against golden/doctor-KERNEL-MODEL.json. To make a golden file anew, after looking
at what changed: doctor.py RECORD (doctor.out of a guest kept with run.sh --keep)."""
import difflib
import json
import os
import sys

LAB_MOUNTS = ("/", "/mnt/data")  # others depend on where the checkout is


def normalised(text):
    """The findings as text, without what varies from boot to boot or with a kernel's update."""
    found = json.loads(text)
    del found["kernel"]  # its patch release
    found.pop("memory", None)
    for fact in found["facts"]:
        fact.pop("detail", None)
        if fact["id"] == "mounts":
            fact["value"] = "some"
    found["mounts"] = [m for m in found["mounts"] if m["path"] in LAB_MOUNTS]
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def judge(report, records):
    golden = os.path.join(records.golden, "doctor-%s-%s.json" % (records.kernel, records.model))
    report.equal("exit", records.exit("doctor"), json.loads(records.text("doctor.out"))["exit"])
    if "kvm" in records.text("clock"):
        report.skip("golden", "the golden files are of emulated processors, this one is KVM's")
        return
    with open(golden, encoding="utf-8") as f:
        want = f.read().splitlines()
    got = normalised(records.text("doctor.out")).splitlines()
    changes = [line for line in difflib.unified_diff(want, got, "golden", "got", n=0, lineterm="")
               if not line.startswith(("---", "+++", "@@"))]
    report.check("golden", not changes, "%d lines differ of %d: %s" %
                 (len(changes), len(want), " | ".join(changes[:6])))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as record:
        sys.stdout.write(normalised(record.read()))
