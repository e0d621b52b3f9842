"""What today's version writes to Kafka is read by the first one, and the same comes of it. tests/upgrades/long.py builds it."""

import os
import tempfile
import unittest
from pathlib import Path

from stack.programs import BIN
from tests.upgrades import corpus


class TodayForFirst(unittest.TestCase):
    def test_messages_of_today_lead_to_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            corpus.record(BIN, Path(folder))
            corpus.consume(Path(os.environ["FANLINE_FIRST_BIN"]), Path(folder), self)


if __name__ == "__main__":
    unittest.main()
