# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of guest-native.sh."""
import doctor
import locks


def judge(report, records):
    with report.group("sync"):
        locks.judge_sync(report, records)
    with report.group("doctor"):
        doctor.judge(report, records)
    with report.group("end"):
        report.equal("exit", records.exit("main"), 0)
        report.equal("left", records.text("end.left").split(), ["[]", "[]"], "programs, links")
