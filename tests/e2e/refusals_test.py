"""What an installation must not be is refused, with a line that says what to type; and typing it
helps (docs/refusals.md)."""

import unittest

from confluent_kafka.admin import AdminClient, NewPartitions

from stack.programs.daemon import Daemon
from stack.programs.fleet import TASKS
from tests.e2e.installation import SESSION, USERS, Installation

EVERYBODY = range(1, USERS + 1)
REFUSES = 78


class Refusals(Installation):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)

    @property
    def pusher(self):
        return self.fleet.pushers[0]

    def said(self, daemon):
        return (self.stack.logs / f"{daemon.name}.log").read_text()

    def wait_refused(self, daemon, *words):
        self.wait_for(lambda: not daemon.running, f"{daemon.name} to refuse")
        self.assertEqual(daemon.process.exit_code, REFUSES)
        last = [line for line in self.said(daemon).splitlines() if "refusing" in line][-1]
        for word in words:
            self.assertIn(word, last)

    def test_shards_that_disagree_are_refused(self):
        shard = self.stack.mysql[1]
        shard.query("UPDATE installation SET following_limit = following_limit + 1")
        try:
            for program in ("fanline-pusher", "fanline-dispatcher"):
                other = Daemon(self.stack, self.ports, program, f"other-{program}").start()
                self.wait_refused(other, "mysql_1", "following_limit", "UPDATE installation")
        finally:
            shard.query("UPDATE installation SET following_limit = following_limit - 1")

    def test_a_group_that_committed_nothing_trusts_no_position(self):
        self.publish_all(EVERYBODY)
        self.settle()
        self.pusher.stop()
        other = Daemon(self.stack, self.ports, "fanline-pusher", "other-group",
                       [*SESSION, "--group", "other"]).start()
        self.wait_for(lambda: other.status("/readyz") == 200 and
                      other.scrape().total("fanline_ranges_ready") == 16, "the ranges")
        self.assertEqual(self.said(other).count("the group has no committed offset"), 16)
        self.assert_exact(live=[])
        other.stop()
        self.pusher.start().wait_ready()
        self.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)

    def test_more_partitions_than_ranges_are_refused_and_the_topic_is_made_anew(self):
        admin = AdminClient({"bootstrap.servers": self.stack.kafka.address})
        for made in admin.create_partitions([NewPartitions(TASKS, 17)]).values():
            made.result(60)
        self.wait_refused(self.pusher, "feedctl topics create")
        # Hints that nobody will read.
        self.publish_all(EVERYBODY)
        self.wait_for(lambda: self.fleet._backlogs[0].records() == 0, "the dispatcher")
        self.pusher.start()
        self.wait_refused(self.pusher, "17 partitions", "feedctl topics create")

        self.fleet.dispatchers[0].stop()
        for gone in admin.delete_topics([TASKS]).values():
            gone.result(60)
        self.wait_for(lambda: TASKS not in admin.list_topics(timeout=60).topics, "the end of it")
        self.feedctl.run("topics", "create")
        for daemon in self.fleet.daemons:
            daemon.start()
        self.fleet.wait_serving()
        self.assert_exact(live=[])
        self.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)


if __name__ == "__main__":
    unittest.main()
