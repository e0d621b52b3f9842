"""The examples of docs/producers.md against a real broker: what they send arrives, and a
dispatcher accepts it."""

import json
import os
import socket
import subprocess
import unittest

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from stack.local_stack import LocalStack
from tests.e2e.decoding import ROOT, decode

TOPIC, RELATIONS = "feed-events", "relation-events"
TIMEOUT_S = 60

EXAMPLES = {
    "Python": ["/usr/bin/python3", "docs/examples/python/publish.py"],
    "Python follow": ["/usr/bin/python3", "docs/examples/python/follow.py"],
    "Java": ["/usr/bin/java", "-cp", "build/kafka-libs/*", "docs/examples/java/Publish.java"],
    "Shell": ["docs/examples/shell/publish.sh"],
}
# What each tells of its post, and of its repost; the versions as well, since they decide.
JSON, PROTOBUF = "application/json", "application/x-protobuf"
WHOLE_LIFE = [
    (JSON, "post.published", None),
    (JSON, "post.hidden", 1),
    (JSON, "post.unhidden", 2),
    (JSON, "post.edited", 1),
    (JSON, "post.deleted", None),
]
REPOST = [
    (JSON, "post.published", None),
    (JSON, "post.deleted", None),
]
SHELL_LIFE = [
    (JSON, "post.published", None),
    (PROTOBUF, "post.edited", 1),
    (PROTOBUF, "post.deleted", None),
]
SHELL_REPOST = [
    (JSON, "post.published", None),
    (PROTOBUF, "post.deleted", None),
]


def run(example, brokers):
    return subprocess.Popen(EXAMPLES[example], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "FANLINE_KAFKA_BROKERS": brokers})


def finish(process):
    """Its exit code and what it said; killed when it does not end."""
    with process:
        try:
            said, errors = process.communicate(timeout=TIMEOUT_S)
            return process.returncode, said, errors
        except subprocess.TimeoutExpired:
            process.kill()
            raise


class ProducerExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = LocalStack(shards=0)
        cls.addClassCleanup(stack.stop)
        stack.start()
        cls.brokers = stack.kafka.address
        admin = AdminClient({"bootstrap.servers": cls.brokers})
        for created in admin.create_topics([NewTopic(TOPIC, 4, 1),
                                            NewTopic(RELATIONS, 4, 1)]).values():
            created.result(TIMEOUT_S)
        cls.consumer = Consumer({"bootstrap.servers": cls.brokers, "group.id": "examples",
                                 "enable.auto.commit": False})
        cls.addClassCleanup(cls.consumer.close)

    def ends(self, topic=TOPIC):
        return {partition: self.consumer.get_watermark_offsets(
            TopicPartition(topic, partition), timeout=60)[1] for partition in range(4)}

    def records_since(self, before, topic=TOPIC):
        """All records appended since, in the order of their partitions and offsets."""
        wanted = sum(self.ends(topic).values()) - sum(before.values())
        self.consumer.assign([TopicPartition(topic, p, offset) for p, offset in before.items()])
        records = []
        while len(records) < wanted:
            record = self.consumer.poll(60)
            self.assertIsNotNone(record, f"{len(records)} of {wanted} records came")
            self.assertIsNone(record.error())
            records.append(record)
        return sorted(records, key=lambda record: (record.partition(), record.offset()))

    def check_lives(self, example, life, of_repost):
        before = self.ends()
        code, said, errors = finish(run(example, self.brokers))
        self.assertEqual(code, 0, said + errors)

        of = {}  # post -> its records
        for record in self.records_since(before):
            of.setdefault(int(record.key()), []).append(record)
        post, repost = sorted(of)
        self.assertIsNone(self.check_life(of[post], life, "5"))
        self.assertEqual(self.check_life(of[repost], of_repost, "9"), {"post_id": str(post), "author_id": "5"})

    def check_life(self, records, life, author):
        """What the post shows, if it is a repost."""
        self.assertEqual(len(records), len(life))
        for record, (content_type, kind, version) in zip(records, life):
            headers = dict(record.headers())
            self.assertEqual(headers["content-type"].decode(), content_type)
            accepted, text = decode(record.value(), content_type)
            self.assertTrue(accepted, text)
            event = json.loads(text)
            self.assertEqual((event["type"], event.get("version")), (kind, version))
            self.assertEqual(event["post_id"], record.key().decode())
            self.assertEqual(event["author_id"], author)
        # A real one: now, in milliseconds.
        published = json.loads(decode(records[0].value(), life[0][0])[1])
        self.assertLess(abs(published["created_at_ms"] - records[0].timestamp()[1]), 60_000)
        return published.get("repost_of")

    def test_python_takes_a_post_and_its_repost_through_their_lives(self):
        self.check_lives("Python", WHOLE_LIFE, REPOST)

    def test_python_follows_and_unfollows(self):
        before = self.ends(RELATIONS)
        code, said, errors = finish(run("Python follow", self.brokers))
        self.assertEqual(code, 0, said + errors)
        told = []
        for record in self.records_since(before, RELATIONS):
            accepted, text = decode(record.value(), JSON, "relation")
            self.assertTrue(accepted, text)
            event = json.loads(text)
            self.assertEqual(record.key().decode(), f"{event['src']}:{event['dst']}")
            told.append((event["type"], int(event["version"])))
        self.assertEqual([kind for kind, _ in told],
                         ["relation.follow", "relation.unfollow", "relation.follow"])
        versions = [version for _, version in told]
        self.assertEqual(versions, sorted(set(versions)))

    def test_java_takes_a_post_and_its_repost_through_their_lives(self):
        self.check_lives("Java", WHOLE_LIFE, REPOST)

    def test_shell_takes_a_post_and_its_repost_through_their_lives(self):
        self.check_lives("Shell", SHELL_LIFE, SHELL_REPOST)

    def test_each_ends_with_1_and_names_the_address_when_no_broker_answers(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))  # bound and not listening: refused, and no one else's
            address = f"127.0.0.1:{nobody.getsockname()[1]}"
            processes = {example: run(example, address) for example in EXAMPLES}
            for example, process in processes.items():
                with self.subTest(example):
                    code, said, errors = finish(process)
                    self.assertEqual(code, 1, errors)
                    self.assertEqual(said, "")
                    self.assertIn(address, errors)
