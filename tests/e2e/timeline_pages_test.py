"""Timelines over HTTP on a whole fleet: every answer is held to api/openapi.yaml, every page to what
was published. Two processes of the API, as behind a gateway."""

import re
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from demo.workload import Event
from stack.programs.api import Api
from tests.e2e.decoding import ROOT
from tests.e2e.reading import Reading

READERS, AUTHORS = range(1, 21), range(101, 106)
EVE = 102  # an author


class Application:
    """An application's own table of posts, in a database of its own, read by a user of its own."""

    def __init__(self, stack):
        self._mysql = stack.mysql[0]
        self._password = stack.logs / "application.password"
        self._password.write_text("b0dies\n")
        for sql in ("CREATE DATABASE app",
                    "CREATE TABLE app.posts (post BIGINT UNSIGNED PRIMARY KEY, text TEXT, likes INT)"
                    " CHARACTER SET utf8mb4",
                    "CREATE USER reader@127.0.0.1 IDENTIFIED BY 'b0dies'",
                    "GRANT SELECT ON app.posts TO reader@127.0.0.1"):
            self.say(sql)

    def options(self):
        return ["--bodies-mysql", f"tcp://{self._mysql.address}/app", "--bodies-mysql-user", "reader",
                "--bodies-mysql-password-file", self._password, "--bodies-table", "posts",
                "--bodies-id-column", "post", "--bodies-columns", "text,likes"]

    def say(self, sql):
        return self._mysql.query(sql)

    def write(self, posts):
        self.say("INSERT INTO app.posts VALUES " + ", ".join(
            f"({post}, 'Grüße von {post} 🎈', {post % 7 or 'NULL'})" for post in posts))

    def forget(self, posts):
        self.say(f"DELETE FROM app.posts WHERE post IN ({','.join(map(str, posts))})")

    @staticmethod
    def body(post):
        return {"text": f"Grüße von {post} 🎈", "likes": post % 7 or None}


class TimelinePages(Reading):
    api_processes = 2

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in AUTHORS}

    @classmethod
    def api_args(cls):
        cls.application = Application(cls.stack)
        return [*cls.application.options(), "--publish-timeout", "1s"]

    def ask_once(self, path):
        client = self.apis[0].client(self.contract.check)
        try:
            return self.get(path, client)
        finally:
            client.close()

    def rebuilds(self, result):
        return sum(api.scrape().total("fanline_api_rebuilds_total", result=result)
                   for api in self.apis)

    # ---- what must hold ------------------------------------------------------------------------

    def test_an_api_that_starts_without_redis_serves_at_once_and_uses_it_later(self):
        reader = 6
        post = self.publish(EVE)
        self.settle()
        self.live(reader)
        late = Api(self.stack, self.ports, "late")
        self.stack.redis.pause()  # it hangs, which keeps a caller waiting longer than a refusal
        try:
            late.start().wait_ready(20)
            client = late.client(self.contract.check)
            self.addCleanup(client.close)
            self.assertEqual(client.get(f"/v1/users/{reader}/following/{EVE}").json["relation"],
                             "following")
            page = self.get(f"{reader}/timeline", client)
            self.assertEqual((page["state"], self.ids(page)[0]), ("pulled", post))
        finally:
            self.stack.redis.resume()
        self.wait_for(lambda: self.get(f"{reader}/timeline", client)["state"] == "live",
                      "Redis to be used")
        self.assertEqual(late.stop(), 0)

    def test_a_redis_that_hangs_keeps_few_readers_waiting(self):
        for reader in READERS:
            self.live(reader)
        self.stack.redis.pause()
        try:
            begin = time.monotonic()
            with ThreadPoolExecutor(4) as pool:
                states = list(pool.map(self.state_of, list(READERS) * 20))
            took = time.monotonic() - begin
        finally:
            self.stack.redis.resume()
        self.assertEqual(set(states), {"pulled"})
        self.assertLess(took, 20)  # each waiting for a timeout of its own: 200 s
        self.live(1)
        self.settle()

    def state_of(self, reader):
        client = self.apis[0].client()
        try:
            return self.get(f"{reader}/timeline", client)["state"]
        finally:
            client.close()

    def test_many_requests_of_two_processes_rebuild_a_timeline_once(self):
        reader = 3
        self.publish_all(list(AUTHORS))
        self.settle()
        self.drop(reader)
        before = self.rebuilds("rebuilt")
        expected = self.expected(reader)[:50]

        def read(number):
            client = self.apis[number % 2].client(self.contract.check)
            try:
                return [self.get(f"{reader}/timeline", client) for _ in range(20)]
            finally:
                client.close()

        with ThreadPoolExecutor(8) as pool:
            pages = [page for some in pool.map(read, range(8)) for page in some]
        self.assertEqual({tuple(self.ids(page)) for page in pages}, {tuple(expected)})
        self.assertIn("building", {page["state"] for page in pages})
        self.live(reader)
        self.assertEqual(self.rebuilds("rebuilt"), before + 1)

    def test_bodies_come_from_the_applications_table_and_what_is_gone_there_is_left_out(self):
        reader, author, path = 6, 104, "6/timeline"
        posts = self.publish_all([author] * 40)
        posts += [18_000_000_000_000_000_000 + number for number in range(3)]  # above 2^63
        self.send([Event("published", post, author, time.time_ns() // 1_000_000 + 100 + post % 10)
                   for post in posts[-3:]])
        self.settle()
        self.live(reader)
        self.application.write(posts)
        gone = {*posts[::5], *posts[20:30]}
        self.application.forget(gone)
        there = [post for post in posts[::-1] if post not in gone]
        # A page goes without bodies while their database answers too late.
        self.wait_for(lambda: self.walk(f"{author}/posts", 7, expand="body") == there,
                      "the author's posts that are not gone")
        self.wait_for(lambda: [post for post in self.walk(path, 7, expand="body")
                               if post in posts] == there, "the reader's that are not gone")
        page = self.get(f"{path}?limit=20&expand=body")
        self.assertEqual((page["bodies"], page["state"]), ("complete", "live"))
        self.assertEqual([(int(item["id"]), item["body"]) for item in page["items"]],
                         [(post, Application.body(post)) for post in there[:20]])
        self.drop(reader)
        pulled = self.get(f"{path}?limit=20&expand=body")
        self.assertEqual((pulled["state"], pulled["items"]), ("building", page["items"]))

    def test_an_applications_database_that_is_slow_or_away_costs_pages_their_bodies_alone(self):
        reader, path = 7, "7/timeline?limit=5"
        posts = self.publish_all([105] * 5)
        self.application.write(posts)
        self.settle()
        self.live(reader)
        bodies = lambda: self.get(path + "&expand=body")["bodies"]
        self.assertEqual(bodies(), "complete")
        with self.stack.mysql[0].client() as locks, ThreadPoolExecutor(20) as pool:
            locks.query("LOCK TABLES app.posts WRITE")
            begin = time.monotonic()
            slow = [pool.submit(self.ask_once, path + "&expand=body") for _ in range(20)]
            for _ in range(50):
                self.assertEqual(self.ids(self.get(path)), posts[::-1])
            without = time.monotonic() - begin
            for page in slow:
                self.assertEqual(page.result()["bodies"], "unavailable")
                self.assertEqual(self.ids(page.result()), posts[::-1])
            self.assertLess(without, 1)
            self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(bodies(), "complete")
        self.application.say("ALTER USER reader@127.0.0.1 ACCOUNT LOCK")
        self.stack.mysql[0].kill_connections("reader")
        self.wait_for(lambda: bodies() == "unavailable", "the database to be away", timeout=10)
        self.assertEqual(self.apis[0].status("/readyz"), 200)
        self.application.say("ALTER USER reader@127.0.0.1 ACCOUNT UNLOCK")
        self.wait_for(lambda: bodies() == "complete", "the bodies to be back", timeout=10)

    def test_what_is_published_over_http_is_acknowledged_by_kafka_and_may_be_sent_again(self):
        reader, author, first = 8, 103, 700_001
        self.settle()
        self.live(reader)

        def publish(post, created_at_ms):
            answer = self.client.post("/v1/posts", {
                "post_id": str(post), "author_id": str(author), "created_at_ms": created_at_ms})
            if answer.status == 202:
                self.ledger.apply(Event("published", post, author, created_at_ms))
            return answer.status

        def seen():
            return [post for post in self.ids(self.get(f"{reader}/timeline")) if first <= post < first + 9]

        now = time.time_ns() // 1_000_000
        self.assertEqual(publish(first, now), 202)
        self.wait_for(lambda: seen() == [first], "the post to come")
        self.stack.kafka.pause()
        try:
            begin = time.monotonic()
            self.assertEqual(publish(first + 1, now + 1), 503)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual(seen(), [first])
            self.assertEqual(self.client.put(f"/v1/users/{reader}/following/{author}").status, 200)
        finally:
            self.stack.kafka.resume()
        self.wait_for(lambda: publish(first + 1, now + 1) == 202, "Kafka to answer again")
        self.assertEqual(publish(first + 1, now + 9), 202)  # the first time counts
        self.ledger.apply(Event("published", first + 1, author, now + 1))
        self.wait_for(lambda: seen() == [first + 1, first], "the post to come, once")
        self.assertEqual(self.client.delete(f"/v1/posts/{first}?author_id={author}").status, 202)
        self.ledger.apply(Event("deleted", first, author))
        self.wait_for(lambda: seen() == [first + 1], "the deleted post to leave")
        self.settle()

    def test_the_first_screen_of_the_readme_is_what_is_answered(self):
        shown = re.findall(r"^\$ (curl .+)\n(.+)$", (ROOT / "README.md").read_text(), re.M)
        (publish, published), (read, page) = shown
        self.client.put("/v1/users/42/following/20")
        self.live(42)

        def answer(command):
            typed = command.replace("127.0.0.1:8080", f"127.0.0.1:{self.apis[0].serving}")
            return re.sub(r"\b1\d{12}\b", "TIME", subprocess.run(
                ["/bin/bash", "-c", typed], capture_output=True, text=True, timeout=60,
                check=True).stdout)

        expected = [re.sub(r"\b1\d{12}\b", "TIME", text) for text in (published, page)]
        self.assertEqual(answer(publish), expected[0])
        self.wait_for(lambda: answer(read) == expected[1], "the page that is shown")
