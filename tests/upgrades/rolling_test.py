"""The first version is replaced by that of today, in both orders. tests/upgrades/long.py builds the first one."""

import os
import unittest
from pathlib import Path

from tests.upgrades.rolling import Rolling

FIRST_BIN = Path(os.environ["FANLINE_FIRST_BIN"])


class WritersFirst(Rolling):
    programs = FIRST_BIN
    pages = False

    def test_who_writes_before_who_reads(self):
        """New rows meet mirrors of before, new messages reconcilers and pushers of before."""
        self.roll("apis", "dispatchers", "mirrors", "reconcilers", "pushers")


class ReadersFirst(Rolling):
    programs = FIRST_BIN
    pages = False

    def test_who_reads_before_who_writes(self):
        """Hints of before meet new pushers, messages of before new reconcilers, rows of before new mirrors."""
        self.roll("pushers", "reconcilers", "mirrors", "dispatchers", "apis")


if __name__ == "__main__":
    unittest.main()
