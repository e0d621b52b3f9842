"""An author of very many followers, whose posts are pushed to nobody and merged into pages at read:
over HTTP, on a whole fleet. Back and forth while everything else goes on and programs are killed."""

import contextlib
import random
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from tests.e2e.reading import Reading

READERS, WALKERS = range(1, 9), range(11, 14)
ANN, EVE, LEO = AUTHORS = range(101, 104)
MAX = 105  # whom a crowd follows, beside all others
CROWD = range(1001, 1401)
SECONDS = 10


class MergedAtRead(Reading):
    dispatchers = 2
    pushers = 2
    api_processes = 2
    # A range holds 25 of the crowd: what it counts is 400, give or take 150. Of the readers of the
    # other authors it holds 3 at most. The lag plays no part: this machine may be slow.
    dispatcher_args = ["--pull-above", "150", "--pull-lag", "1h", "--pull-hold", "500ms",
                       "--weigh-every", "100ms"]

    @classmethod
    def made_graph(cls):
        followers = *READERS, *WALKERS
        return {**{author: set(followers) for author in AUTHORS}, MAX: {*followers, *CROWD}}

    def mode(self, author, mode=None):
        return self.feedctl.json("author", "mode", author, *([mode] if mode else []), "--json")

    def shows(self, reader, what):
        """Live, pulled below the floor, and pulled as a whole; from either process of the API."""
        expected = self.expected(reader)
        self.live(reader)
        self.wait_for(lambda: self.walk(f"{reader}/timeline", 7) == expected, what)
        with contextlib.closing(self.apis[1].client(self.contract.check)) as other:
            self.wait_for(lambda: self.walk(f"{reader}/timeline", 50, other) == expected, what)
        self.drop(reader)
        self.assertEqual(self.walk(f"{reader}/timeline", 50), expected, what)
        self.live(reader)

    def publish_until(self, author, mode):
        """Posts of the author; those of before the switch, at least."""
        posts = []

        def switched():
            posts.append(self.publish(author))
            return self.mode(author)["mode"] == mode

        self.wait_for(switched, f"the author to be switched to {mode}")
        return posts

    def test_a_busy_author_is_switched_by_himself_to_and_fro(self):
        reader = 1
        self.make_live(CROWD)
        self.live(reader)
        self.publish_until(MAX, "pull")
        self.assertEqual(self.mode(MAX)["set_by"], "auto")
        merged = self.publish_all([MAX] * 5)
        self.settle()
        self.assertFalse(set(self.posts_of(reader)) & set(merged))
        self.shows(reader, "pulled by himself")
        self.assert_audited()
        self.stack.redis.command("DEL", *self.stack.redis.command("KEYS", "tl:*"))
        self.publish_until(MAX, "push")
        self.live(reader)
        pushed = self.publish_all([MAX] * 5)
        self.settle()
        self.assertTrue(set(pushed) <= set(self.posts_of(reader)))
        self.shows(reader, "pushed again")
        self.assert_audited()
        for to in ("pull", "push"):
            self.assertGreaterEqual(self.counter("fanline_authors_switched_total", to=to), 1)
        self.assertEqual(self.mode(MAX, "pull")["set_by"], "hand")
        merged = self.publish_all([MAX] * 5)
        self.settle()
        self.assertFalse(set(self.posts_of(reader)) & set(merged), "what a hand has set holds")
        self.mode(MAX, "auto")
        self.publish_until(MAX, "push")
        self.settle()
        self.shows(reader, "left to the dispatchers")

    def test_switching_back_and_forth_while_programs_are_killed_leaves_no_hole(self):
        still = self.publish_all([LEO] * 30)
        self.mode(LEO, "pull")
        still = (still + self.publish_all([LEO] * 30))[::-1]
        self.settle()
        for reader in (*READERS, *WALKERS):
            self.live(reader)
        over = threading.Event()
        with ThreadPoolExecutor(2 + len(WALKERS)) as pool, contextlib.ExitStack() as stack:
            stack.callback(over.set)
            changes = pool.submit(self.change, over)
            kills = pool.submit(self.kill, over)
            walks = [pool.submit(self.walks, reader, still, over, (20, 77)) for reader in WALKERS]
            over.wait(SECONDS)
            over.set()
            counts = [walk.result() for walk in walks]
            rounds, killed = changes.result(), kills.result()
        print(f"{rounds} rounds of changes, {killed} kills, {sum(counts)} walks")
        self.assertGreater(killed, 1)
        self.settle()
        self.assert_audited()
        for reader in (*READERS, *WALKERS):
            self.shows(reader, "after all of it")
        self.assert_audited()

    def change(self, over):
        draw, client, rounds = random.Random(1), self.apis[0].client(), 0
        posts = []
        while not over.is_set():
            self.mode(EVE, draw.choice(("push", "pull", "auto")))
            posts += self.publish_all([EVE] * 3)
            self.publish_all([ANN])
            self.delete(EVE, posts.pop(draw.randrange(len(posts))))
            self.hide(EVE, draw.choice(posts), next(self.versions))
            reader = draw.choice(READERS)
            change = draw.choice((client.delete, client.put))
            if change(f"/v1/users/{reader}/following/{EVE}").status < 300:
                (self.ledger.follow if change == client.put else self.ledger.unfollow)(reader, EVE)
            if rounds % 4 == 0:
                self.drop(draw.choice(READERS))
            self.get(f"{draw.choice(READERS)}/timeline", client)
            rounds += 1
        client.close()
        return rounds

    def kill(self, over):
        draw, killed = random.Random(2), 0
        while not over.wait(1.5):
            daemon = draw.choice([*self.fleet.dispatchers, *self.fleet.pushers])
            daemon.kill()
            time.sleep(0.3)
            daemon.start()
            killed += 1
        return killed
