"""A reader who follows very many gets a sample of their posts, set by hand or by the number of
authors: over HTTP, on a whole fleet. What is expected is computed here, from SHA-1 of `post:reader`."""

import unittest

from tests.e2e.reading import Reading, wanted

HYPER, PLAIN, WRITER = 1, 2, 3
AUTHORS = range(101, 113)
PULLED = 112  # merged at read
OLD = 960  # posts: more than a window holds, of one in 2 too
LONG_AGO = 1_700_000_000_000  # Unix ms


class SampledReaders(Reading):
    own_posts = True
    pushers = 2

    @classmethod
    def made_graph(cls):
        graph = {author: {HYPER, PLAIN} for author in AUTHORS}
        graph[AUTHORS[0]].add(WRITER)
        return graph

    def setUp(self):
        super().setUp()
        self.one_in = {}

    def sample(self, reader, one_in):
        """Sets it, and waits until the timeline of before is gone."""
        said = self.feedctl.json("readers", "sample", reader, one_in, "--json")
        self.one_in[reader] = 1 if one_in == "off" else one_in
        self.assertEqual(said, {"reader": str(reader), "one_in": self.one_in[reader],
                                "set_by": "hand"})
        self.settle()

    def expected(self, reader):
        one_in = self.one_in.get(reader, 1)
        return [post for post in super().expected(reader)
                if self.author_of[post] == reader or wanted(post, reader, one_in)]

    def post_all(self, authors, *when):
        posts = self.publish_all(authors, *when)
        self.author_of.update(zip(posts, authors))
        return posts

    def held(self, reader):
        """N, as the timeline in Redis carries it."""
        key, = self.stack.redis.command("KEYS", f"tl:*:{reader}")
        first = self.stack.redis.command("ZRANGE", key, 0, 0)[0]
        return int(first[1:]) if first.startswith("%") else 1

    def shows(self, reader, what):
        """Live down to the floor and pulled below it, pulled as a whole; and the audit agrees."""
        expected = self.expected(reader)
        self.live(reader)
        self.wait_for(lambda: self.walk(f"{reader}/timeline", 200) == expected, what)
        self.assertEqual(self.held(reader), self.one_in.get(reader, 1), what)
        first = self.get(f"{reader}/timeline?limit=20")
        self.assertEqual(len(first["items"]), min(20, len(expected)), "a page is as long as any")
        self.assert_audited()
        self.drop(reader)
        self.assertEqual(self.walk(f"{reader}/timeline", 200), expected, what)
        self.live(reader)

    def says_so(self, reader, one_in):
        self.assertEqual(self.feedctl.json("timeline", reader, "--json")["one_in"], one_in)
        self.assertIn(f", and gets one in {one_in} of their posts; ", self.feedctl.run("timeline", reader))
        checks = {check["name"]: check for check in self.feedctl.json("doctor", reader, "--json")["checks"]}
        self.assertEqual(checks["sampled"]["text"], f"one in {one_in} posts of others is wanted")
        self.assertIn(f"; holds one in {one_in} posts of others", checks["state"]["text"])

    def test_a_sample_is_the_same_however_posts_came_into_it(self):
        type(self).author_of = {}
        self.post_all([*AUTHORS, HYPER] * (OLD // len(AUTHORS)), LONG_AGO)
        self.settle()
        self.feedctl.run("author", "mode", PULLED, "pull")
        self.post_all([*AUTHORS, HYPER] * 4)
        self.settle()
        self.shows(HYPER, "every post")
        self.live(PLAIN)

        self.sample(HYPER, 4)
        self.shows(HYPER, "rebuilt, one in 4")
        self.says_so(HYPER, 4)
        left_out = self.counter("fanline_sampled_out_total")
        new = self.post_all([*AUTHORS, HYPER] * 10)
        self.settle()
        pushed = [post for post in new if self.author_of[post] not in (PULLED, HYPER)]
        out = sum(not wanted(post, HYPER, 4) for post in pushed)
        self.assertGreater(out, 0)
        self.assertEqual(self.counter("fanline_sampled_out_total"), left_out + out)
        self.shows(HYPER, "pushed, one in 4")
        self.shows(PLAIN, "of somebody else")

        for want in (True, False):
            post = next(post for post in pushed if wanted(post, HYPER, 4) == want)
            self.delete(self.author_of[post], post)
        self.client.delete(f"/v1/users/{HYPER}/following/{AUTHORS[2]}")
        self.ledger.unfollow(HYPER, AUTHORS[2])
        self.settle()
        self.shows(HYPER, "deleted and unfollowed")
        self.client.put(f"/v1/users/{HYPER}/following/{AUTHORS[2]}")
        self.ledger.follow(HYPER, AUTHORS[2])
        self.settle()
        self.shows(HYPER, "followed again")

        self.sample(HYPER, 2)
        self.shows(HYPER, "one in 2")
        self.feedctl.run("readers", "sample", HYPER, 2)
        self.settle()
        self.assertEqual(self.get(f"{HYPER}/timeline?limit=1")["state"], "live", "as it was")
        self.sample(HYPER, "off")
        self.shows(HYPER, "off")

        # By the number of authors; who was set by hand stays.
        self.sample(PLAIN, 8)
        self.feedctl.run("readers", "sample", "--above", 5)
        self.assertEqual(self.feedctl.run("readers", "sample"), f"{PLAIN}: one in 8 (hand)\n")
        self.drop(WRITER)
        for author in AUTHORS[1:7]:
            self.follow(WRITER, author)
        self.feedctl.run("readers", "sample", "--above", 5)
        self.one_in[WRITER] = 2
        self.settle()
        self.shows(WRITER, "by the limit")
        self.feedctl.run("readers", "sample", "--above", 50)
        del self.one_in[WRITER]
        self.settle()
        self.shows(WRITER, "above no limit")

        # A timeline of another sample than its reader's is found and repaired.
        self.shows(PLAIN, "one in 8")
        key, = self.stack.redis.command("KEYS", f"tl:*:{PLAIN}")
        self.stack.redis.command("ZREM", key, "%8")
        audit = self.feedctl.json("audit", "--json", codes=(1,))
        self.assertEqual((audit["missing"], audit["extra"]), (0, 1), audit)
        audit = self.feedctl.json("audit", "--repair", "--repair-after", "1s", "--json")
        self.assertEqual((audit["repair"]["rebuilt"], audit["repair"]["still_wrong"]), (1, 0))
        self.shows(PLAIN, "repaired")


if __name__ == "__main__":
    unittest.main()
