"""Timelines over HTTP on a whole fleet: every answer is held to api/openapi.yaml, every page to what
was published. Two processes of the API, as behind a gateway."""

import unittest
from concurrent.futures import ThreadPoolExecutor

from stack.programs.api import Api
from tests.e2e.installation import Installation
from tests.e2e.openapi import Contract

READERS, AUTHORS = range(1, 21), range(101, 106)
ANN, EVE = 101, 102  # authors
POSTS = 460  # one author's: more than a live timeline keeps


class TimelinePages(Installation):
    mirrors = 1

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in AUTHORS}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contract = Contract()
        cls.apis = [Api(cls.stack, cls.ports, f"api-{number}") for number in (1, 2)]
        for api in cls.apis:
            api.start()
        for api in cls.apis:
            api.wait_ready()

    def setUp(self):
        super().setUp()
        self.client = self.apis[0].client(self.contract.check)
        self.addCleanup(self.client.close)

    # ---- helpers -------------------------------------------------------------------------------

    def get(self, path, client=None):
        answer = (client or self.client).get(f"/v1/users/{path}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def ids(self, page):
        return [int(item["id"]) for item in page["items"]]

    def walk(self, path, limit, **query):
        """Ids of all pages."""
        walked = []
        while True:
            pairs = "&".join(f"{name}={value}" for name, value in {"limit": limit, **query}.items())
            page = self.get(f"{path}?{pairs}")
            walked += self.ids(page)
            if "next_cursor" not in page:
                return walked
            query["cursor"] = page["next_cursor"]

    def live(self, reader):
        self.wait_for(lambda: self.get(f"{reader}/timeline?limit=1")["state"] == "live",
                      "the timeline to be live")

    def expected(self, reader):
        """All that belongs into the reader's timeline, newest first."""
        return [post for _, post in self.ledger.timelines([reader])[reader]]

    def rebuilds(self, result):
        return sum(api.scrape().total("fanline_api_rebuilds_total", result=result)
                   for api in self.apis)

    def drop(self, reader):
        if keys := self.stack.redis.command("KEYS", f"tl:*:{reader}"):
            self.stack.redis.command("DEL", *keys)

    # ---- what must hold ------------------------------------------------------------------------

    def test_a_walk_reaches_the_very_first_post_pulled_or_live(self):
        reader = 1
        self.publish_all([ANN] * POSTS)
        self.publish_all(list(AUTHORS) * 4, created_at_ms=1_700_000_000_000)  # long ago
        self.settle()
        expected = self.expected(reader)
        self.drop(reader)
        first = self.get(f"{reader}/timeline?limit=50")
        self.assertEqual((first["state"], self.ids(first)), ("building", expected[:50]))
        self.live(reader)
        for limit in (77, 200):
            self.assertEqual(self.walk(f"{reader}/timeline", limit), expected)
        self.drop(reader)
        self.assertEqual(self.walk(f"{reader}/timeline", 120), expected)
        own = [item.post for item in sorted(
            (item for item in self.ledger.visible() if item.author == ANN),
            key=lambda item: (-item.created_at_ms, str(item.post)))]
        self.assertEqual(self.walk(f"{ANN}/posts", 150), own)

    def test_a_cursor_outlives_its_post_the_timeline_redis_and_the_api(self):
        reader, api = 2, self.apis[1]
        posts = self.publish_all([EVE] * 9)
        self.settle()
        self.live(reader)
        page = self.get(f"{reader}/timeline?limit=5")
        self.assertEqual(self.ids(page), posts[:3:-1])
        older, newer = page["next_cursor"], page["newest_cursor"]
        self.delete(EVE, posts[4])  # where the next page begins
        self.delete(EVE, posts[8])  # the newest
        self.settle()
        new = self.publish_all([EVE] * 2)
        self.settle()
        expected = [post for post in self.expected(reader) if post < posts[4]][:10]

        def check(client, what):
            self.assertEqual(self.ids(self.get(f"{reader}/timeline?limit=10&cursor={older}", client)),
                             expected, what)
            page = self.get(f"{reader}/timeline?newer_than={newer}", client)
            self.assertEqual(self.ids(page), new[::-1], what)
            self.assertEqual(self.get(f"{reader}/timeline:count?newer_than={newer}", client),
                             {"count": 2, "more": False}, what)
            return page["state"]

        check(self.client, "its post is deleted")
        self.drop(reader)
        check(self.client, "the timeline is gone")
        self.live(reader)
        check(self.client, "the timeline is rebuilt")
        self.assertEqual(api.stop(), 0)
        api.start().wait_ready()
        with_another = api.client(self.contract.check)
        self.addCleanup(with_another.close)
        self.assertEqual(check(with_another, "the API is another"), "live")
        self.stack.redis.stop()
        self.addCleanup(lambda: self.stack.redis.running or self.stack.redis.start())
        self.assertEqual(check(self.client, "Redis is away"), "pulled")
        self.stack.redis.start()
        self.wait_for(lambda: check(self.client, "Redis is back") == "live", "Redis to be used again")
        self.settle()

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

    def test_a_half_built_timeline_is_never_served(self):
        reader = 4
        post = self.publish(EVE)
        self.settle()
        self.live(reader)
        key, = self.stack.redis.command("KEYS", f"tl:*:{reader}")
        self.stack.redis.command("DEL", key)
        self.stack.redis.command("ZADD", key, "-inf", "T", "-5", "99999", "+inf", "B:somebody")
        page = self.get(f"{reader}/timeline")
        self.assertEqual((page["state"], self.ids(page)[0]), ("building", post))
        self.assertNotIn(99999, self.ids(page))
        self.stack.redis.command("DEL", key)
        self.live(reader)

    def test_an_unfollow_and_a_follow_show_in_the_live_timeline(self):
        reader, author = 5, 103
        posts = self.publish_all([author] * 3)
        self.settle()
        self.live(reader)
        self.client.delete(f"/v1/users/{reader}/following/{author}")
        self.ledger.unfollow(reader, author)
        self.wait_for(lambda: not set(posts) & set(self.ids(self.get(f"{reader}/timeline"))),
                      "the items to leave")
        self.client.put(f"/v1/users/{reader}/following/{author}")
        self.ledger.follow(reader, author)
        self.wait_for(lambda: self.walk(f"{reader}/timeline", 200) == self.expected(reader),
                      "the items to come back")

    def test_why_there_is_nothing_is_said_and_made_up_users_leave_little(self):
        nobody, idle, silent = 900_001, 900_002, 900_003
        self.client.put(f"/v1/users/{idle}/following/{silent}")
        for user, reason in ((nobody, "no_such_user"), (idle, "no_posts"),
                             (silent, "follows_nobody")):
            self.wait_for(lambda user=user, reason=reason: self.get(f"{user}/timeline").get(
                "empty_because") == reason, reason)
            self.live(user)
            self.assertEqual(self.get(f"{user}/timeline")["empty_because"], reason)
            key, = self.stack.redis.command("KEYS", f"tl:*:{user}")
            self.assertLessEqual(int(self.stack.redis.command("TTL", key)), 300)
        # A first follow reaches a timeline that was found empty a moment ago.
        post = self.publish(EVE)
        self.client.put(f"/v1/users/{nobody}/following/{EVE}")
        self.ledger.follow(nobody, EVE)
        self.wait_for(lambda: post in self.ids(self.get(f"{nobody}/timeline")), "the post to come")
        key, = self.stack.redis.command("KEYS", f"tl:*:{nobody}")
        self.assertGreater(int(self.stack.redis.command("TTL", key)), 300)


if __name__ == "__main__":
    unittest.main()
