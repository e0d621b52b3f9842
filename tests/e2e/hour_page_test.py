"""What docs/tutorial.md says to who has a topic and a table, typed beside such an application, which goes on: what it
published and who follows whom in its own table is what timelines hold in the end."""

import json
import random
import re
import time
import unittest
from datetime import datetime, timezone

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from helm.options import options_of
from pages import markdown
from pages.configuration import DAEMONS
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.api import ApiClient
from stack.programs.backlog import Backlog
from stack.waiting import wait_until
from stack.wire.mysql import MysqlClient
from tests.e2e.decoding import ROOT
from tests.e2e.meanwhile import again_and_again
from tests.e2e.page_commands import PageCommands

TITLE = "With your own topic and table"
PAGE = markdown.section((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), TITLE)
USERS = range(1, 121)


class Application:
    """Its own database and topic. It remembers nothing: its tables do."""

    def __init__(self, stack):
        self._stack = stack
        self._draw = random.Random(5)
        self._posts = 0
        shard = stack.mysql[0]
        self._password = stack.env["FANLINE_MYSQL_PASSWORD"]
        shard.query("CREATE DATABASE app")
        shard.query("GRANT ALL ON app.* TO fanline@127.0.0.1")
        self._database = MysqlClient(shard.port, "fanline", self._password, "app")
        for statement in markdown.blocks(PAGE, "sql")[0].split(";")[:-1]:
            self._database.query(statement)
        self.configuration = stack.logs / "app.cnf"
        self.configuration.write_text(f"[client]\nhost=127.0.0.1\nport={shard.port}\nuser=fanline\npassword={self._password}\n"
                                      "[mysql]\ndatabase=app\n[mariadb]\ndatabase=app\n")
        admin = AdminClient({"bootstrap.servers": stack.kafka.address})
        admin.create_topics([NewTopic("posts", 4, 1)])["posts"].result(60)
        self._producer = Producer({"bootstrap.servers": stack.kafka.address})

    def close(self):
        self._database.close()

    def query(self, sql):
        return self._database.query(sql)

    def change_follow(self):
        src, dst = self._draw.sample(USERS, 2)
        there = self.query(f"SELECT 1 FROM follows WHERE follower_id = {src} AND followee_id = {dst}")
        if there:
            self.query(f"DELETE FROM follows WHERE follower_id = {src} AND followee_id = {dst}")
        else:
            self.query(f"INSERT INTO follows VALUES ({src}, {dst})")

    def post(self, told=True):
        self._posts += 1
        at = datetime.now(timezone.utc).replace(microsecond=self._posts * 1000 % 1_000_000)
        user = self._draw.choice(USERS)
        self.query(f"INSERT INTO posts VALUES ({self._posts}, {user}, 'post {self._posts}', "
                   f"'{at.strftime('%Y-%m-%d %H:%M:%S.%f')[:-3]}')")
        if told:
            self._tell(self._posts, user, "created", at)

    def remove_post(self):
        post, user = self._draw.choice(self.query("SELECT id, user_id FROM posts WHERE id > 40"))
        self.query(f"DELETE FROM posts WHERE id = {post}")
        self._tell(int(post), int(user), "removed", datetime.now(timezone.utc))

    def _tell(self, post, user, action, at):
        self._producer.produce("posts", key=str(user), value=json.dumps(
            {"id": post, "user": user, "action": action, "at": at.isoformat(timespec="milliseconds")}))
        self._producer.poll(0)

    def spoil(self):
        self._producer.produce("posts", value="{}")

    def flush(self):
        self._producer.flush(60)

    def do_something(self):
        self._draw.choice([self.change_follow, self.change_follow, self.post, self.post, self.post, self.remove_post])()

    def timeline(self, reader):
        return [post for post, in self.query(
            "SELECT id FROM posts JOIN follows ON followee_id = user_id "
            f"WHERE follower_id = {reader} ORDER BY created_at DESC, CAST(id AS CHAR)")]

    def changes_left(self):
        return int(self.query("SELECT COUNT(*) FROM follow_change")[0][0])


class HourPage(unittest.TestCase):
    def setUp(self):
        self.ports = Ports()
        self.stack = LocalStack(ports=self.ports, say=lambda line: None)
        self.addCleanup(self.stack.stop)
        self.stack.start()
        self.application = Application(self.stack)
        self.addCleanup(self.application.close)
        for _ in range(600):
            self.application.change_follow()
        for number in range(120):
            self.application.post(told=number >= 40)  # the first ones are older than the topic
        self.listen = self.ports.take()
        self.env = {"APP_CNF": self.application.configuration, "FANLINE_ADMIN_LISTEN": "127.0.0.1:0",
                    "FANLINE_LISTEN": f"127.0.0.1:{self.listen}",
                    "FANLINE_BODIES_MYSQL_USER": "fanline",
                    "FANLINE_BODIES_MYSQL_PASSWORD": self.stack.env["FANLINE_MYSQL_PASSWORD"]}

    def test_what_it_says_leads_to_live_timelines(self):
        begin = time.monotonic()
        page = PageCommands(self.stack, "tutorial.md", TITLE, self.env,
                            {"127.0.0.1:8080": f"127.0.0.1:{self.listen}",
                             "127.0.0.1:3306/app": f"127.0.0.1:{self.stack.mysql[0].port}/app"})
        with again_and_again(self.application.do_something, 0.01):
            for _ in range(page.left - 1):
                page.run_next()
            self.application.spoil()
        self.application.flush()
        self.settle()
        said = page.run_next()
        self.assertRegex(said, r"missing +0 ")
        self.assertIn("not understood", (ROOT / "build" / "hour" / "posts.log").read_text())
        self.assertRegex(said, r"1 dead letter")
        self.compare()
        self.assertLess(time.monotonic() - begin, 3600)

    def settle(self):
        """Until all that the application said is done: its own notes, then ours in the order of their way."""
        wait_until(lambda: self.application.changes_left() == 0, 60, "the notes to be sent")
        self.wait_done("fanline-bridge", "posts")
        self.wait_done("fanline-dispatcher", "feed-events")
        self.wait_done("fanline-mirror-events", "relation-events")
        pending = "SELECT COUNT(*) FROM log1 WHERE done = 0"
        wait_until(lambda: all(shard.query(pending) == [("0",)] for shard in self.stack.mysql), 60, "log1 to be mirrored")
        self.wait_done("fanline-pusher", "fanout-tasks")

    def wait_done(self, group, topic):
        backlog = Backlog(self.stack.kafka.address, group, topic)
        self.addCleanup(backlog.close)
        wait_until(lambda: backlog.records() == 0, 60, f"{group} to have done {topic}")

    def compare(self):
        edges = {row for shard in self.stack.mysql for row in shard.query("SELECT src, dst FROM follower WHERE state = 1")}
        self.assertEqual(edges, set(self.application.query("SELECT follower_id, followee_id FROM follows")))
        client = ApiClient(self.listen)
        self.addCleanup(client.close)
        live = 0
        for reader in USERS:
            answer = client.get(f"/v1/users/{reader}/timeline?limit=200&expand=body").json
            wanted = self.application.timeline(reader)
            self.assertTrue(all(item["body"]["body"] == f"post {item['id']}" for item in answer["items"]))
            self.assertEqual([item["id"] for item in answer["items"]], wanted[:200], f"reader {reader}")
            live += answer["state"] == "live"
        self.assertGreater(live, len(USERS) // 2)


class Options(unittest.TestCase):
    def test_what_it_says_about_where_everything_is_are_options_that_there_are(self):
        named = re.findall(r"\bFANLINE_(\w+)=", markdown.blocks(PAGE, "bash")[0])
        self.assertGreater(len(named), 5)
        known = {option.upper().replace("-", "_") for daemon in DAEMONS for option in options_of(BIN / f"fanline-{daemon}")}
        self.assertLessEqual(set(named), known)
