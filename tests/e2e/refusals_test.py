"""What an installation must not be is refused, at the start and while the daemons run, with a line
that says what to type; and typing it helps (docs/runbooks/refusals.md)."""

import time
import unittest

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions

from stack.programs.api import Api
from stack.programs.daemon import Daemon
from stack.programs.feedctl import FeedctlFailed
from stack.programs.fleet import FEED, RELATION_LOG, TASKS
from stack.services.mysql import MariaDb
from tests.e2e.installation import SESSION, USERS, Installation

EVERYBODY = range(1, USERS + 1)
REFUSES = 78
CHECKED_EVERY = 5  # seconds (backends/wiring/checks.h)
FEED_DLQ, TASKS_DLQ = f"{FEED}.dlq", f"{TASKS}.dlq"


class Agreement(Installation):
    """A daemon of each kind."""

    mirrors = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make_live(EVERYBODY)
        cls.reconciler = Daemon(cls.stack, cls.ports, "fanline-reconciler", "reconciler", SESSION)
        cls.api = Api(cls.stack, cls.ports)
        cls.admin = AdminClient({"bootstrap.servers": cls.stack.kafka.address})

    @property
    def pusher(self):
        return self.fleet.pushers[0]

    @property
    def dispatcher(self):
        return self.fleet.dispatchers[0]

    @property
    def mirror(self):
        return self.fleet.mirrors[0]

    @property
    def everyone(self):
        return [*self.fleet.daemons, self.reconciler, self.api]

    def setUp(self):
        self.start_all()

    def start_all(self):
        for daemon in self.everyone:
            if not daemon.running:
                daemon.start()
        self.fleet.wait_serving()
        for daemon in self.everyone:
            daemon.wait_ready()

    def said(self, daemon):
        return (self.stack.logs / f"{daemon.name}.log").read_text()

    def wait_refused(self, daemon, *words):
        self.wait_for(lambda: not daemon.running, f"{daemon.name} to refuse")
        self.assertEqual(daemon.process.exit_code, REFUSES)
        last = [line for line in self.said(daemon).splitlines() if "refusing" in line][-1]
        for word in words:
            self.assertIn(word, last)

    def wait_not_ready(self, daemon, *words):
        def told():
            status, body = daemon.get("/readyz")
            return status == 503 and all(word in body for word in words)

        self.wait_for(told, f"{daemon.name} to say {words}")

    def make_topics(self):
        self.feedctl.run("topics", "create")

    def delete_topics(self, *topics):
        for gone in self.admin.delete_topics(list(topics)).values():
            gone.result(60)
        self.wait_for(lambda: not {*topics} & self.admin.list_topics(timeout=60).topics.keys(),
                      "the end of them")

    def add_partitions(self, topic, count):
        for made in self.admin.create_partitions([NewPartitions(topic, count)]).values():
            made.result(60)


class Refusals(Agreement):
    def test_shards_that_are_not_the_installations_are_refused(self):
        one, other = self.stack.env["FANLINE_MYSQL_SHARDS"].split(",")
        for program, shards, words in (
                ("fanline-reconciler", [other, one], ("shard_index", "feedctl init")),
                ("fanline-dispatcher", [one], ('shard_count \\"2\\"', "1 shards"))):
            with self.subTest(program):
                refused = Daemon(self.stack, self.ports, program, f"refused-{program}",
                                 env={"FANLINE_MYSQL_SHARDS": ",".join(shards)}).start()
                self.wait_refused(refused, *words)

    def test_a_start_that_waits_for_a_shard_says_where_it_should_be(self):
        one, _ = self.stack.env["FANLINE_MYSQL_SHARDS"].split(",")
        waiting = Daemon(self.stack, self.ports, "fanline-reconciler", "waiting",
                         env={"FANLINE_MYSQL_SHARDS": f"{one},tcp://127.0.0.1:1/fanline"}).start()
        self.addCleanup(waiting.stop)
        self.wait_for(lambda: waiting.status("/readyz") is not None, "its door")
        self.wait_not_ready(waiting, "shard 1 at 127.0.0.1:1/fanline: SQL error 2002", "set --mysql-shards")

    def test_a_pusher_whose_instance_id_another_takes_goes_and_leaves_no_start_behind(self):
        self.assertEqual(self.pusher.stop(), 0)
        option, properties = SESSION
        one, twin = (Daemon(self.stack, self.ports, "fanline-pusher", name, [
            option, f"{properties},group.instance.id=one"]) for name in ("one", "twin"))
        for pusher in one, twin:
            self.addCleanup(lambda pusher=pusher: pusher.running and pusher.stop())
        one.start().wait_ready()
        self.wait_for(lambda: self.starts() == 16, "all ranges")
        twin.start()
        self.wait_refused(one, "group.instance.id of its own")
        self.wait_for(lambda: twin.scrape().total("fanline_ranges_ready") == 16, "all ranges")
        self.assertEqual(self.starts(), 16, "of the twin alone")
        self.assertEqual(twin.stop(), 0)
        self.assertEqual(self.starts(), 0)

    def starts(self):
        """That nobody has settled: of crashes, and of owners."""
        return sum(int(shard.query("SELECT COUNT(*) FROM range_start")[0][0])
                   for shard in self.stack.mysql)

    def test_rows_that_change_under_the_daemons_end_all_of_them(self):
        shard = self.stack.mysql[1]
        shard.query("UPDATE installation SET generation = generation + 1")
        for daemon in self.everyone:
            self.wait_refused(daemon, "shard 1 at ", ": generation is", "stop all programs", "UPDATE installation")
        self.pusher.start()
        self.wait_refused(self.pusher, "refusing to start", "shard 1 at ", ": generation is",
                          "UPDATE installation")
        shard.query("UPDATE installation SET generation = generation - 1")

        for other in self.stack.mysql:
            other.query("UPDATE installation SET schema_version = 2")
        self.api.start()
        self.wait_refused(self.api, "schema_version is 2", "this program knows 1")
        for other in self.stack.mysql:
            other.query("UPDATE installation SET schema_version = 1")
        self.stamp("CreateTime")
        for daemon in (self.mirror, self.reconciler):
            daemon.start()
            self.wait_refused(daemon, "message.timestamp.type=CreateTime", "LogAppendTime")
        self.stamp("LogAppendTime")

        self.publish_all(EVERYBODY)
        self.start_all()
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_a_shard_that_comes_back_as_an_older_version_is_waited_for(self):
        shard = self.stack.mysql[1]
        if not isinstance(shard, MariaDb):
            self.skipTest("MySQL does not say that it is another version")
        letters = self.feedctl.json("dlq", "list", "--json")["found"]
        self.restart(shard, "10.6.20-MariaDB")
        refused = Daemon(self.stack, self.ports, "fanline-dispatcher", "refused-by-version").start()
        self.wait_refused(refused, "shard 1 at ", "MariaDB 10.6.20 is too old")
        self.publish_all(EVERYBODY)
        time.sleep(CHECKED_EVERY + 1)
        for daemon in self.everyone:
            self.assertTrue(daemon.running, daemon.name)
        self.restart(shard, None)
        self.start_all()
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.feedctl.json("dlq", "list", "--json")["found"], letters)

    def restart(self, shard, version):
        shard.stop()
        shard.called = version
        shard.start()

    def stamp(self, how):
        wanted = ConfigResource(ConfigResource.Type.TOPIC, RELATION_LOG,
                                set_config={"message.timestamp.type": how})
        for changed in self.admin.alter_configs([wanted]).values():
            changed.result(60)

    def test_another_installation_in_its_redis_ends_a_pusher(self):
        self.api.stop()  # it would refuse, too, if it looked in time
        redis = self.stack.redis
        mark, = redis.command("KEYS", "installation:*")
        ours = redis.command("GET", mark)
        redis.command("SET", mark, "12345")
        self.wait_refused(self.pusher, "installation 12345", "--redis-key-prefix")
        self.pusher.start()
        self.wait_refused(self.pusher, "refusing to start", "holds the keys of installation 12345")
        with self.assertRaisesRegex(FeedctlFailed, "(?s)ended with 78: .*--redis-key-prefix"):
            self.feedctl.run("audit")
        self.assertEqual(redis.command("GET", mark), "12345")
        redis.command("SET", mark, ours)
        self.start_all()
        self.assert_exact(live=EVERYBODY)

    def test_letters_without_a_topic_wait_for_it(self):
        self.delete_topics(FEED_DLQ, TASKS_DLQ)
        advice = f"there is no topic {FEED_DLQ}: run feedctl topics create"
        self.wait_not_ready(self.dispatcher, advice)
        # A start waits, too; who runs goes on with all that can be used.
        self.pusher.stop()
        self.pusher.start()
        self.wait_for(lambda: self.pusher.status("/readyz") is not None, "its door")
        self.wait_not_ready(self.pusher, f"no topic {TASKS_DLQ}: run feedctl topics create")
        done = self.counter("fanline_events_done_total")
        bad = Producer({"bootstrap.servers": self.stack.kafka.address})
        bad.produce(FEED, key=b"7", value=b"no event")
        self.assertEqual(bad.flush(60), 0)
        self.publish_all(EVERYBODY)
        self.wait_for(lambda: self.counter("fanline_events_done_total") == done + len(EVERYBODY),
                      "what can be used")
        self.make_topics()
        self.start_all()
        self.wait_for(lambda: self.feedctl.json("dlq", "list", "--json", "--topic", FEED)["found"],
                      "the letter")
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_more_partitions_than_ranges_are_refused_and_the_topic_is_made_anew(self):
        self.add_partitions(TASKS, 17)
        for daemon in (self.pusher, self.dispatcher, self.mirror, self.reconciler):
            self.wait_refused(daemon, "feedctl topics create")
        self.assertEqual(self.api.status("/readyz"), 200)
        self.pusher.start()
        self.wait_refused(self.pusher, "refusing to start", "17 partitions", "feedctl topics create")
        self.publish_all(EVERYBODY)  # which nobody reads

        self.delete_topics(TASKS)
        self.make_topics()
        self.start_all()
        self.settle()
        self.assert_exact(live=[])
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_more_partitions_of_relation_log_end_whoever_counted_them(self):
        self.add_partitions(RELATION_LOG, 9)
        for daemon in (self.mirror, self.reconciler):
            self.wait_refused(daemon, "9 partitions, 8 when this program started", "start it again")
        self.start_all()
        stranger = next(author for author in EVERYBODY[1:] if 1 not in self.ledger.followers[author])
        self.follow(1, stranger)
        post = self.publish(stranger)
        self.wait_for(lambda: post in self.posts_of(1), "the post of whom he follows")
        self.settle()
        self.assert_exact(live=EVERYBODY)
