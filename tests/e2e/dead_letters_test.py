"""What cannot be used is kept byte for byte, with the reason, and stops nobody."""

import unittest

from confluent_kafka import Consumer, Producer, TopicPartition

from stack.programs.fleet import FEED
from tests.e2e.installation import Installation, most_followed

BAD = {
    b'{"schema_version":1,"type":"post.gone","post_id":"7","author_id":"5"}': 'type: found "post.',
    b'{"schema_version":1,"type":"post.deleted","post_id":7.5,"author_id":"5"}': "post_id: ",
    b"\xff\xfe not an event": "",
    b"": "",
}


class DeadLetters(Installation):
    def letters(self, expected):
        """(key, value, headers) of the first records in the dead letters' topic."""
        consumer = Consumer({"bootstrap.servers": self.stack.kafka.address, "group.id": "test",
                             "enable.auto.commit": False})
        self.addCleanup(consumer.close)
        topic = f"{FEED}.dlq"
        partitions = consumer.list_topics(topic, 60).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        letters = []
        while len(letters) < expected:
            record = consumer.poll(60)
            self.assertIsNotNone(record, f"{len(letters)} of {expected} came")
            self.assertIsNone(record.error())
            letters.append((record.key(), record.value() or b"", dict(record.headers())))
        self.assertIsNone(consumer.poll(0.5), "one more than expected")
        return letters

    def test_a_bad_event_is_kept_with_its_reason_and_the_next_goes_on(self):
        author = most_followed(self.ledger)[0]
        reader = min(self.ledger.followers[author])
        self.make_live([reader])
        producer = Producer({"bootstrap.servers": self.stack.kafka.address})
        for value in BAD:
            producer.produce(FEED, key=b"7", value=value, headers={"traceparent": b"00-1-2-01"})
        self.assertEqual(producer.flush(60), 0)
        post = self.publish(author)
        self.settle()
        self.assertEqual(self.posts_of(reader), [post])

        letters = self.letters(len(BAD))
        self.assertEqual(sorted(value for _, value, _ in letters), sorted(BAD))
        for key, value, headers in letters:
            with self.subTest(value):
                self.assertEqual(key, b"7")
                self.assertTrue(headers["fanline-reason"].decode().startswith(BAD[value]))
                self.assertEqual(headers["fanline-stage"], b"dispatcher")
                self.assertRegex(headers["fanline-origin"].decode(), rf"^{FEED}/\d+/\d+$")
                self.assertEqual(headers["traceparent"], b"00-1-2-01")
        self.assertEqual(self.counter("fanline_events_rejected_total"), len(BAD))
        self.assert_exact(live=[reader])


if __name__ == "__main__":
    unittest.main()
