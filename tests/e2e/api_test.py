"""fanline-api on two real shards. Every answer of the run is held to api/openapi.yaml, and at the
end everything it documents, but for faults of the server, has been seen."""

import resource
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import jsonschema

from stack.local_stack import LocalStack, wait_until
from stack.ports import Ports
from stack.programs.api import Api
from stack.programs.feedctl import Feedctl
from tests.e2e.installation import KeepsLogs
from tests.e2e.openapi import Contract
from tests.e2e.relations import shard_of

LIMIT = 300  # of followed users, so that reaching it is quick; 400 changes an hour
CLIENTS = 8
AWAY_AFTER_S, BACK_AFTER_S = 60, 120


class ApiTest(KeepsLogs):
    """Each test has users of its own, from self.first on."""

    number = 0

    @classmethod
    def setUpClass(cls):
        cls.contract = Contract()
        cls.ports = ports = Ports()
        cls.stack = LocalStack(ports=ports, say=lambda line: None)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        feedctl = Feedctl(cls.stack)
        feedctl.run("init", "--following-limit", LIMIT)
        feedctl.run("topics", "create")
        # No mirror runs here: reverse rows are written by the API itself.
        cls.stack.mysql[0].query("INSERT INTO setting (name, value) VALUES ('mirror_mode', 'sync')")
        cls.api = Api(cls.stack, ports)
        cls.api.start().wait_ready()
        # The mode is read a moment after the start: until then followers are not written at once.
        first = cls.api.client(cls.contract.check)
        ids = iter(range(900_000, 1_000_000))
        wait_until(lambda: (first.put(f"/v1/users/899999/following/{next(ids)}").status == 200 and
                            cls.api.scrape().total("fanline_api_inline_mirror_total")), 10,
                   "the mode to be read")
        first.close()

    @classmethod
    def tearDownClass(cls):
        if cls.whole_run:
            missing = {(operation, status) for operation, status in cls.contract.documented()
                       if status != "500"} - cls.contract.seen
            assert not missing, f"documented and never seen: {sorted(missing)}"

    whole_run = False  # set by the last test, which sees only to that

    def setUp(self):
        ApiTest.number += 1
        self.first = ApiTest.number * 10_000
        self.client = self.api.client(self.contract.check)
        self.addCleanup(self.client.close)

    # ---- helpers -------------------------------------------------------------------------------

    def user(self, number, shard=None):
        """A user of this test; with `shard`, the number-th of those that lie on it."""
        if shard is None:
            return self.first + number
        on_shard = (user for user in range(self.first, self.first + 10_000)
                    if shard_of(user) == shard)
        for _ in range(number):
            next(on_shard)
        return next(on_shard)

    def ok(self, answer):
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def refused(self, answer, status, code):
        self.assertEqual((answer.status, answer.json.get("code")), (status, code), answer.text)
        return answer.json

    def follow(self, src, dst, client=None):
        return self.ok((client or self.client).put(f"/v1/users/{src}/following/{dst}"))

    def unfollow(self, src, dst, client=None):
        return self.ok((client or self.client).delete(f"/v1/users/{src}/following/{dst}"))

    def relation(self, src, dst):
        return self.ok(self.client.get(f"/v1/users/{src}/following/{dst}"))["relation"]

    def walk(self, path, limit, **query):
        """Items of all pages."""
        items, cursor = [], None
        while True:
            pairs = {"limit": limit, **query, **({"cursor": cursor} if cursor else {})}
            page = self.ok(self.client.get(
                path + "?" + "&".join(f"{name}={quote(str(value))}"
                                      for name, value in pairs.items())))
            self.assertLessEqual(len(page["items"]), limit)
            items += page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return items

    def together(self, work, count=CLIENTS):
        """`work(client, number)` by so many at once, each with a connection of its own."""
        def one(number):
            client = self.api.client(self.contract.check)
            try:
                return work(client, number)
            finally:
                client.close()

        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(one, range(count)))

    def rows(self, sql):
        return sorted(row for shard in self.stack.mysql for row in shard.query(sql))

    def mirrored(self):
        """Waits until both sides of all edges of this test agree: a reverse row written at once is
        waited for 50 ms and no longer."""
        columns = f"src, dst, ver, state, pos FROM {{}} WHERE src DIV 10000 = {self.first // 10_000}"
        wait_until(lambda: self.rows("SELECT " + columns.format("following")) ==
                   self.rows("SELECT " + columns.format("follower")), 60, "both sides to agree")

    # ---- following -----------------------------------------------------------------------------

    def test_a_follow_across_shards_is_seen_from_both_sides(self):
        ann, bob = self.user(0, shard=0), self.user(0, shard=1)
        made = self.follow(ann, bob)
        self.assertTrue(made["changed"])
        self.mirrored()
        self.assertEqual(self.relation(ann, bob), "following")
        self.assertEqual(self.relation(bob, ann), "follower")
        again = self.follow(ann, bob)
        self.assertEqual((again["changed"], again["version"]), (False, made["version"]))
        self.follow(bob, ann)
        self.mirrored()
        self.assertEqual(self.relation(ann, bob), "mutual")
        self.assertEqual(self.ok(self.client.get(f"/v1/users/{ann}/counts")),
                         {"user": str(ann), "following": 1, "followers": 1})
        gone = self.unfollow(ann, bob)
        self.assertGreater(int(gone["version"]), int(made["version"]))
        self.assertEqual(self.relation(ann, bob), "follower")
        self.assertEqual(self.unfollow(self.user(50), bob)["version"], "0")

    def test_a_version_is_what_a_reader_may_insist_on(self):
        ann, bob = self.user(0), self.user(1)
        version = int(self.follow(ann, bob)["version"])
        path = f"/v1/users/{ann}/following/{bob}?min_version="
        self.ok(self.client.get(f"{path}{version}"))
        self.refused(self.client.get(f"{path}{version + 1}"), 412, "version_not_reached")

    def test_the_limit_of_followed_users_is_a_conflict(self):
        ann = self.user(9_999)
        self.together(lambda client, number: [
            self.follow(ann, self.user(other), client) for other in range(number, LIMIT, CLIENTS)])
        problem = self.refused(self.client.put(f"/v1/users/{ann}/following/{self.user(LIMIT)}"),
                               409, "following_limit")
        self.assertIn(str(LIMIT), problem["detail"])
        self.follow(ann, self.user(0))  # it is so already
        self.unfollow(ann, self.user(0))
        self.follow(ann, self.user(LIMIT))
        self.assertEqual(self.ok(self.client.get(f"/v1/users/{ann}/counts"))["following"], LIMIT)

    def test_who_has_changed_as_much_as_an_hour_allows_is_told_when_to_come_back(self):
        ann, bob, cid = self.user(0), self.user(1), self.user(2)
        self.follow(ann, bob)
        for shard in self.stack.mysql:
            shard.query(f"UPDATE user_rel SET changes_until = (UNIX_TIMESTAMP() + 3600) * 1000000 WHERE user_id = {ann}")
        for answer in (self.client.put(f"/v1/users/{ann}/following/{cid}"),
                       self.client.delete(f"/v1/users/{ann}/following/{bob}"),
                       self.client.patch(f"/v1/users/{ann}/following/{bob}", {"delivery": "none"}),
                       self.client.post(f"/v1/users/{ann}/friendships/{cid}/request")):
            problem = self.refused(answer, 429, "change_limit")
            self.assertIn(f"user {ann} has made all 400 changes of an hour", problem["detail"])
            self.assertIn(int(answer.headers["retry-after"]), range(1, 10))
        self.follow(ann, bob)  # it is so already
        self.follow(cid, ann)  # and others go on

    def test_what_a_follow_brings_is_chosen_until_it_ends(self):
        ann, bob = self.user(0), self.user(1)
        path = f"/v1/users/{ann}/following/{bob}"
        self.refused(self.client.patch(path, {"delivery": "none"}), 404, "not_found")
        followed = self.follow(ann, bob)
        self.assertEqual(followed["delivery"], "all")
        muted = self.ok(self.client.patch(path, {"delivery": "none"}))
        self.assertGreater(int(muted["version"]), int(followed["version"]))
        self.assertEqual(self.follow(ann, bob), {**muted, "changed": False})
        self.assertEqual(self.ok(self.client.patch(path, {"delivery": "none"})), {**muted, "changed": False})
        for problem in ({"delivery": "some"}, {"delivery": None}, {}, {"delivery": "all", "to": "0"}):
            detail = self.refused(self.client.patch(path, problem), 400, "bad_body")["detail"]
            for name in ("all", "no_reposts", "none"):
                self.assertIn(f'"{name}"', detail)
        self.refused(self.client.patch(path, {"delivery": "x" * 70_000}), 413, "body_too_large")
        entry, = self.walk(f"/v1/users/{ann}/following", 5)
        self.assertEqual((entry["id"], entry["delivery"]), (str(bob), "none"))
        self.unfollow(ann, bob)
        self.assertNotIn("delivery", self.ok(self.client.get(path)))
        self.assertEqual(self.follow(ann, bob)["delivery"], "all")

    # ---- friendships ---------------------------------------------------------------------------

    def test_a_friendship_from_the_request_to_its_end(self):
        ann, bob = self.user(0), self.user(1)

        def step(who, whom, action):
            return self.client.post(f"/v1/users/{who}/friendships/{whom}/{action}")

        def state():
            return self.ok(self.client.get(f"/v1/users/{bob}/friendships/{ann}"))["state"]

        self.assertEqual(state(), "none")
        self.refused(step(bob, ann, "accept"), 409, "friendship_conflict")
        asked = self.ok(step(ann, bob, "request"))
        self.assertEqual((asked["state"], asked["asked_by"]), ("requested", str(ann)))
        self.refused(step(ann, bob, "accept"), 409, "friendship_conflict")
        self.assertEqual(self.ok(step(bob, ann, "accept"))["state"], "friends")
        self.assertFalse(self.ok(step(bob, ann, "accept"))["changed"])
        self.assertEqual(self.ok(step(bob, ann, "remove"))["state"], "removed")
        for answers, action, end in ((bob, "refuse", "refused"), (ann, "cancel", "cancelled")):
            self.ok(step(ann, bob, "request"))
            self.assertEqual(self.ok(step(answers, ann + bob - answers, action))["state"], end)
            self.assertEqual(state(), end)
        self.refused(step(ann, bob, "block"), 404, "not_found")
        # The mirror is left to write the edges of both changes: friends, and no longer.
        self.assertEqual(self.rows(f"SELECT state FROM log1 WHERE kind = 2 AND src = {ann}"),
                         [("0",), ("1",)])

    # ---- publishing ----------------------------------------------------------------------------

    def events(self, client):
        """One of each operation; their answers."""
        post, author = self.user(0), self.user(1)
        change = {"author_id": str(author), "version": 2}
        return [client.post("/v1/posts", {"post_id": str(post), "author_id": author}),
                client.post(f"/v1/posts/{post}/hide", change),
                client.delete(f"/v1/posts/{post}?author_id={author}")]

    def another_api(self, *args):
        api = Api(self.stack, self.ports, f"api-{self.first}{len(args)}", args)
        api.start().wait_ready()
        self.addCleanup(api.stop)
        client = api.client(self.contract.check)
        self.addCleanup(client.close)
        return client

    def test_events_are_accepted_and_wrong_ones_name_their_fields(self):
        self.assertEqual([(answer.status, answer.json["type"]) for answer in self.events(self.client)],
                         [(202, "post.published"), (202, "post.hidden"), (202, "post.deleted")])
        wrong = self.refused(self.client.post("/v1/posts", {"post_id": 0, "text": "x"}), 400, "bad_body")
        self.assertEqual({each["field"] for each in wrong["errors"]}, {"post_id", "author_id", "text"})
        self.refused(self.client.post("/v1/posts/1/hide", {}), 400, "bad_body")
        self.refused(self.client.post("/v1/posts/1/pin", {}), 404, "not_found")
        self.refused(self.client.delete("/v1/posts/1"), 400, "bad_parameter")

    def store(self, author, post, original=None):
        """As a dispatcher does. `original`: its id and its author."""
        shard = self.stack.mysql[shard_of(author)]
        shows = original or ("NULL", "NULL")
        shard.query("INSERT INTO author_post (author_id, post_id, created_at_ms, original_id, original_author) VALUES"
                    f" ({author}, {post}, 1700000000000, {shows[0]}, {shows[1]})")
        if original:
            shard.query(f"INSERT INTO repost VALUES ({original[0]}, {author}, {post})")

    def test_who_reposts_is_listed_and_a_repost_is_undone(self):
        author, users = self.user(0), [self.user(1, shard=0), self.user(2, shard=1), self.user(3, shard=1)]
        post = self.first
        self.store(author, post)
        for number, user in enumerate(users):
            self.store(user, post + 10 + number, (post, author))
            self.store(user, post + 20 + number, (post, author))
        path = f"/v1/posts/{post}/reposts?author_id={author}"
        page = self.ok(self.client.get(path + "&limit=2"))
        self.assertEqual((page["count"], page["at_least"]), (3, False))
        rest = self.ok(self.client.get(f"{path}&limit=2&cursor={page['next_cursor']}"))
        self.assertEqual([int(item["id"]) for item in page["items"] + rest["items"]], sorted(users))
        self.refused(self.client.get(f"/v1/posts/{post + 1}/reposts?author_id={author}"), 404, "not_found")
        self.refused(self.client.get(f"/v1/posts/{post}/reposts"), 400, "bad_parameter")

        undone = self.client.delete(f"/v1/users/{users[0]}/reposts/{post}")
        self.assertEqual((undone.status, undone.json["undone"]), (202, [str(post + 10), str(post + 20)]))
        self.refused(self.client.delete(f"/v1/users/{users[0]}/reposts/{post + 1}"), 404, "not_found")
        self.refused(self.client.delete(f"/v1/users/{users[0]}/reposts/x"), 400, "bad_id")
        accepted = self.client.post("/v1/posts", {"post_id": str(post + 30), "author_id": str(users[0]),
                                                  "repost_of": {"post_id": str(post), "author_id": str(author)}})
        self.assertEqual(accepted.json["repost_of"], {"post_id": str(post), "author_id": str(author)})

    def test_without_kafka_nothing_is_published_and_all_else_goes_on(self):
        away = self.another_api("--kafka-brokers", "127.0.0.1:1", "--publish-timeout", "500ms")
        for answer in self.events(away):
            self.refused(answer, 503, "log_unavailable")
        self.store(self.user(4), self.first, (self.first + 1, self.user(5)))
        undo = f"/v1/users/{self.user(4)}/reposts/{self.first + 1}"
        self.refused(away.delete(undo), 503, "log_unavailable")
        self.follow(self.user(2), self.user(3), away)
        without = self.another_api("--kafka-brokers", "")
        for answer in [*self.events(without), without.delete(undo)]:
            self.refused(answer, 501, "not_implemented")

    # ---- lists ---------------------------------------------------------------------------------

    def test_lists_are_newest_first_and_say_how_another_stands_to_each(self):
        ann, eve = self.user(0), self.user(1)
        others = [self.user(number) for number in range(10, 35)]
        for other in others:
            self.follow(ann, other)
        for other in others[::2]:
            self.follow(other, ann)
        for other in others[:3]:
            self.follow(eve, other)
        for other in others[2:5]:
            self.follow(other, eve)
        self.mirrored()
        items = self.walk(f"/v1/users/{ann}/following", 7, relation_to=eve)
        self.assertEqual([item["id"] for item in items], [str(other) for other in others[::-1]])
        self.assertEqual({item["id"]: item["relation"] for item in items if
                          item["relation"] != "none"},
                         {str(others[0]): "following", str(others[1]): "following",
                          str(others[2]): "mutual", str(others[3]): "follower",
                          str(others[4]): "follower"})
        for path in ("followers", "friends"):
            self.assertEqual([item["id"] for item in self.walk(f"/v1/users/{ann}/{path}", 4)],
                             [str(other) for other in others[::2][::-1]])
        self.assertEqual(self.walk(f"/v1/users/{self.user(99)}/followers", 5), [])
        familiar = self.ok(self.client.get(f"/v1/users/{ann}/familiar-followers/{eve}"))["items"]
        self.assertEqual([item["id"] for item in familiar],
                         [str(other) for other in others[2:5][::-1]])

    # ---- checks --------------------------------------------------------------------------------

    def test_a_bad_id_in_a_batch_is_wrong_for_itself_alone(self):
        ann, bob = self.user(0), self.user(1)
        version = int(self.follow(bob, ann)["version"])
        self.mirrored()
        good = [str(bob), {"id": str(bob), "min_version": str(version)},
                {"id": str(bob), "min_version": str(version + 1)}]
        self.contract.check_request("CheckRequest", {"ids": good, "sides": "both"})
        ids = [*good, bob, "0", "x", None, str(ann), {"id": bob, "much": 1}]
        items = self.ok(self.client.post(f"/v1/users/{ann}/relations:check", {"ids": ids}))["items"]
        self.assertEqual([item.get("relation") or item["error"]["code"] for item in items],
                         ["follower", "follower", "version_not_reached", "follower", "bad_id", "bad_id",
                          "bad_id", "same_user", "bad_body"])
        with self.assertRaises(jsonschema.ValidationError):
            self.contract.check_request("CheckRequest", {"ids": ids})

    # ---- mutes ---------------------------------------------------------------------------------

    def test_of_two_devices_neither_undoes_what_the_other_mutes(self):
        ann, bob, eve = (self.user(number) for number in range(3))
        path = f"/v1/users/{ann}/mutes"
        empty = self.client.get(path)
        self.assertEqual((self.ok(empty)["muted"], empty.headers["etag"]), ([], '"0"'))
        first = self.client.put(f"{path}/{bob}")
        self.assertTrue(self.ok(first)["changed"])
        for method, late, body in (("PUT", path, {"muted": [str(eve)]}), ("PUT", f"{path}/{eve}", None),
                                   ("DELETE", f"{path}/{bob}", None)):
            answer = self.client.ask(method, late, body, {"If-Match": empty.headers["etag"]})
            self.refused(answer, 412, "mutes_changed")
            self.assertEqual(answer.headers["etag"], first.headers["etag"])
        again = self.client.ask("PUT", f"{path}/{bob}", None, {"If-Match": empty.headers["etag"]})
        self.assertFalse(self.ok(again)["changed"], "a repetition")
        self.refused(self.client.ask("PUT", path, {"muted": []}), 428, "precondition_required")
        self.refused(self.client.ask("PUT", path, {"muted": ["9" * 70_000]}, {"If-Match": "*"}), 413, "body_too_large")
        self.assertEqual(self.ok(self.client.get(path))["muted"], [str(bob)])
        most = [str(self.user(number)) for number in range(1, 1_001)]
        whole = self.client.ask("PUT", path, {"muted": most}, {"If-Match": first.headers["etag"]})
        self.assertEqual(self.ok(whole)["muted"], sorted(most, key=int))
        for answer in (self.client.put(f"{path}/{self.user(2_000)}"),
                       self.client.ask("PUT", path, {"muted": [*most, str(self.user(2_000))]}, {"If-Match": "*"})):
            self.refused(answer, 409, "mute_limit")
        self.assertFalse(self.ok(self.client.delete(f"{path}/{self.user(2_000)}"))["changed"])
        for answer in (self.client.get(f"{path}?limit=1"), self.client.ask("PUT", path, {"muted": ["x"]}),
                       self.client.put(f"{path}/0"), self.client.delete(f"{path}/{ann}")):
            self.assertEqual(answer.status, 400, answer.text)

    def test_devices_at_once_lose_no_change(self):
        """Each adds authors of its own: one by one, or by the whole list that it has read."""
        ann = self.user(0)
        path = f"/v1/users/{ann}/mutes"

        def device(client, number):
            for step in range(12):
                author = str(self.user(100 * (number + 1) + step))
                while True:
                    read = client.get(path)
                    muted = self.ok(read)["muted"]
                    answer = (client.put(f"{path}/{author}") if step % 2 else
                              client.ask("PUT", path, {"muted": [*muted, author]}, {"If-Match": read.headers["etag"]}))
                    if answer.status == 200:
                        break
                    self.refused(answer, 412, "mutes_changed")

        self.together(device)
        expected = {str(self.user(100 * (number + 1) + step)) for number in range(CLIENTS) for step in range(12)}
        self.assertEqual(set(self.ok(self.client.get(path))["muted"]), expected)

    # ---- what is refused -----------------------------------------------------------------------

    def test_bad_requests_are_told_what_is_wrong(self):
        for path in ("/v1/users/0/counts", "/v1/users/18446744073709551615/counts",
                     "/v1/users/abc/followers", "/v1/users/5/following/007",
                     "/v1/users/5/friendships/-1", "/v1/users/5/familiar-followers/x"):
            self.refused(self.client.get(path), 400, "bad_id")
        self.refused(self.client.put("/v1/users/5/following/5"), 400, "same_user")
        self.refused(self.client.delete("/v1/users/5/following/5"), 400, "same_user")
        self.refused(self.client.post("/v1/users/5/friendships/5/request"), 400, "same_user")
        for path in ("following", "followers", "friends"):
            self.refused(self.client.get(f"/v1/users/5/{path}?limit=201"), 400, "bad_parameter")
            self.refused(self.client.get(f"/v1/users/5/{path}?cursor=x"), 400, "bad_cursor")
        for path in ("timeline", "posts"):
            self.refused(self.client.get(f"/v1/users/5/{path}?offset=5"), 400, "bad_parameter")
            self.refused(self.client.get(f"/v1/users/5/{path}?cursor=5"), 400, "bad_cursor")
            self.refused(self.client.get(f"/v1/users/5/{path}:count?newer_than=5"), 400, "bad_cursor")
        self.refused(self.client.get("/v1/users/5/counts?x=1"), 400, "bad_parameter")
        self.refused(self.client.get("/v1/users/5/following/7?min_version=x"), 400,
                     "bad_parameter")
        check = "/v1/users/5/relations:check"
        self.refused(self.client.post(check, {"users": []}), 400, "bad_body")
        self.refused(self.client.ask("POST", check, "{", {"Content-Type": "application/json"}),
                     400, "bad_body")
        self.refused(self.client.ask("POST", check, "{}", {"Content-Type": "text/plain"}),
                     415, "unsupported_media_type")
        self.refused(self.client.post(check, {"ids": ["7"] * 500, "x": "y" * 70_000}), 413,
                     "body_too_large")
        self.refused(self.client.get("/v1/users/5"), 404, "not_found")
        self.refused(self.client.get("/" + "a" * 9_000), 414, "uri_too_long")
        answer = self.client.ask("POST", "/v1/users/5/following/7", {})
        self.refused(answer, 405, "method_not_allowed")
        self.assertEqual(answer.headers["allow"], "PUT, DELETE, PATCH, GET, HEAD")

    CHANGES = [("PUT", "/v1/users/{0}/following/{1}"), ("DELETE", "/v1/users/{0}/following/{1}"),
               ("PATCH", "/v1/users/{0}/following/{1}"),
               ("POST", "/v1/users/{0}/friendships/{1}/request"), ("POST", "/v1/users/{0}/relations:check"),
               ("PUT", "/v1/users/{0}/mutes"), ("PUT", "/v1/users/{0}/mutes/{1}"), ("DELETE", "/v1/users/{0}/mutes/{1}"),
               ("POST", "/v1/posts"), ("POST", "/v1/posts/1/hide"), ("DELETE", "/v1/posts/1?author_id={0}"),
               ("DELETE", "/v1/users/{0}/reposts/1")]

    def test_a_page_of_another_site_changes_nothing(self):
        """As a browser sends it: with the page's origin, and a form without a type of its own."""
        ann, bob = self.user(0), self.user(1)
        for method, path in self.CHANGES:
            path = path.format(ann, bob)
            for origin in ("http://evil.example", "null"):
                headers = {"Origin": origin, "Content-Type": "application/json"}
                self.refused(self.client.ask(method, path, None, headers), 403, "origin_refused")
            for kind in ("text/plain", "application/x-www-form-urlencoded") if method in ("POST", "PATCH") else ():
                self.refused(self.client.ask(method, path, None, {"Content-Type": kind}), 415,
                             "unsupported_media_type")
        self.assertEqual(self.relation(ann, bob), "none")
        friendship = self.ok(self.client.get(f"/v1/users/{ann}/friendships/{bob}"))
        self.assertEqual(friendship["state"], "none")

    def test_a_page_of_an_origin_that_is_allowed_changes_what_it_likes(self):
        ann, bob = self.user(0), self.user(1)
        api = self.another_api("--allowed-origins", "https://app.example,http://localhost:3000")
        path = f"/v1/users/{ann}/following/{bob}"
        for origin, status in (("http://evil.example", 403), ("http://localhost:3000", 200)):
            self.assertEqual(api.ask("PUT", path, None, {"Origin": origin}).status, status)

    # ---- clients that want no answer -----------------------------------------------------------

    def connect(self, count):
        """`count` connections, closed when the test ends."""
        opened = []
        self.addCleanup(lambda: [one.close() for one in opened])
        for _ in range(count):
            opened.append(socket.create_connection(("127.0.0.1", self.api.serving), timeout=60))
        return opened

    def memory_kb(self):
        """What the API holds in memory."""
        with open(f"/proc/{self.api.process.pid}/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("VmRSS:")).split()[1])

    def answered_within(self, seconds):
        """A fresh client."""
        begin = time.monotonic()
        client = self.api.client(self.contract.check)
        self.ok(client.get(f"/v1/users/{self.user(0)}/counts"))
        client.close()
        self.assertLess(time.monotonic() - begin, seconds)

    def test_10000_idle_clients_cost_little_and_hold_up_nobody(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.assertGreater(hard, 10_500, "descriptors that this test may have")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.answered_within(20)
        before = self.memory_kb()
        idle = self.connect(10_000)
        wait_until(lambda: self.api.scrape().total("fanline_api_connections") >= 10_000, 20,
                   "all to be connected")
        self.assertLess((self.memory_kb() - before) / 10_000, 16)
        self.answered_within(2)
        self.assertEqual(self.api.status("/healthz"), 200)
        path = f"/v1/users/{self.user(0)}/counts"
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        for connection in idle[:200]:  # still served, and idle again
            connection.sendall(request)
        for connection in idle[:200]:
            self.assertIn(b" 200 OK", connection.recv(1 << 16))
        self.assertLess((self.memory_kb() - before) / 10_000, 16)

    def test_the_metrics_tell_routes_and_never_ids(self):
        self.ok(self.client.get(f"/v1/users/{self.user(0)}/counts"))
        text = self.api.get("/metrics")[1]
        self.assertIn('fanline_api_requests_total{route="getCounts",status="2xx"}', text)
        # As a number or a label: a sum of seconds may have the same digits in its midst.
        self.assertNotRegex(text, rf"(?<![0-9.]){self.user(0)}(?![0-9.])")
        log = (self.stack.logs / "api.log").read_text()
        self.assertNotIn(f'"{self.user(0)}"', log)

    def test_the_contract_refuses_what_it_does_not_say(self):
        answer = self.client.get(f"/v1/users/{self.user(0)}/counts")
        for wrong in (answer._replace(status=418),
                      answer._replace(path="/v1/users/5/number"),
                      answer._replace(headers={"content-type": "text/plain"}),
                      answer._replace(text=answer.text.replace("following", "followed")),
                      answer._replace(text=answer.text.replace('"followers":0', '"followers":"0"'))):
            with self.assertRaises(AssertionError):
                self.contract.check(wrong)
        refused = self.client.get("/v1/users/0/counts")
        for wrong in (refused._replace(text=refused.text.replace("bad_id", "wrong_id")),
                      refused._replace(status=503)):  # it has no Retry-After
            with self.assertRaises(AssertionError):
                self.contract.check(wrong)

    # ---- a shard that is away ------------------------------------------------------------------

    ALL = [("PUT", "following/{other}"), ("PATCH", "following/{other}"), ("DELETE", "following/{other}"),
           ("GET", "following/{other}"), ("GET", "following"), ("GET", "followers"),
           ("GET", "friends"), ("GET", "friendships/{other}"),
           ("POST", "friendships/{other}/request"), ("POST", "relations:check"),
           ("GET", "familiar-followers/{other}"), ("GET", "counts"), ("GET", "mutes"), ("PUT", "mutes"),
           ("PUT", "mutes/{other}"), ("DELETE", "mutes/{other}"),
           ("GET", "timeline"), ("GET", "timeline:count"), ("GET", "posts"), ("GET", "posts:count")]

    def ask_all(self, user, other):
        """The statuses of every operation of the user."""
        bodies = {("POST", "relations:check"): {"ids": [str(other)]}, ("PUT", "mutes"): {"muted": [str(other)]},
                  ("PATCH", "following/{other}"): {"delivery": "all"}}
        return {self.client.ask(method, f"/v1/users/{user}/{path.format(other=other)}", bodies.get((method, path)),
                                {"If-Match": "*"}).status for method, path in self.ALL}

    def test_a_shard_that_is_down_is_503_for_its_users_and_comes_back(self):
        here, also = self.user(0, shard=0), self.user(1, shard=0)
        gone, too = self.user(0, shard=1), self.user(1, shard=1)
        self.stack.mysql[1].stop()
        wait_until(lambda: "mysql_1" in self.api.named(), AWAY_AFTER_S, "the API to notice")
        self.assertEqual(self.api.status("/readyz"), 200)
        self.assertEqual(self.ask_all(gone, too), {503})
        for answer in (self.client.get(f"/v1/posts/1/reposts?author_id={here}"),
                       self.client.delete(f"/v1/users/{gone}/reposts/1")):
            self.refused(answer, 503, "store_unavailable")
        answer = self.client.get(f"/v1/users/{gone}/counts")
        self.refused(answer, 503, "store_unavailable")
        self.assertNotIn("mysql", answer.text)
        self.assertEqual(self.ask_all(here, also), {200})
        # A follow needs the follower's shard only: the other side follows when it is back.
        self.assertTrue(self.follow(here, gone)["changed"])

        self.stack.mysql[1].start()
        wait_until(lambda: not self.api.named(), BACK_AFTER_S, "the API to recover")
        self.assertEqual(self.ask_all(gone, too), {200})

    def test_a_locked_table_of_one_shard_holds_up_nobody_of_the_other(self):
        here, held_up = self.user(0, shard=0), self.user(0, shard=1)
        near = [self.user(number, shard=0) for number in range(1, 21)]

        def wait(client, number):
            """More clients than the shard has threads: some find the queue late."""
            path = f"/v1/users/{held_up}/following/{self.user(9_000 + number)}"
            return [client.put(path).status for _ in range(3)]

        def refused():
            return self.api.scrape().total("fanline_api_requests_total", route="follow",
                                           status="5xx")

        before = refused()
        with ThreadPoolExecutor(1) as pool, self.stack.mysql[1].client() as lock:
            lock.query("LOCK TABLES following WRITE")
            waiting = pool.submit(self.together, wait, 5 * CLIENTS)
            wait_until(lambda: self.api.scrape().total("fanline_api_requests_waiting") > 0, 10,
                       "requests to wait for the shard")
            begin = time.monotonic()
            for other in near:
                self.assertTrue(self.follow(here, other)["changed"])
            self.assertLess(time.monotonic() - begin, 2)
            wait_until(lambda: refused() > before, 10, "the first to be refused")
            lock.query("UNLOCK TABLES")
            statuses = {status for of_client in waiting.result() for status in of_client}
        self.assertEqual(statuses, {200, 503})
        self.follow(held_up, here)

    def test_a_stop_beyond_its_limit_still_answers_in_time(self):
        held_up, others = self.user(0, shard=1), [self.user(100 + number) for number in range(40)]
        api = Api(self.stack, self.ports, f"api-{self.first}",
                  ["--drain-limit", "0s", "--longest-wait", "1s"])
        api.start().wait_ready()
        self.addCleanup(lambda: api.running and api.stop())
        codes = []

        def follow(other):
            client = api.client(self.contract.check)
            codes.append(client.put(f"/v1/users/{held_up}/following/{other}").json["code"])
            client.close()

        with ThreadPoolExecutor(len(others)) as pool, self.stack.mysql[1].client() as lock:
            lock.query("LOCK TABLES user_rel WRITE")
            asking = [pool.submit(follow, other) for other in others]
            wait_until(lambda: api.scrape().total("fanline_api_requests_open") == len(others), 10,
                       "all to have asked")
            self.assertEqual(api.stop(), 75)
            for each in asking:
                each.result()
            lock.query("UNLOCK TABLES")
        # Those in the queue are refused before the first that a thread holds, after two seconds.
        self.assertEqual(codes, sorted(codes))
        self.assertEqual(set(codes), {"overloaded", "store_unavailable"})

    def test_z_a_stop_finishes_what_is_under_way(self):
        """The last: it ends the API, and says that all the others ran."""
        ann, stopped, answered = self.user(0), threading.Event(), []

        def ask(client, number):
            for other in range(number, 5_000, CLIENTS):
                try:
                    answer = client.put(f"/v1/users/{ann}/following/{self.user(other + 1)}")
                except OSError:
                    self.assertTrue(stopped.is_set(), "refused before the stop")
                    return
                answered.append(answer.status)

        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(self.together, ask)
            wait_until(lambda: len(answered) > 50, 60, "requests to be under way")
            stopped.set()
            self.assertEqual(self.api.stop(), 0)
            asking.result()
        followed = int(self.rows("SELECT COUNT(*) FROM following WHERE state = 1 AND "
                                 f"src = {ann}")[-1][0])
        self.assertGreaterEqual(followed, answered.count(200))  # an answer may have been lost
        self.assertLessEqual(set(answered), {200, 409})
        ApiTest.whole_run = self.number >= sum(
            name.startswith("test_") for name in dir(ApiTest))
