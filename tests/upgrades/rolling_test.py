"""The first version is replaced by that of today, in both orders. tests/upgrades/long.py builds the first one."""

import os
import unittest
from pathlib import Path

from tests.upgrades.rolling import Rolling

FIRST_BIN = Path(os.environ["FANLINE_FIRST_BIN"])


class WritersFirst(Rolling):
    programs = FIRST_BIN

    def test_dispatchers_and_mirrors_before_pushers(self):
        """New hints meet pushers of before."""
        self.roll("dispatchers", "mirrors", "pushers")


class ReadersFirst(Rolling):
    programs = FIRST_BIN

    def test_pushers_before_mirrors_and_dispatchers(self):
        """Hints of before meet new pushers."""
        self.roll("pushers", "mirrors", "dispatchers")


if __name__ == "__main__":
    unittest.main()
