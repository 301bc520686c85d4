# SPDX-License-Identifier: GPL-2.0-or-later
"""checks SUITE KERNEL MODEL DIR: judges what the guest's half of a suite recorded in DIR."""
import importlib
import sys

sys.path.insert(0, __file__.rpartition("/")[0])
# pylint: disable=wrong-import-position
from records import Records
from report import Report


def main():
    suite, kernel, model, path = sys.argv[1:]
    report = Report("%s/%s/%s" % (kernel, model, suite))
    importlib.import_module(suite).judge(report, Records(path, kernel, model))


main()
