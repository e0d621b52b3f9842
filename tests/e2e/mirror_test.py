"""Who follows whom reaches the reverse rows and the live timelines: by log1 and by an application's
events, in both modes, with duplicates, kills at every step, and services that go away."""

import itertools
import json
import random
import time
import unittest

from confluent_kafka import Consumer, Producer, TopicPartition

from stack.programs.daemon import Daemon
from stack.programs.fleet import RELATION_EVENTS
from stack.programs.relations import Relations
from tests.e2e.installation import SESSION, USERS, Installation

EVERYBODY = range(1, USERS + 1)
DAY_MS = 24 * 3_600_000
# Steps at which dying_mirror dies: once the first of the kind is acknowledged.
STEPS = "msg1", "reverse", "hint", "msg2", "log1"


class Mirrored(Installation):
    mirrors = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.relations = Relations(cls.stack.mysql)
        cls.kafka = Producer({"bootstrap.servers": cls.stack.env["FANLINE_KAFKA_BROKERS"],
                              "enable.idempotence": True, "log_level": 2})
        cls.versions = itertools.count(1)
        cls.draw = random.Random(5)
        cls.make_live(EVERYBODY)

    @property
    def mirror(self):
        return self.fleet.mirrors[0]

    # ---- what happens --------------------------------------------------------------------------

    def strangers(self, count=1):
        """Pairs (reader, author) where the reader does not follow the author yet."""
        found = []
        while len(found) < count:
            pair = tuple(self.draw.sample(EVERYBODY, 2))
            if pair[0] not in self.ledger.followers[pair[1]] and pair not in found:
                found.append(pair)
        return found if count > 1 else found[0]

    def change(self, reader, author, live):
        """Changes the forward row and adds its row of log1, as the API does."""
        self.relations.change(reader, author, live)
        self.note(reader, author, live)

    def tell(self, reader, author, live, **delivery):
        """Returns an event of the application; the ledger takes it as done."""
        event = json.dumps({
            "schema_version": 1, "type": "relation.follow" if live else "relation.unfollow",
            "src": str(reader), "dst": str(author), "version": next(self.versions), **delivery})
        self.note(reader, author, live and delivery != {"delivery": "none"})
        return event

    def note(self, reader, author, live):
        (self.ledger.follow if live else self.ledger.unfollow)(reader, author)

    def produce(self, events, topic=RELATION_EVENTS):
        for event in events:
            self.kafka.produce(topic, event)
        self.assertEqual(self.kafka.flush(60), 0)

    def read_all(self, topic):
        """Key and value of every record."""
        reader = Consumer({"bootstrap.servers": self.stack.env["FANLINE_KAFKA_BROKERS"],
                           "group.id": "nobody", "enable.auto.commit": False})
        found = []
        for partition in reader.list_topics(topic, 60).topics[topic].partitions:
            place = TopicPartition(topic, partition, 0)
            left = reader.get_watermark_offsets(place, 60)[1]
            reader.assign([place])
            while left > 0:
                record = reader.poll(60)
                self.assertIsNone(record.error())
                found.append((record.key(), record.value()))
                left -= 1
        reader.close()
        return found

    # ---- what must hold ------------------------------------------------------------------------

    def settle(self, timeout=300):
        self.wait_for(self.settled, "relations and hints to be done", timeout)
        super().settle(timeout)

    def settled(self):
        return self.fleet.backlog() == 0 and self.relations.pending() == 0

    def assert_mirrored(self):
        self.settle()
        self.assertEqual(self.relations.forward() ^ self.relations.reverse(), set())
        self.assertEqual(self.relations.wrong_counters(), [])
        self.assertEqual(self.relations.pending(), 0)
        self.assert_exact(live=EVERYBODY)


class ByLogAndEvents(Mirrored):
    def test_a_follow_brings_posts_and_an_unfollow_takes_them_away(self):
        self.produce([self.tell(*self.strangers(), True)])  # a producer's first record takes long
        for how in (self.change, lambda *edge: self.produce([self.tell(*edge)])):
            reader, author = self.strangers()
            post = self.publish(author)
            self.settle()
            self.assertNotIn(post, self.posts_of(reader))
            begin = time.monotonic()
            how(reader, author, True)
            self.wait_for(lambda: post in self.posts_of(reader), "the author's post to appear")
            print(f"from the follow to the timeline: {time.monotonic() - begin:.3f} s", flush=True)
            how(reader, author, False)
            self.wait_for(lambda: post not in self.posts_of(reader), "the post to go")
        self.assert_mirrored()

    def test_a_friendship_is_both_edges(self):
        one, other = self.strangers()
        self.relations.befriend(one, other, True, 1)
        self.note(one, other, True)
        self.note(other, one, True)
        self.assert_mirrored()
        self.relations.befriend(one, other, False, 2)
        self.note(one, other, False)
        self.note(other, one, False)
        self.assert_mirrored()

    def test_what_a_follow_brings_comes_with_its_event_and_outlasts_what_says_nothing_of_it(self):
        reader, author = self.strangers()
        post = self.publish(author)
        for delivery in ("all", "none", "no_reposts", "none"):
            self.produce([self.tell(reader, author, True, delivery=delivery)])
            self.assert_mirrored()
            self.assertEqual(post in self.posts_of(reader), delivery != "none", delivery)
        self.produce([self.tell(reader, author, True)])
        self.relations.befriend(reader, author, True, 1)
        self.note(reader, author, False)  # the ledger's part is what a timeline holds
        self.note(author, reader, True)
        self.assert_mirrored()
        self.relations.befriend(reader, author, False, 2)
        self.note(author, reader, False)
        self.produce([self.tell(reader, author, False)])
        self.assert_mirrored()
        self.produce([self.tell(reader, author, True)])
        self.assert_mirrored()
        self.assertIn(post, self.posts_of(reader))

    def test_what_cannot_be_used_is_kept_and_harms_nothing_else(self):
        rejected = self.counter("fanline_events_rejected_total")
        bad = '{"schema_version": 1, "type": "relation.follow", "src": "7", "dst": "7"}'
        good = self.tell(*self.strangers(), True)
        self.produce([bad, good])
        self.assert_mirrored()
        self.assertEqual(self.counter("fanline_events_rejected_total") - rejected, 1)
        self.assertIn(bad.encode(), [value for _, value in self.read_all(f"{RELATION_EVENTS}.dlq")])

    def test_a_letter_is_replayed_after_a_fix(self):
        """An event is refused for its age. A longer --oldest-record is the fix."""
        long_ago = time.time_ns() // 1_000_000 - 20 * DAY_MS
        reader, author = self.strangers()
        post = self.publish(author)
        before = self.letters(RELATION_EVENTS)
        self.kafka.produce(RELATION_EVENTS, self.tell(reader, author, True), timestamp=long_ago)
        self.assertEqual(self.kafka.flush(60), 0)
        self.wait_for(lambda: self.letters(RELATION_EVENTS) == before + 1, "the letter")
        self.settle()
        self.assertNotIn(post, self.posts_of(reader))

        self.mirror.stop()
        mended = Daemon(self.stack, self.ports, "fanline-mirror", "mended-mirror",
                        [*SESSION, "--oldest-record", "720h"]).start().wait_ready()
        letter, = self.feedctl.json("dlq", "list", "--json", "--topic", RELATION_EVENTS, "--limit", 1,
                                    "--reason", "older than")["letters"]
        replayed = self.feedctl.json("dlq", "replay", "--json", letter["letter"])
        self.assertEqual((replayed["replayed"], replayed["letters"][0]["result"]), (1, "replayed"))
        self.assert_mirrored()
        self.assertIn(post, self.posts_of(reader))
        mended.stop()
        self.mirror.start().wait_ready()

    def letters(self, topic):
        return self.feedctl.json("dlq", "list", "--json", "--topic", topic, "--limit", 0)["found"]

    def test_metrics_tell_what_was_done(self):
        before = self.fleet.counters()
        self.change(*self.strangers(), True)
        self.settle()
        samples = self.fleet.counters() - before
        self.assertGreaterEqual(samples.total("fanline_rel_apply_total", result="applied"), 1)
        self.assertGreaterEqual(samples.total("fanline_rel_apply_lag_seconds_count"), 1)
        self.wait_for(lambda: self.mirror.scrape().total("fanline_rel_log1_pending_rows") == 0,
                      "the gauge to fall")


class KilledAndCutOff(Mirrored):
    def test_killed_after_each_step_nothing_is_lost(self):
        for step in STEPS:
            with self.subTest(step):
                self.mirror.stop()
                posts = []
                for number, (reader, author) in enumerate(self.strangers(20)):
                    posts.append((reader, self.publish(author)))
                    if number % 3 == 0:
                        self.change(reader, author, True)
                    elif number % 3 == 1:
                        self.produce([self.tell(reader, author, True)])
                    else:
                        self.relations.befriend(reader, author, True, next(self.versions))
                        self.note(reader, author, True)
                        self.note(author, reader, True)
                victim = Daemon(self.stack, self.ports, "dying_mirror", f"mirror-dies-{step}",
                                SESSION, {"DIE_AFTER": step}).start()
                self.wait_for(lambda: not victim.running, f"its death after {step}")
                self.assertEqual(victim.process.exit_code, -9)
                if step != "log1":
                    self.assertGreater(self.relations.pending(), 0)
                self.mirror.start().wait_ready()
                self.assert_mirrored()
                for reader, post in posts:
                    self.assertIn(post, self.posts_of(reader))

    def test_a_shard_away_for_ten_seconds_holds_up_only_its_own(self):
        pairs = self.strangers(60)
        here = [pair for pair in pairs if {self.relations.shard_of(user) for user in pair} == {0}]
        self.stack.mysql[1].stop()
        began = time.monotonic()
        for reader, author in here:
            self.change(reader, author, True)
        self.produce([self.tell(reader, author, True) for reader, author in pairs
                      if (reader, author) not in here])
        for reader, author in here:
            self.wait_for(lambda: self.relations.reverse_row(reader, author),
                          "what the other shard does not concern")
        self.wait_for(lambda: "mysql_1" in self.mirror.named(), "the mirror to notice")
        self.assertEqual(self.mirror.status("/readyz"), 200)
        time.sleep(max(0, began + 10 - time.monotonic()))
        self.stack.mysql[1].start()
        back = time.monotonic()
        self.settle()
        print(f"all done {time.monotonic() - back:.1f} s after the shard came back", flush=True)
        self.assert_mirrored()

    def test_told_to_leave_it_finishes_what_it_began(self):
        for reader, author in self.strangers(40):
            self.change(reader, author, True)
        self.assertEqual(self.mirror.stop(), 0)
        self.mirror.start().wait_ready()
        self.assert_mirrored()
