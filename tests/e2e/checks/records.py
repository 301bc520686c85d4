# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest brought home, and about which kernel and processor model."""
import json
import os

import snap

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")


class Records:
    def __init__(self, path, kernel, model):
        self.path = path
        self.kernel = kernel  # 6.1, 6.12, 7.3
        self.model = model    # max, native
        self.version = tuple(int(n) for n in kernel.split("."))
        self.golden = GOLDEN

    def file(self, name):
        return os.path.join(self.path, name)

    def has(self, name):
        return os.path.exists(self.file(name))

    def text(self, name):
        with open(self.file(name), encoding="utf-8", errors="replace") as f:
            return f.read()

    def snap(self, name):
        return snap.load(self.file(name + ".json"))

    def json(self, name):
        return json.loads(self.text(name))

    def exit(self, name):
        return int(self.text(name + ".exit"))

    def pair(self, name):
        """Snapshots NAME.0 and NAME.1."""
        return self.snap(name + ".0"), self.snap(name + ".1")
