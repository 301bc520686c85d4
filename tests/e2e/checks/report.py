# SPDX-License-Identifier: GPL-2.0-or-later
"""One line per assertion: "ok NAME: figures", "not ok NAME: figures", "skip NAME: reason"."""
import contextlib


class Report:
    def __init__(self, where):
        self.where = where
        self.case = ""

    def _line(self, verdict, name, text):
        name = "/".join(part for part in (self.where, self.case, name) if part)
        print("%s %s: %s" % (verdict, name, " ".join(str(text).split())))

    def check(self, name, passed, figures):
        """@figures: what was compared with what, for whoever reads a failure."""
        self._line("ok" if passed else "not ok", name, figures)
        return passed

    def equal(self, name, got, want, what=""):
        return self.check(name, got == want,
                          "%s%s, expected %s" % (what and what + " ", shown(got), shown(want)))

    def between(self, name, got, low, high, what=""):
        return self.check(name, low <= got <= high, "%s%s, expected %s to %s" %
                          (what and what + " ", shown(got), shown(low), shown(high)))

    def at_least(self, name, got, low, what=""):
        return self.check(name, got >= low,
                          "%s%s, expected at least %s" % (what and what + " ", shown(got), shown(low)))

    def skip(self, name, reason):
        self._line("skip", name, reason)

    @contextlib.contextmanager
    def group(self, case):
        """Assertions of one case; one that cannot even be read off its records fails."""
        self.case = case
        try:
            yield
        except Exception as e:  # pylint: disable=broad-except
            self.check("records", False, "%s: %s" % (type(e).__name__, e))
        finally:
            self.case = ""


def shown(value):
    return "%.4g" % value if isinstance(value, float) else str(value)
