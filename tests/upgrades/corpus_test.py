"""What the first version wrote to Kafka is read by that of today, and the same comes of it."""

import unittest

from stack.programs import BIN
from tests.upgrades import corpus


class FirstForToday(unittest.TestCase):
    def test_messages_of_the_first_version_lead_to_the_same(self):
        corpus.consume(BIN, corpus.ROOT / "tests" / "upgrades" / "first" / "corpus", self)


if __name__ == "__main__":
    unittest.main()
