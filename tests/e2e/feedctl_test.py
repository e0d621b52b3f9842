"""feedctl as its users meet it: beside real services and daemons, from an empty installation to an
audit that finds what was planted."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from confluent_kafka.admin import AdminClient, ConfigResource

from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.api import Api
from stack.programs.fleet import Fleet
from stack.programs.relations import Relations
from stack.programs.timelines import item, member_of
from stack.programs.visits import make_live, visited
from stack.waiting import wait_until

FEEDCTL = BIN / "feedctl"
TIMEOUT_S = 60
LONG_AGO = 1_700_000_000_000  # Unix ms: 2023-11-14T22:13:20Z

# Who follows whom: an edge twice, one to oneself.
GRAPH = """# who  whom
1 2
1 3
2\t3
4 3
5 4

1 2
6 6
"""
USERS, EDGES = 6, 5


class Installation:
    """A stack, and feedctl beside it."""

    def __init__(self, case):
        self.stack = LocalStack()
        case.addClassCleanup(self.stack.stop)
        self.stack.start()
        self.folder = tempfile.TemporaryDirectory()
        case.addClassCleanup(self.folder.cleanup)
        self.env = {**os.environ, **self.stack.env}

    def start(self, *words, **settings):
        return subprocess.Popen([FEEDCTL, *map(str, words)], env=self.env, text=True,
                                stdout=subprocess.PIPE,
                                **{"stderr": subprocess.PIPE, **settings})

    def run(self, *words, given=None, env=None):
        return subprocess.run([FEEDCTL, *map(str, words)], env={**self.env, **(env or {})},
                              text=True, input=given, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT_S)

    def file(self, name, content):
        path = Path(self.folder.name) / name
        path.write_text(content)
        return path

    def number(self, sql):
        return sum(int(shard.query(sql)[0][0] or 0) for shard in self.stack.mysql)

    def wait_mirrored(self):
        """Until every change has its reverse row and its hint; needs a mirror."""
        wait_until(lambda: Relations(self.stack.mysql).pending() == 0, TIMEOUT_S, "the mirror")


def event(author, post, **more):
    """Its number is its time, too."""
    return json.dumps({"schema_version": 1, "type": "post.published", "post_id": str(post),
                       "author_id": str(author), "created_at_ms": LONG_AGO + post, **more})


def _read(terminal):
    """What was written to it; b"" when nobody has it open any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


class Using(unittest.TestCase):
    """An installation with a small graph and its daemons. Each test has users of its own."""

    @classmethod
    def setUpClass(cls):
        cls.installation = Installation(cls)
        cls.told = [cls.run_well("init"), cls.run_well("topics", "create")]
        graph = cls.installation.file("graph.txt", GRAPH)
        cls.imported = json.loads(cls.run_well("import", graph, "--json"))
        cls.ports = ports = Ports()
        cls.addClassCleanup(ports.close)
        cls.fleet = Fleet(cls.installation.stack, ports, mirrors=1)
        cls.addClassCleanup(cls.fleet.close)
        cls.fleet.start().wait_serving()
        cls.api = Api(cls.installation.stack, ports)
        cls.api.start()
        cls.api.wait_ready()
        cls.client = cls.api.client()
        cls.addClassCleanup(cls.client.close)

    @classmethod
    def run_well(cls, *words, **settings):
        result = cls.installation.run(*words, **settings)
        if result.returncode != 0:
            raise AssertionError(f"feedctl {words}: {result.returncode}: {result.stderr}")
        return result.stdout

    def json(self, *words):
        return json.loads(self.run_well(*words, "--json"))

    def settle(self):
        self.installation.wait_mirrored()
        self.fleet.wait_idle(TIMEOUT_S)

    def follow(self, reader, author):
        Relations(self.installation.stack.mysql).change(reader, author, True)
        self.installation.wait_mirrored()

    def make_live(self, *readers):
        """By a process that reads what is installed now."""
        with visited(self.installation.stack, self.ports) as api:
            make_live(api, readers)

    def publish(self, author, *posts):
        """Posts of long ago."""
        events = "\n".join(event(author, post) for post in posts)
        self.run_well("publish", "--from", "-", given=events)
        self.settle()

    def posts(self, reader):
        """As its reader sees them."""
        page = self.client.get(f"/v1/users/{reader}/timeline").json
        return [int(item["id"]) for item in page["items"]]

    def redis(self, *words):
        return self.installation.stack.redis.command(*words)

    def audit(self, *words):
        result = self.installation.run("audit", "--json", *words)
        return result.returncode, json.loads(result.stdout)

    # ---- setting up ----

    def test_setting_up_says_what_was_made(self):
        self.assertEqual(self.told[0],
                         "installed: shards 2, ranges 16, topics feed-events and fanout-tasks\n")
        self.assertEqual(self.told[1], "".join(
            f"{topic}{suffix}: created, {partitions} partitions\n"
            for topic, partitions in (("feed-events", 8), ("fanout-tasks", 16),
                                      ("relation-events", 8), ("relation-log", 8),
                                      ("relation-log.retry", 8))
            for suffix in ("", ".dlq")))

    def test_setting_up_again_changes_nothing(self):
        self.assertEqual(self.run_well("init"), self.told[0])
        self.assertEqual(self.run_well("topics", "create"),
                         self.told[1].replace("created", "exists"))
        self.assertEqual(self.installation.number("SELECT COUNT(*) FROM installation"), 2)

    def test_another_installation_over_this_one_is_refused(self):
        result = self.installation.run("init", "--ranges", 32)
        self.assertEqual(result.returncode, 78)
        self.assertIn('partitions is "16", expected "32"', result.stderr)

    def test_the_mirror_mode_is_shown_and_set(self):
        self.assertEqual(self.run_well("relations", "mode"), "async\n")
        self.assertEqual(self.run_well("relations", "mode", "sync"), "sync, was async\n")
        self.assertEqual(self.run_well("relations", "mode", "sync"), "sync\n")
        self.assertEqual(json.loads(self.run_well("relations", "mode", "async", "--json")),
                         {"mode": "async", "before": "sync"})
        self.assertEqual(self.installation.run("relations", "mode", "both").returncode, 64)

    def test_a_relation_log_with_the_producers_times_is_refused(self):
        admin = AdminClient({"bootstrap.servers": self.installation.stack.kafka.address})

        def stamp(value):
            resource = ConfigResource(ConfigResource.Type.TOPIC, "relation-log",
                                      set_config={"message.timestamp.type": value})
            admin.alter_configs([resource])[resource].result(TIMEOUT_S)

        self.addCleanup(stamp, "LogAppendTime")
        stamp("CreateTime")
        result = self.installation.run("topics", "create")
        self.assertEqual(result.returncode, 78)
        self.assertIn("relation-log exists with message.timestamp.type=CreateTime; set it to "
                      "LogAppendTime", result.stderr)

    def test_dead_letters_have_room_for_their_reasons(self):
        admin = AdminClient({"bootstrap.servers": self.installation.stack.kafka.address})
        configs = {}
        for topic in ("feed-events", "fanout-tasks"):
            for name in (topic, f"{topic}.dlq"):
                resource = ConfigResource(ConfigResource.Type.TOPIC, name)
                configs[name] = admin.describe_configs([resource])[resource].result(TIMEOUT_S)
            sizes = [int(configs[name]["max.message.bytes"].value)
                     for name in (topic, f"{topic}.dlq")]
            self.assertEqual(sizes[1] - sizes[0], 64 * 1024)
        hours = {name: int(config["retention.ms"].value) // 3_600_000
                 for name, config in configs.items()}
        self.assertEqual(hours, {"feed-events": 168, "feed-events.dlq": 336,
                                 "fanout-tasks": 168, "fanout-tasks.dlq": 336})
        self.assertEqual({config["cleanup.policy"].value for config in configs.values()},
                         {"delete"})

    def test_dropped_timelines_are_rebuilt_and_their_ranges_taken_over_anew(self):
        self.follow(71, 72)
        self.make_live(71)
        self.publish(72, 7_001)
        self.assertGreater(self.json("timelines", "drop", "--rate", 0)["keys"], 3)
        self.assertEqual(self.redis("KEYS", "tl:*:71"), [])
        self.publish(72, 7_002)  # no range has an owner: each is taken over
        self.make_live(71)
        self.publish(72, 7_003)
        self.assertEqual(self.posts(71), [7_003, 7_002, 7_001])
        self.assertEqual(self.audit()[0], 0)

    # ---- import ----

    def test_import_counts_what_it_loaded_and_what_it_left_out(self):
        seconds = self.imported.pop("seconds", 1)
        self.imported["seconds"] = seconds
        self.assertEqual({**self.imported, "seconds": 0}, {
            "users": USERS, "edges": EDGES, "repeated": 1, "to_oneself": 1,
            "already_there": 0, "chosen": 0, "hints": 0, "seconds": 0,
            "users_over_limit": 0, "edges_over_limit": 0})
        followers = "SELECT SUM(fans_cnt) FROM user_fan WHERE user_id = 3"
        self.assertEqual(self.installation.number(followers), 3)

    # ---- posts and timelines ----

    def test_a_bad_event_is_named_and_those_before_it_are_sent(self):
        self.follow(1080, 1081)
        events = self.installation.file(
            "events.json", f'{event(1081, 410)}\n{{"type":"post.deleted"}}\n')
        result = self.installation.run("publish", "--from", events)
        self.assertEqual(result.returncode, 65)
        self.assertIn(f"{events}:2: schema_version: missing", result.stderr)
        self.assertIn("1 event before it were acknowledged", result.stderr)
        self.settle()
        self.assertEqual(self.posts(1080), [410])

    def test_a_file_may_hold_reposts_and_doctor_says_what_they_show(self):
        """In the file the repost stands before what it shows, whose author the reader does not follow."""
        self.follow(1090, 1091)
        self.make_live(1090)
        events = self.installation.file("reposts.json", "\n".join([
            event(1091, 431, repost_of={"post_id": "430", "author_id": "1092"}), event(1092, 430)]))
        self.run_well("publish", "--from", events)
        self.settle()
        item, = self.client.get("/v1/users/1090/timeline").json["items"]
        self.assertEqual((item["id"], item["author_id"]), ("430", "1092"))
        self.assertEqual([(repost["by"], repost["id"]) for repost in item["reposts"]], [("1091", "431")])

        def told():
            checks = {check["name"]: check["text"] for check in self.json("doctor", 1090)["checks"]}
            self.assertEqual(checks["compared"], "holds what the shards say")
            return checks["newest items"]

        self.assertRegex(told(), "^repost 431, created 20.*, of author 1091, shows post 430 of author 1092$")
        self.run_well("publish", "--from", "-", given=json.dumps(
            {"schema_version": 1, "type": "post.hidden", "post_id": "430", "author_id": "1092", "version": 1}))
        self.settle()
        self.assertRegex(told(), "of author 1092, which is hidden: no page shows it$")
        self.run_well("follow", 1090, 1091, "--delivery", "no_reposts")
        self.settle()
        checks = {check["name"]: check["text"] for check in self.json("doctor", 1090)["checks"]}
        self.assertIn("1 user, 1 of them without reposts, 1 of them posted", checks["follows"])
        self.assertIn("live, 0 items", checks["state"])
        self.assertEqual(self.audit()[0], 0)

    # ---- counters of relations ----

    def counters(self, *words):
        result = self.installation.run("relations", "counters", *words, "--json")
        return result.returncode, json.loads(result.stdout)

    def on_shards(self, sql):
        for shard in self.installation.stack.mysql:
            shard.query(sql)

    def break_counters(self, reader, author, by):
        self.on_shards("UPDATE user_rel SET following_cnt = following_cnt + "
                       f"({by}) WHERE user_id = {reader}")
        self.on_shards(f"UPDATE user_fan SET fans_cnt = fans_cnt + ({by}) WHERE user_id = {author}")

    def test_counters_that_drifted_are_found_and_repaired(self):
        self.follow(1700, 1701)
        self.follow(1700, 1702)
        self.settle()
        code, found = self.counters()
        self.assertEqual((code, found["differing"], found["drift"], found["differences"]),
                         (0, 0, 0, []))
        everybody = found["users"]
        self.assertEqual(found["counters"], 2 * everybody)
        self.assertTrue(found["complete"])

        self.break_counters(1700, 1701, -7)
        self.on_shards("DELETE FROM user_fan WHERE user_id = 1702")
        drifted = [("1700", "followed", -5, 2), ("1701", "followers", -6, 1),
                   ("1702", "followers", 0, 1)]
        for users in ((), (1702, 1701, 1700, 1700)):
            with self.subTest(users=users):
                code, found = self.counters(*users)
                self.assertEqual(code, 1)
                self.assertEqual(sorted(found["differences"], key=lambda one: one["user"]),
                                 [{"user": user, "counter": counter, "is": value, "rows": rows,
                                   "repaired": False} for user, counter, value, rows in drifted])
                self.assertEqual((found["differing"], found["drift"], found["repaired"]),
                                 (3, 15, 0))
                self.assertEqual(found["users"], 3 if users else everybody)

        code, found = self.counters("--repair", "--show", 1)
        self.assertEqual((code, found["differing"], found["drift"], found["repaired"],
                          len(found["differences"])), (0, 3, 15, 3, 1))
        code, found = self.counters("--repair")
        self.assertEqual((code, found["differing"], found["repaired"]), (0, 0, 0))
        self.assertEqual(self.installation.number(
            "SELECT COUNT(*) FROM repair_log WHERE net = 'counter' AND src IN (1700, 1701, 1702)"),
                         3)
        self.assertEqual(self.installation.number(
            "SELECT SUM(following_cnt) FROM user_rel WHERE user_id = 1700"), 2)

    def test_counters_are_told_with_what_to_do_next(self):
        self.follow(1710, 1711)
        self.settle()
        self.assertRegex(self.run_well("relations", "counters", 1710, 1711),
                         r"^4 counters of 2 users in [\d.]+ s: all are right\n$")
        self.break_counters(1710, 1711, 3)
        result = self.installation.run("relations", "counters", 1710, 1711, "--show", 1)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout,
                         r"^user 1710: followed is 4, rows say 1\nand 1 more\n4 counters of 2 "
                         r"users in [\d.]+ s: 2 differ, by 6 in all; nothing was changed, "
                         r"--repair mends them\n$")
        self.assertRegex(self.run_well("relations", "counters", 1711, "--repair"),
                         r"^user 1711: followers was 4, rows say 1; repaired\n2 counters of 1 user "
                         r"in [\d.]+ s: 1 differed, by 3 in all; 1 repaired\n$")
        self.run_well("relations", "counters", 1710, "--repair")

    # ---- audit ----

    def test_an_audit_finds_nothing_and_then_what_was_planted(self):
        self.follow(1500, 1501)
        self.make_live(1500)
        self.publish(1501, 600, 601, 602)
        self.assertEqual(self.posts(1500), [602, 601, 600])
        code, found = self.audit()
        self.assertEqual((code, found["good"], found["missing"], found["extra"]),
                         (0, True, 0, 0))
        key, = self.redis("KEYS", "tl:*:1500")

        self.redis("ZREM", key, member_of(601, 1501))
        self.redis("ZADD", key, *item(LONG_AGO + 700, 700, 1501))
        code, found = self.audit()
        self.assertEqual((code, found["good"], found["missing"], found["extra"]),
                         (1, False, 1, 1))
        self.assertEqual(found["examples"], [
            "reader 1500: missing post 601, created 2023-11-14T22:13:20.601Z, of author 1501",
            "reader 1500: extra post 700, created 2023-11-14T22:13:20.700Z, of author 1501"])
        text = self.installation.run("audit").stdout
        self.assertIn(found["examples"][0], text)
        self.assertRegex(text, r"\nNOT GOOD, after [\d.]+ s\n$")

        self.redis("ZREM", key, member_of(700, 1501))
        self.redis("ZADD", key, *item(LONG_AGO + 601, 601, 1501))
        self.assertEqual(self.audit()[0], 0)

    def test_progress_is_a_bar_on_a_terminal(self):
        here, terminal = os.openpty()
        with self.installation.start("relations", "counters", *range(200_000, 202_000),
                                     stderr=terminal) as feedctl:
            os.close(terminal)
            drawn = b""
            while chunk := _read(here):
                drawn += chunk
            os.close(here)
            self.assertRegex(feedctl.stdout.read(), r"^4,000 counters of 2,000 users in")
        self.assertRegex(drawn, rb"\r\x1b\[Kcomparing counters: \[#* *\] [\d,]+ of 2,000 users, [\d,]+/s")
        self.assertTrue(drawn.endswith(b"\r\x1b[K"), drawn[-80:])  # and then gone

    # ---- being interrupted ----

    def test_interrupted_publishing_brings_home_what_it_sent(self):
        feedctl = self.installation.start("publish", "--from", "-", "--rate", 100,
                                          stdin=subprocess.PIPE)
        feedctl.stdin.write("".join(event(1601, 7000 + n) + "\n" for n in range(500)))
        feedctl.stdin.flush()
        self.assertIn("publishing: ", feedctl.stderr.readline())  # it is under way
        feedctl.send_signal(signal.SIGINT)
        said, _ = feedctl.communicate(timeout=TIMEOUT_S)
        self.assertEqual(feedctl.returncode, 130)
        told = re.fullmatch(r"interrupted: (\d+) events acknowledged in [\d.]+ s\n", said)
        self.assertTrue(told, said)
        self.settle()
        rows = "SELECT COUNT(*) FROM author_post WHERE author_id = 1601"
        self.assertEqual(self.installation.number(rows), int(told[1]))

    def test_interrupted_publishing_does_not_wait_for_more_input(self):
        self.follow(1610, 1611)
        feedctl = self.installation.start("publish", "--from", "-", stdin=subprocess.PIPE)
        feedctl.stdin.write(event(1611, 9900) + "\n")
        feedctl.stdin.flush()
        wait_until(lambda: self.posts(1610) == [9900], TIMEOUT_S, "the post that was piped in")
        feedctl.send_signal(signal.SIGINT)
        self.assertEqual(feedctl.wait(TIMEOUT_S), 130)
        feedctl.communicate()

    def test_an_interrupted_repair_of_counters_ends_between_two_users(self):
        users = (1620, 1621, 1622)
        for user in users:
            self.follow(user, 1623)
            self.break_counters(user, user, 2)
        shard, = (shard for shard in self.installation.stack.mysql
                  if shard.query("SELECT 1 FROM user_rel WHERE user_id = 1621"))
        with shard.client() as other:
            other.query("START TRANSACTION")
            other.query("UPDATE user_rel SET epoch = epoch WHERE user_id = 1621")
            feedctl = self.installation.start("relations", "counters", "--repair", *users)
            waiting = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
            wait_until(lambda: shard.query(waiting), TIMEOUT_S, "the repair that waits")
            feedctl.send_signal(signal.SIGINT)
            other.query("ROLLBACK")
            said, _ = feedctl.communicate(timeout=TIMEOUT_S)
        self.assertEqual(feedctl.returncode, 130)
        self.assertRegex(said, r"\nbroken off: 4 counters of 2 users in [\d.]+ s: 2 differed, by 4 "
                               r"in all; 2 repaired\n$")
        self.assertEqual(self.installation.number(
            "SELECT SUM(following_cnt) FROM user_rel WHERE user_id IN (1620, 1621, 1622)"),
                         1 + 1 + 3)
        self.run_well("relations", "counters", "--repair", *users)

    def test_what_has_nothing_to_bring_home_ends_at_once(self):
        feedctl = self.installation.start("import", "-", stdin=subprocess.PIPE)
        feedctl.stdin.write("1 2\n" * 1_000_000)  # more than a pipe holds: it is reading
        feedctl.stdin.flush()
        feedctl.send_signal(signal.SIGINT)
        _, complaint = feedctl.communicate(timeout=TIMEOUT_S)
        self.assertEqual(feedctl.returncode, 130)
        self.assertTrue(complaint.endswith("feedctl: interrupted\n"), complaint)


class Failing(unittest.TestCase):
    """Every way to be refused, by an installation of which nothing is set up yet: one line that
    says what to do, and an exit code."""

    @classmethod
    def setUpClass(cls):
        cls.installation = Installation(cls)

    def check(self, code, line, *words, **settings):
        result = self.installation.run(*words, **settings)
        lines = [text for text in result.stderr.splitlines() if text != "See feedctl --help."]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("feedctl: "), result.stderr)
        self.assertRegex(lines[0], line)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        password = self.installation.env["FANLINE_MYSQL_PASSWORD"]
        self.assertNotIn(password, result.stderr)

    def test_before_anything_is_set_up(self):
        for table in ("installation", "following", "migration"):
            for shard in self.installation.stack.mysql:
                shard.query(f"DROP TABLE IF EXISTS {table}")
        self.check(78, "run feedctl init first$", "audit")
        self.check(78, "run feedctl init first$", "topics", "create")
        self.check(78, "there is no topic feed-events .*; create it with feedctl topics create$",
                   "publish", "--from", "-")

    def test_before_there_are_topics(self):
        """An import beside a pusher, which must be told of it."""
        self.assertEqual(self.installation.run("init").returncode, 0)
        shard = self.installation.stack.mysql[0]
        self.addCleanup(shard.query, "DELETE FROM range_owner")
        shard.query("INSERT INTO range_owner (range_id, epoch) VALUES (0, 1)")
        self.check(78, "there is no topic fanout-tasks .* feedctl topics create$",
                   "import", self.installation.file("edges.txt", "1 2\n"), "--json")
        self.assertEqual(
            self.installation.number("SELECT COUNT(*) FROM following WHERE src = 1"), 0)

    def test_a_service_that_is_away(self):
        self.assertEqual(self.installation.run("init").returncode, 0)
        self.check(69, r"cannot reach Redis at 127\.0\.0\.1:1: connection refused; "
                       r"start it or set --redis / FANLINE_REDIS$",
                   "audit", "--redis", "127.0.0.1:1")
        self.check(69, r"cannot reach Kafka at 127\.0\.0\.1:1: no connection to the broker; "
                       r"start it or set --kafka-brokers / FANLINE_KAFKA_BROKERS$",
                   "publish", "--from", "-", "--kafka-brokers", "127.0.0.1:1")
        shards = "tcp://127.0.0.1:1/fanline,tcp://127.0.0.1:2/fanline"
        self.check(69, r"cannot reach shard 0 at 127\.0\.0\.1:1/fanline: no connection; "
                       r"start it or set --mysql-shards / FANLINE_MYSQL_SHARDS$",
                   "audit", env={"FANLINE_MYSQL_SHARDS": shards})
        self.check(69, r"cannot reach shard 0 at 127\.0\.0\.1:1/fanline: no connection; ",
                   "relations", "counters", "--repair", env={"FANLINE_MYSQL_SHARDS": shards})

    def test_a_wrong_configuration(self):
        self.check(78, r"Access denied .*--mysql-password-file \(or --mysql-password\); or --mysql-tls-ca",
                   "audit", "--mysql-password", "wrong")
        self.check(78, "--mysql-shards: a shard address carries no user or password",
                   "audit", env={"FANLINE_MYSQL_SHARDS": "tcp://u:p@127.0.0.1/fanline"})
        self.check(78, "the installation has shard_count|table installation is empty|init first",
                   "audit", env={"FANLINE_MYSQL_SHARDS": self.installation.stack.mysql[0].uri})
        self.check(78, "--kafka-properties: kafka property flavour does not exist",
                   "publish", "--from", "-", "--kafka-properties", "flavour=sweet")
        self.check(78, '--redis: "here" is not host:port', "audit", "--redis", "here")

    def test_a_redis_of_another_kind_than_said(self):
        self.assertEqual(self.installation.run("init").returncode, 0)
        self.check(78, "it is no Sentinel: .*leave --redis-sentinel-master out, or",
                   "ranges", "--redis-sentinel-master", "feed")
        self.check(78, "leave --redis-password out, or give the server one$",
                   "ranges", "--redis-password", "secret")

    def test_a_wrong_command_line(self):
        self.check(64, "which command", "topics")
        self.check(64, "--from: is required", "publish")
        self.check(64, '"5x" is no user id', "relations", "counters", 5, "5x", "--repair")
        self.check(64, '"0" is no user id', "relations", "counters", 0)
        self.check(64, "nobody follows themselves", "relations", "show", 1, 1)
        self.check(64, "--ranges: 15 does not divide 1024", "init", "--ranges", 15)

    def test_wrong_input(self):
        self.assertEqual(self.installation.run("init").returncode, 0)
        self.check(65, ":2: one id only; a line is two ids, who follows and whom$", "import",
                   self.installation.file("one.txt", "1 2\n3\n"))
        self.check(66, "cannot open nowhere.txt: No such file or directory$", "import",
                   "nowhere.txt")
        self.check(74, "cannot read .*: Is a directory$", "import", self.installation.folder.name)
        self.assertEqual(self.installation.number("SELECT COUNT(*) FROM following"), 0)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([FEEDCTL, "init"], env=self.installation.env, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        self.assertEqual(result.returncode, 74)
        self.assertEqual(result.stderr, "feedctl: the output cannot be written\n")
