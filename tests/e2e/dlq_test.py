"""Dead letters as an operator deals with them: listed, shown, replayed after a fix. And what makes
a hint one: three crashes, of which no other hint is blamed."""

import signal
import time
import unittest

from confluent_kafka import Consumer, Producer, TopicPartition

from demo.workload import Event
from stack.programs.daemon import Daemon
from stack.programs.fleet import FEED, TASKS
from tests.e2e.installation import SESSION, Installation, most_followed

BAD = b'{"schema_version":1,"type":"post.gone","post_id":"7","author_id":"5"}'
FEED_DLQ = f"{FEED}.dlq"


class Dlq(Installation):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.author = most_followed(cls.ledger)[0]
        cls.readers = sorted(cls.ledger.followers[cls.author])[:20]
        cls.make_live(cls.readers)
        cls.kafka = Producer({"bootstrap.servers": cls.stack.kafka.address})

    # ---- what happens --------------------------------------------------------------------------

    def produce(self, *values):
        """To the feed, as an application would; waits until they are dead letters."""
        before = self.found()
        for value in values:
            self.kafka.produce(FEED, key=b"7", value=value, headers={
                "content-type": b"application/json", "traceparent": b"00-1-2-01",
                "authorization": b"Bearer secret"})
        self.assertEqual(self.kafka.flush(60), 0)
        self.wait_for(lambda: self.found() == before + len(values), "the letters")

    def mended(self, *args):
        """Another dispatcher instead of ours, with these options."""
        if self.fleet.dispatchers[0].running:
            self.fleet.dispatchers[0].stop()
        other = Daemon(self.stack, self.ports, "fanline-dispatcher", "mended-dispatcher",
                       [*SESSION, *args])
        self.addCleanup(lambda: other.running and other.stop())
        return other.start().wait_ready()

    def list(self, *words):
        return self.feedctl.json("dlq", "list", "--json", *words)

    def found(self, topic=FEED):
        return self.list("--topic", topic, "--limit", 0)["found"]

    def newest(self, topic=FEED):
        return self.list("--topic", topic, "--limit", 1)["letters"][0]

    def replay(self, *words, codes=(0,)):
        return self.feedctl.json("dlq", "replay", "--json", *words, codes=codes)

    def refused(self, *words):
        """Exit code and complaint."""
        running = self.feedctl.start("dlq", *words)
        running.finish(60, range(1, 256))
        return running.exit_code, running.last_word

    def ends(self, *topics):
        """How many records each topic has been given so far."""
        reader = Consumer({"bootstrap.servers": self.stack.kafka.address, "group.id": "nobody"})
        try:
            return [sum(reader.get_watermark_offsets(TopicPartition(topic, partition), 60)[1]
                        for partition in reader.list_topics(topic, 60).topics[topic].partitions)
                    for topic in topics]
        finally:
            reader.close()

    # ---- tests ---------------------------------------------------------------------------------

    def test_a_letter_is_listed_and_shown_and_nothing_of_others_with_it(self):
        self.produce(BAD)
        letter = self.newest()
        self.assertEqual((letter["replayed"], letter["came_back"], letter["stage"]),
                         (False, 0, "dispatcher"))
        self.assertIn('type: found "post.gone"', letter["reason"])
        self.assertRegex(letter["origin"], rf"^{FEED}/\d+/\d+$")
        self.assertEqual(letter["summary"], f"no event, {len(BAD)} bytes")
        self.assertEqual(self.list("--reason", "no such reason")["found"], 0)
        self.assertGreater(self.list("--since", "1h")["found"], 0)
        text = self.feedctl.run("dlq", "list")
        self.assertIn(letter["letter"], text)

        shown = self.feedctl.run("dlq", "list", letter["letter"])
        self.assertIn(BAD.hex(), shown)
        self.assertIn('"traceparent": 00-1-2-01', shown)
        self.assertIn('"authorization": (13 bytes, not shown)', shown)
        self.assertNotIn("secret", shown)
        self.assertEqual(self.list(letter["letter"])["letters"][0]["key"], "7")

    def test_a_replay_that_is_refused_again_says_so(self):
        self.produce(BAD)
        letter = self.newest()["letter"]
        letters = self.found()
        self.assertEqual(self.replay(letter)["replayed"], 1)
        self.wait_for(lambda: self.found() == letters + 1, "it to come back")
        self.assertEqual(self.newest()["came_back"], 1)
        self.assertEqual(self.newest()["reason"],
                         self.list(letter)["letters"][0]["reason"])
        again = self.replay(letter)
        self.assertEqual((again["replayed"], again["before"]), (0, 1))
        self.assertEqual(self.replay(letter, "--again")["replayed"], 1)
        self.wait_for(lambda: self.found() == letters + 2, "it to come back once more")

    def test_a_refused_post_is_delivered_once_the_fix_is_made(self):
        post = Event("published", next(self.post_ids), self.author, time.time_ns() // 1_000_000)
        strict = self.mended("--oldest-record", "1us")
        self.produce(post.encode())
        strict.stop()
        letter = self.newest()
        self.assertIn("older than rows are kept", letter["reason"])
        self.assertTrue(letter["summary"].startswith(f"post.published post {post.post} of author"))

        self.make_live(self.readers)
        mended = self.mended()
        self.assertEqual(self.replay(letter["letter"])["replayed"], 1)
        self.ledger.apply(post)
        self.settle()
        self.assertEqual(self.posts_of(self.readers[0])[0], post.post)
        self.assert_exact(live=self.readers)
        # It is as old as it was, however often it is replayed.
        mended.stop()
        self.mended("--oldest-record", "1s")
        letters = self.found()
        time.sleep(max(0.0, letter["set_aside_ms"] / 1000 + 1.5 - time.time()))
        self.replay(letter["letter"], "--again")
        self.wait_for(lambda: self.found() == letters + 1, "it to be refused")
        self.assertIn("older than rows are kept", self.newest()["reason"])

    def test_an_interrupted_replay_goes_on_where_it_was(self):
        self.produce(*[b'{"number": %d}' % number for number in range(6)])
        places = [letter["letter"] for letter in
                  self.list("--topic", FEED, "--limit", 6)["letters"]]
        appended = self.ends(FEED)[0]
        slow = self.feedctl.start("dlq", "replay", "--rate", 2, *places)
        self.wait_for(lambda: self.ends(FEED)[0] >= appended + 2, "the first replays")
        slow.interrupt(signal.SIGINT)
        slow.finish(60, [130])
        self.wait_for(lambda: self.fleet.backlog() == 0, "the dispatcher")
        done = self.ends(FEED)[0] - appended
        self.assertLess(done, 6)
        rest = self.replay(*places)
        self.assertEqual((rest["found"], rest["before"], rest["replayed"]), (6, done, 6 - done))
        self.assertEqual(self.ends(FEED)[0], appended + 6)

    def test_a_hint_that_crashes_the_process_three_times_is_quarantined_alone(self):
        pusher = self.fleet.pushers[0]
        pusher.stop()
        hinted = self.ranges_hinted()
        poison = self.publish(self.author)
        others = self.publish_all([author for author in most_followed(self.ledger, 40)
                                   for _ in range(3)])
        self.wait_for(lambda: self.ranges_hinted() == hinted + 16 * (1 + len(others)), "the hints")
        dying = Daemon(self.stack, self.ports, "dying_pusher", "dying-pusher", SESSION,
                       env={"DIE_AT_POST": poison, "DIE_IN_RANGE": 5})
        crashes = 0
        while crashes < 10:
            dying.start()
            self.wait_for(lambda: not dying.running or self.found(TASKS) > 0, "its end, or the letter")
            if dying.running:
                break
            crashes += 1
        self.assertEqual(crashes, 3)
        self.wait_for(lambda: self.fleet.backlog() == 0, "the others' hints")
        quarantined = self.list("--topic", TASKS)["letters"]
        self.assertEqual([letter["summary"] for letter in quarantined],
                         [f"hint: post {poison} of author {self.author}"])
        self.assertIn("crashed on this hint again and again", quarantined[0]["reason"])
        self.assertRegex(quarantined[0]["origin"], rf"^{TASKS}/5/\d+$")

        dying.kill()
        pusher.start().wait_ready()
        self.make_live(self.readers)
        before = self.ends(TASKS)[0]
        self.assertEqual(self.replay("--topic", TASKS)["replayed"], 1)
        self.assertEqual(self.ends(TASKS)[0], before + 16)
        self.settle()
        self.assert_exact(live=self.readers)

    def test_what_cannot_be_done_says_what_to_type(self):
        self.assertEqual(self.replay("--topic", "relation-log")["found"], 0)
        self.assertIn("0 dead letters", self.feedctl.run("dlq", "list", "--topic", "relation-log"))
        for words, code, complaint in [
                (["replay"], 64, "say which"),
                (["list", "feed-events/0/0"], 64, "there are feed-events.dlq, fanout-tasks.dlq"),
                (["list", f"{FEED_DLQ}/0"], 64, "write feed-events.dlq/3/17"),
                (["list", f"{FEED_DLQ}/0/999999"], 65, "feedctl dlq list"),
                (["replay", f"{FEED_DLQ}/0/999999"], 65, "feedctl dlq list"),
                (["list", "--topic", "nothing"], 64, "is not a topic of dead letters"),
                (["list", "--relation-events-topic", "gone"], 78, "feedctl topics create"),
                (["list", "--kafka-brokers", "127.0.0.1:1"], 69, "--kafka-brokers")]:
            with self.subTest(words):
                told = self.refused(*words)
                self.assertEqual(told[0], code, told)
                self.assertIn(complaint, told[1])
