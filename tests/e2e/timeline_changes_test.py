"""Changes as readers see them, over HTTP: what is deleted, hidden, shown again, edited, followed and
unfollowed, in a live timeline, below its floor and while there is none; and walks from page to page
while all of it goes on."""

import contextlib
import itertools
import random
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from demo.workload import Event
from tests.e2e.reading import Reading

READERS, WALKERS = range(1, 5), range(11, 15)
ANN, EVE, MIA, LEO = AUTHORS = range(101, 105)
OLD = 600  # posts: more than a live timeline keeps
SECONDS = 8  # of walks
LONG_AGO = 1_700_000_000_000  # Unix ms


class TimelineChanges(Reading):
    own_posts = True
    ranges = 64  # of which those without a reader of a post get no hint

    @classmethod
    def made_graph(cls):
        return {author: {*READERS, *WALKERS} for author in AUTHORS}

    def shows(self, reader, what):
        """All pages are what they must be: those of a live timeline and, below its floor, of the
        truth; and those of a timeline that expired."""
        expected = self.expected(reader)
        self.live(reader)
        self.wait_for(lambda: self.walk(f"{reader}/timeline", 150) == expected, what)
        self.drop(reader)
        self.assertEqual(self.walk(f"{reader}/timeline", 150), expected, what)

    def test_what_changes_shows_on_every_page(self):
        reader = 1
        old = self.publish_all([ANN, EVE, MIA] * (OLD // 3), LONG_AGO)
        new = self.publish_all([ANN, EVE, MIA] * 5)
        self.settle()
        self.shows(reader, "as published")
        author_of = dict(zip(old + new, itertools.cycle((ANN, EVE, MIA))))
        for post in (old[4], new[4]):  # below the floor and above it
            self.live(reader)
            self.hide(author_of[post], post, next(self.versions))
            self.settle()
            self.assertNotIn(post, self.expected(reader))
            self.shows(reader, "hidden")
            self.live(reader)
            self.unhide(author_of[post], post, next(self.versions))
            self.settle()
            self.assertIn(post, self.expected(reader))
            self.shows(reader, "back in its place")
            self.live(reader)
            self.send([Event("edited", post, author_of[post], version=next(self.versions))])
            self.settle()
            self.shows(reader, "edited: where it was")
            self.delete(author_of[post], post)
            self.settle()
            self.assertNotIn(post, self.expected(reader))
            self.shows(reader, "deleted")
        for change, what in ((self.client.delete, "unfollowed"), (self.client.put, "followed")):
            self.live(reader)
            self.assertLess(change(f"/v1/users/{reader}/following/{EVE}").status, 300)
            ledger = self.ledger.unfollow if what == "unfollowed" else self.ledger.follow
            ledger(reader, EVE)
            self.shows(reader, what)

    def test_ones_own_posts_are_in_ones_home_timeline(self):
        writer, alone = 5, 6  # followed by nobody; alone follows nobody either
        self.follow(writer, ANN)
        self.settle()
        self.publish_all([writer, ANN] * 300, LONG_AGO)  # more than a live timeline keeps
        self.publish(alone)
        self.settle()
        for reader in (writer, alone):
            self.shows(reader, "pulled, rebuilt")
            self.live(reader)
        newest, other = self.publish_all([writer, alone])
        self.settle()
        for reader, post in ((writer, newest), (alone, other)):
            self.assertEqual(self.posts_of(reader)[0], post, "pushed")
        self.take_out(alone, other)
        audit = self.feedctl.json("audit", "--repair", "--repair-after", "1s", "--json")
        self.assertEqual((audit["repair"]["rebuilt"], audit["repair"]["still_wrong"]), (1, 0))
        self.shows(alone, "repaired")
        self.shows(writer, "pushed")
        self.assert_exact()

    def test_walks_meanwhile_show_nothing_twice_and_skip_nothing_that_stood_still(self):
        still = self.publish_all([LEO] * OLD, LONG_AGO + 10_000_000)[::-1]
        moving = self.publish_all([ANN, EVE, MIA] * 200, LONG_AGO + 10_000_000)
        self.settle()
        for reader in WALKERS:
            self.live(reader)
        over = threading.Event()
        with ThreadPoolExecutor(1 + len(WALKERS)) as pool, contextlib.ExitStack() as stack:
            stack.callback(over.set)
            changes = pool.submit(self.change, moving, over)
            walks = [pool.submit(self.walks, reader, still, over, (20, 77, 200)) for reader in WALKERS]
            over.wait(SECONDS)
            over.set()
            counts = [walk.result() for walk in walks]
            self.assertGreater(changes.result(), 5)
        print(f"{changes.result()} rounds of changes, {sum(counts)} walks")
        self.assertGreater(min(counts), 0)
        self.settle()
        for reader in WALKERS:
            self.live(reader)
        self.assert_exact()

    def change(self, moving, over):
        """Everything that may happen to posts and edges of others; timelines that expire."""
        draw, client, rounds = random.Random(1), self.apis[0].client(), 0
        author_of = dict(zip(moving, itertools.cycle((ANN, EVE, MIA))))
        while not over.is_set():
            for kind in ("deleted", "hidden", "unhidden", "edited"):
                post = draw.choice(moving)
                version = 0 if kind == "deleted" else next(self.versions)
                self.send([Event(kind, post, author_of[post], version=version)])
            self.publish_all([ANN, MIA] * 5)
            self.publish_all([EVE], LONG_AGO + draw.randrange(20_000_000))  # comes late
            reader = draw.choice(WALKERS)
            client.delete(f"/v1/users/{reader}/following/{EVE}")
            client.put(f"/v1/users/{reader}/following/{EVE}")
            if rounds % 4 == 0:
                self.drop(draw.choice(WALKERS))
            rounds += 1
        client.close()
        return rounds
