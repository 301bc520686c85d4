# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the records of guest-tools.sh."""
import attach
import inputs
import traces


def judge(report, records):
    attach.judge(report, records)
    traces.judge(report, records)
    inputs.judge(report, records)
