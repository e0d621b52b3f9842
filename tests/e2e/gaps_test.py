"""Logs that lost what nobody had read, and groups that lost what they had committed: what is done
then, and what is to be typed (docs/runbooks/refusals.md)."""

import time
import unittest

from confluent_kafka import Producer

from demo.workload import Event
from stack.programs.fleet import FEED, RELATION_EVENTS, RELATION_LOG, TASKS
from stack.wire.kafka import delete_groups, delete_records
from tests.e2e.refusals_test import EVERYBODY, Agreement

# A hint of post 1 of author 2 in schema_version 99.
NEWER_HINT = b"\x08\x63\x12\x04\x08\x02\x10\x01"
RANGE = 3


class Gaps(Agreement):
    @property
    def kafka_port(self):
        return int(self.stack.kafka.address.rsplit(":", 1)[1])

    def live_again(self):
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_a_topic_made_anew_under_daemons_that_run_is_read_from_its_begin(self):
        self.publish_all(EVERYBODY)
        self.settle()
        self.delete_topics(TASKS)
        for daemon in (self.pusher, self.dispatcher, self.mirror, self.reconciler):
            self.wait_not_ready(daemon, f"there is no topic {TASKS}: run feedctl topics create")
        self.publish_all(EVERYBODY)
        self.make_topics()
        self.start_all()
        self.settle()
        self.assert_exact()
        self.live_again()

    def test_hints_that_were_cut_off_unread_cost_the_ranges_timelines(self):
        self.pusher.stop()
        hinted = self.ranges_hinted()
        self.publish_all(EVERYBODY)
        self.wait_for(lambda: self.ranges_hinted() == hinted + 16 * len(EVERYBODY), "the hints")
        delete_records(self.kafka_port, TASKS, [RANGE])
        self.pusher.start().wait_ready()
        self.settle()
        live = set(self.timelines())
        self.assertLess(len(live), len(EVERYBODY))
        self.assertGreater(len(live), len(EVERYBODY) * 3 // 4)
        self.assert_exact(live=live)
        self.live_again()

    def test_events_that_were_cut_off_unread_are_published_again(self):
        self.settle()
        self.dispatcher.stop()
        now = time.time_ns() // 1_000_000
        posts = [Event("published", next(self.post_ids), author, now) for author in EVERYBODY]
        self.send(posts)
        delete_records(self.kafka_port, FEED, range(8))
        self.dispatcher.start().wait_ready()
        done = self.counter("fanline_events_done_total")
        self.producer.send(posts)
        self.wait_for(lambda: self.counter("fanline_events_done_total") >= done + len(posts),
                      "what was published again")
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_groups_whose_offsets_expired_read_their_logs_from_the_first_record(self):
        self.publish_all(EVERYBODY)
        self.settle()
        for daemon in self.everyone:
            daemon.stop()
        before = self.said(self.pusher).count("the group has no committed offset")
        delete_groups(self.kafka_port, "fanline-dispatcher", "fanline-pusher", "fanline-mirror-events",
                      "fanline-reconciler", "fanline-reconciler-later", "fanline-reconciler-retry")
        for topic in (FEED, RELATION_LOG, RELATION_EVENTS):
            delete_records(self.kafka_port, topic, [0])  # and so do not begin with their first
        self.start_all()
        self.settle()
        self.assertEqual(self.said(self.pusher).count("the group has no committed offset"),
                         before + 16)
        self.assert_exact(live=[])
        self.live_again()

    def test_a_hint_of_a_newer_version_holds_its_range_until_the_pushers_are_upgraded(self):
        newer = Producer({"bootstrap.servers": self.stack.kafka.address})
        newer.produce(TASKS, NEWER_HINT, partition=RANGE)
        self.assertEqual(newer.flush(60), 0)
        self.wait_not_ready(self.pusher, "upgrade the pushers")
        done = self.counter("fanline_hints_done_total")
        self.publish_all(EVERYBODY)
        self.wait_for(lambda: self.counter("fanline_hints_done_total")
                      == done + 15 * len(EVERYBODY), "the other ranges")
        # No newer pusher is at hand: the record is taken away, as an operator should not.
        self.pusher.stop()
        delete_records(self.kafka_port, TASKS, [RANGE])
        self.pusher.start().wait_ready()
        self.settle()
        self.assert_exact()
        self.live_again()
