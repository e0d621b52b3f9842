"""Authors whom readers mute, over HTTP, on all of Fanline: pages lack their posts and are full all the same, in a live
timeline, below its floor and while there is none; and two devices that change one list."""

import random
import unittest

from tests.e2e.reading import Reading

READERS = range(1, 5)
ANN, EVE, MIA = AUTHORS = range(101, 104)
OLD = 600  # posts: more than a live timeline keeps
LONG_AGO = 1_700_000_000_000  # Unix ms
STEPS = 40


class Mutes(Reading):
    own_posts = True
    api_processes = 2

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in AUTHORS}

    author_of = {}  # of all posts of all tests

    def posted(self, authors, begin=None):
        posts = self.publish_all(authors, *[begin] if begin else [])
        self.author_of.update(zip(posts, authors))

    def change(self, method, reader, author):
        answer = self.client.ask(method, f"/v1/users/{reader}/mutes/{author}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer

    def shows(self, reader, muted, what):
        """All pages, by each process of the API."""
        expected = [post for post in self.expected(reader) if self.author_of[post] not in muted]
        for number, api in enumerate(self.apis):
            client = api.client(self.contract.check)
            self.addCleanup(client.close)
            walked = f"{reader}/timeline"
            self.wait_for(lambda: self.walk(walked, 50, client) == expected, f"{what}, process {number}")
            page = self.get(f"{walked}?limit=20", client)
            self.assertEqual(self.ids(page), expected[:20], what)
            self.assertNotIn("mutes_unknown", page)

    def test_whoever_is_muted_is_left_out_and_comes_back(self):
        reader = 1
        self.posted([ANN, EVE, MIA] * (OLD // 3), LONG_AGO)
        self.posted([ANN, EVE, MIA] * 10)
        self.settle()
        self.live(reader)
        self.shows(reader, set(), "nobody is muted")
        for muted in ({EVE}, {EVE, MIA}):
            for author in muted:
                self.change("PUT", reader, author)
            self.shows(reader, muted, "muted while live")
            self.drop(reader)
            self.shows(reader, muted, "muted, pulled")
            self.live(reader)
            self.shows(reader, muted, "muted, rebuilt")
            self.assert_audited()
        self.posted([EVE, ANN])
        self.settle()
        self.shows(reader, {EVE, MIA}, "pushed while muted")
        for author in (EVE, MIA):
            self.change("DELETE", reader, author)
        self.shows(reader, set(), "back")
        members = self.stack.redis.command("ZRANGE", *self.stack.redis.command("KEYS", f"tl:*:{reader}"), "0", "5")
        self.assertFalse([member for member in members if str(member).startswith("M")], "nobody is muted any more")
        self.assert_audited()

    def test_a_model_of_what_is_muted_and_followed(self):
        reader, draw = 2, random.Random(random.random())
        self.posted([ANN, EVE, MIA] * 30)
        self.settle()
        self.live(reader)
        muted, followed = set(), set(AUTHORS)
        for step in range(STEPS):
            author = draw.choice(AUTHORS)
            match draw.randrange(5):
                case 0:
                    self.change("PUT", reader, author)
                    muted.add(author)
                case 1:
                    self.change("DELETE", reader, author)
                    muted.discard(author)
                case 2:
                    self.client.put(f"/v1/users/{reader}/following/{author}")
                    self.ledger.follow(reader, author)
                    followed.add(author)
                case 3:
                    self.client.delete(f"/v1/users/{reader}/following/{author}")
                    self.ledger.unfollow(reader, author)
                    followed.discard(author)
                case _:
                    self.drop(reader)
            self.shows(reader, muted, f"step {step}: muted {muted}, followed {followed}")

    def test_two_devices_of_one_reader(self):
        reader = 3
        path = f"/v1/users/{reader}/mutes"
        seen = self.client.get(path).headers["etag"]
        other = self.apis[1].client(self.contract.check)
        self.addCleanup(other.close)
        first = other.ask("PUT", path, {"muted": [str(ANN)]}, {"If-Match": seen})
        self.assertEqual(first.status, 200, first.text)
        late = self.client.ask("PUT", path, {"muted": [str(EVE)]}, {"If-Match": seen})
        self.assertEqual((late.status, late.headers["etag"]), (412, first.headers["etag"]))
        again = self.client.ask("PUT", path, {"muted": [str(ANN), str(EVE)]}, {"If-Match": late.headers["etag"]})
        self.assertEqual(again.json["muted"], [str(ANN), str(EVE)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
