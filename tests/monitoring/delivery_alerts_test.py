"""Faults of timelines, of hints and of logs: each alert fires, what its runbook says to type shows the
fault, and it ends when what the page says is done."""

import json
import re
import time
import unittest
from collections import Counter

from confluent_kafka.admin import AdminClient, ConfigResource

from demo.workload import Event
from stack.programs import BIN
from stack.programs.fleet import FEED
from stack.programs.timelines import item
from stack.services.kafka import LIBS
from stack.wire.kafka import delete_records
from tests.e2e.installation import most_followed
from tests.e2e.relations import shard_of
from tests.monitoring import runbook
from tests.monitoring.loaded import WINDOW, Loaded
from tests.monitoring.watched import sees_fire

STANDS_STILL = 20  # seconds; an hour in the rule
FLIP = 0x55


class DeliveryAlerts(Loaded):
    @classmethod
    def shortened(cls, rules):
        return super().shortened(rules).replace("> 3600", f"> {STANDS_STILL}")

    def setUp(self):
        super().setUp()
        self.pusher = {"127.0.0.1:9402": self.at(self.fleet.pushers[0])}
        self.redis_cli = {"redis-cli": f"redis-cli -p {self.stack.redis.port}"}
        self.kafka_port = int(self.stack.kafka.address.rsplit(":", 1)[1])

    @sees_fire("FanlineTimelinesWrong")
    def test_1_a_timeline_shows_what_was_never_posted(self):
        key = self.key_of(self.readers[0])
        self.begun()
        self.stack.redis.command("ZADD", key, *item(1_700_000_000_000, 999_999_999, 1))
        self.wait_fires("FanlineTimelinesWrong", severity="ticket")
        self.assertFalse(self.fires("FanlineTimelinesMissPosts"))
        self.assertRegex(self.said([self.watch]), rf'"reader":"{self.readers[0]}","differences":1')
        self.end_load()
        self.assertRegex(self.type_of("FanlineTimelinesMissPosts", "feedctl audit", codes=(1,)),
                         r"(?m)^extra +[1-9].*\n(?:.*\n)*.*999999999")
        self.begun()
        said = self.type_of("FanlineTimelinesMissPosts", "feedctl audit --repair")
        self.assertRegex(said, r"(?m)^rebuilt +1 ")
        self.wait_silent("FanlineTimelinesWrong")

    @sees_fire("FanlineTimelinesUnwritable")
    def test_2_something_else_writes_to_a_timelines_key(self):
        key = self.key_of(self.readers[1])
        self.begun()
        self.stack.redis.command("DEL", key)
        self.stack.redis.command("SET", key, "of somebody else")
        self.wait_fires("FanlineTimelinesUnwritable", severity="ticket")
        self.assertRegex(self.said(self.fleet.pushers), rf"some timelines could not be written.*{re.escape(key)}")
        instead = {**self.redis_cli, "tl:{3}:42": key}
        self.assertEqual(self.type_of("FanlineTimelinesUnwritable", "redis-cli TYPE", instead), "string\n")
        self.begun()
        self.assertEqual(self.type_of("FanlineTimelinesUnwritable", "redis-cli DEL", instead), "1\n")
        self.wait_silent("FanlineTimelinesUnwritable")
        self.wait_for(lambda: self.posts_of(self.readers[1]), "its reader to rebuild it")

    @sees_fire("FanlineDeliverySlow", "FanlineAuditStandsStill")
    def test_3_a_shard_is_away_for_longer_than_rounds_may_stand_still(self):
        self.wait_silent("FanlineAuditStandsStill")
        self.addCleanup(lambda: self.stack.mysql[1].running or self.stack.mysql[1].start())
        self.begun()
        self.stack.mysql[1].kill()
        self.wait_fires("FanlineDeliverySlow", severity="ticket")
        dispatcher = {"127.0.0.1:9402": self.at(self.fleet.dispatchers[0])}
        self.assertRegex(self.type_of("FanlineDeliveryLag", "curl", dispatcher), '"mysql_1":"')
        self.wait_fires("FanlineAuditStandsStill", severity="ticket")
        watch = {"127.0.0.1:9406": self.at(self.watch)}
        self.assertIn("ready", self.type_of("FanlineAuditStandsStill", "curl", watch))
        self.assertRegex(self.said([self.watch]), '"resource":"mysql_1"')
        self.begun()
        self.stack.mysql[1].start()
        self.wait_silent("FanlineDeliverySlow")
        self.type_of("FanlineDeliveryLag", "feedctl ranges")
        self.wait_silent("FanlineAuditStandsStill")
        self.end_load()
        self.assertIn("good, after", self.type_of("FanlineAuditStandsStill", "feedctl audit"))

    @sees_fire("FanlineHintsQuarantined")
    def test_4_a_hint_that_kills_pushers(self):
        one, other = self.fleet.pushers
        for pusher in (one, other):
            pusher.stop()
        poison, = self.publish_all(most_followed(self.ledger))
        one.programs = self.programs_that_die_at(poison)
        self.begun()
        self.wait_for(lambda: self.started_again(one) and self.fires("FanlineHintsQuarantined"), "the alert")
        self.wait_fires("FanlineHintsQuarantined", severity="ticket")
        self.assertIn("hint quarantined", self.said([one]))
        told = self.type_of("FanlineHintsQuarantined", "feedctl dlq list")
        self.assertIn(f"hint: post {poison} of author", told)
        one.kill()
        one.programs = BIN
        for pusher in (one, other):
            pusher.start().wait_ready()
        self.begun()
        self.assertIn("1 dead letter replayed", self.type_of("FanlineHintsQuarantined", "feedctl dlq replay"))
        self.wait_silent("FanlineHintsQuarantined")

    @sees_fire("FanlineEventsLost", "FanlineLogUnreadable")
    def test_5_a_log_is_corrupt_and_has_no_replica(self):
        dispatcher, = self.fleet.dispatchers
        self.cut_into_segments(FEED)
        dispatcher.stop()
        self.load.end()  # so that what is corrupted, the last of all, is known
        unread = self.published_unread()
        self.stack.kafka.stop()  # or starting it again would cut off what is corrupt
        folder = self.stack.kafka.data / f"{FEED}-0"
        *_, log = [log for log in sorted(folder.glob("*.log")) if log.stat().st_size]
        sound = log.read_bytes()
        log.write_bytes(sound[:-3] + bytes([sound[-3] ^ FLIP]) + sound[-2:])
        self.stack.kafka.start()
        dispatcher.start()
        self.begun()
        self.wait_fires("FanlineLogUnreadable", severity="page", topic=FEED)
        reason = dispatcher.named()[f"kafka_{FEED}"]
        self.assertRegex(reason, rf"^{FEED}/0 at offset \d+: the log is corrupt here")

        told = self.type_of("FanlineLogUnreadable", "kafka-dump-log.sh", {
            "kafka-dump-log.sh": f"java -cp '{LIBS}/*' kafka.tools.DumpLogSegments",
            "/var/lib/kafka/feed-events-0": folder})
        damaged, = re.findall(r"baseOffset: \d+ lastOffset: (\d+) .*isvalid: false", told)
        request = runbook.command_of("FanlineLogUnreadable", "echo")
        place, = json.loads(re.search("'(.*)'", request)[1])["partitions"]
        self.assertEqual(set(place), {"topic", "partition", "offset"})
        # What kafka-delete-records.sh asks the broker for.
        self.begun()
        delete_records(self.kafka_port, FEED, [0], before=int(damaged) + 1)
        self.wait_fires("FanlineEventsLost", severity="page", job="fanline-dispatcher")
        self.wait_silent("FanlineLogUnreadable")
        self.publish_again(unread)
        self.wait_silent("FanlineEventsLost")

    @sees_fire("FanlineEventsLost")
    def test_6_a_dispatcher_was_down_for_longer_than_events_are_kept(self):
        dispatcher, = self.fleet.dispatchers
        self.wait_silent("FanlineEventsLost")
        dispatcher.stop()
        unread = self.published_unread()
        time.sleep(WINDOW + 5)  # so that nothing of before is in the window of the alert
        delete_records(self.kafka_port, FEED, range(8))
        self.begun()
        dispatcher.start().wait_ready()
        self.wait_fires("FanlineEventsLost", severity="page", job="fanline-dispatcher")
        self.assertIn("events were cut from the log before they were read", self.said([dispatcher]))
        self.publish_again(unread)
        self.wait_silent("FanlineEventsLost")

    def cut_into_segments(self, topic):
        """What is appended from now on makes a new file of each partition every few records; waits for the first one's second."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config={"segment.bytes": "4096"})
        admin = AdminClient({"bootstrap.servers": self.stack.kafka.address})
        for done in admin.alter_configs([resource]).values():
            done.result(60)
        self.wait_for(lambda: len(list((self.stack.kafka.data / f"{topic}-0").glob("*.log"))) > 1, "a second segment")

    def published_unread(self):
        now = time.time_ns() // 1_000_000
        posts = [Event("published", next(self.post_ids), author, now)
                 for author in most_followed(self.ledger, 100)]
        self.send(posts)
        return posts

    def publish_again(self, posts):
        """As the page says, and what it says to type afterwards."""
        self.end_load()
        reader, theirs = self.misses_most_surely([post for post in posts if not self.is_stored(post)])
        self.assertFalse(theirs & set(self.posts_of(reader) or []))
        self.producer.send(posts)
        self.wait_for(lambda: theirs <= set(self.posts_of(reader) or []), "what was published again")
        self.settle()
        self.assertIn("good, after", self.type_of("FanlineEventsLost", "feedctl audit"))

    def is_stored(self, post):
        shard = self.stack.mysql[shard_of(post.author)]
        return bool(shard.query(f"SELECT 1 FROM author_post WHERE author_id = {post.author} AND post_id = {post.post}"))

    def misses_most_surely(self, lost):
        """A reader who follows authors of posts that were lost, and few others, whose newer posts would push these out of the
        window; and those posts."""
        followed = Counter(reader for readers in self.ledger.followers.values() for reader in readers)
        theirs = {reader: posts for reader in self.readers
                  if (posts := {post.post for post in lost if reader in self.ledger.followers[post.author]})}
        self.assertTrue(theirs, f"of {len(lost)} posts that were lost none has a reader with a live timeline")
        reader = min(theirs, key=followed.get)
        return reader, theirs[reader]

    def programs_that_die_at(self, post):
        folder = self.stack.logs / "dying"
        folder.mkdir()
        program = folder / "fanline-pusher"
        program.write_text(f'#!/bin/sh\nDIE_AT_POST={post} DIE_IN_RANGE=5 exec {BIN}/dying_pusher "$@"\n')
        program.chmod(0o755)
        return folder

    def started_again(self, daemon):
        """As systemd and Kubernetes do."""
        if not daemon.running:
            daemon.start()
        return True

    def key_of(self, reader):
        self.wait_for(lambda: len(self.posts_of(reader) or []) > 3, "posts in a timeline")
        key, = (key for key in self.stack.redis.command("KEYS", "tl:*")
                if key.rsplit(":", 1)[1] == str(reader))
        return key

    def said(self, daemons):
        return "".join((self.stack.logs / f"{daemon.name}.log").read_text() for daemon in daemons)
