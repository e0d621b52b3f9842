"""What the first version wrote to Kafka is read by that of today, and the same comes of it."""

import unittest

from confluent_kafka import Producer

from stack.programs import BIN
from stack.waiting import wait_until
from tests.upgrades import corpus


class FirstForToday(unittest.TestCase):
    def test_messages_of_the_first_version_lead_to_the_same(self):
        corpus.consume(BIN, corpus.ROOT / "tests" / "upgrades" / "first" / "corpus", self, self.read_letters)

    def read_letters(self, rig, letters):
        """Those of the first version are listed beside ours, and replayed: they are refused once more, and say where they came from."""
        before = rig.feedctl.json("dlq", "list", "--json")["letters"]
        self.assertEqual(len(before), len(letters))
        producer = Producer({"bootstrap.servers": rig.stack.kafka.address})
        for topic, partition, key, value, headers in letters:
            producer.produce(topic, partition=partition, key=key, value=value, headers=headers)
        self.assertEqual(producer.flush(60), 0)
        listed = rig.feedctl.json("dlq", "list", "--json")["letters"]
        self.assertEqual(sorted(each["reason"] for each in listed), sorted([each["reason"] for each in before] * 2))
        theirs = [each["letter"] for each in listed if each["letter"] not in {each["letter"] for each in before}]
        replayed = rig.feedctl.json("dlq", "replay", "--json", *theirs)
        self.assertEqual(replayed["replayed"], len(letters))
        wait_until(lambda: rig.feedctl.json("dlq", "list", "--json")["found"] == 3 * len(letters), 60, "them to be refused again")


if __name__ == "__main__":
    unittest.main()
