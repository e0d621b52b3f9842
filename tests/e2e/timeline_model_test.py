"""Whatever happens, in any order: steps drawn by one seed on a whole fleet with real services, held
to a plain model (demo/ledger.py) after every rest, and page walks meanwhile. Of make test-long.

FANLINE_MODEL_STEPS (10,000) and FANLINE_MODEL_SEED (drawn, and printed) replay a run: the steps are
the same again, though not the moments at which daemons come to them. tests/sim does the same on
fakes, and a hundred times as often, in make test."""

import os
import random
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from demo.workload import Event
from tests.e2e.reading import Reading

STEPS = int(os.environ.get("FANLINE_MODEL_STEPS", 10_000))
SEED = int(os.environ.get("FANLINE_MODEL_SEED", random.SystemRandom().randrange(1 << 32)))
REST_EVERY = 500
REMEMBERED_S = 1  # an API process serves posts merged at read so old (kFor of api/merged_posts.h)
HOUR = 3_600_000
FULL = 200  # posts per page


def any_id(draw):
    """1 to 20 digits, each as often."""
    digits = draw.randrange(1, 21)
    return draw.randrange(10 ** (digits - 1), min(10 ** digits, 2 ** 64 - 1))


def place_of(item):
    """When its newest source was made, and which that is: of one moment there may be several."""
    newest = item.get("reposts", [None])[0]
    if newest is None or newest["at_ms"] < item["place_ms"]:
        return item["created_at_ms"], item["id"]
    return newest["at_ms"], newest["id"]


class TimelineModel(Reading):
    dispatchers = 2
    pushers = 2
    # Those whose mode is left to the dispatchers go back and forth too.
    dispatcher_args = ["--pull-above", "8", "--pull-hold", "1s", "--weigh-every", "100ms"]

    @classmethod
    def made_graph(cls):
        cls.draw = random.Random(SEED)
        cls.readers = sorted({any_id(cls.draw) for _ in range(24)})
        cls.authors = sorted({any_id(cls.draw) for _ in range(12)} - set(cls.readers))
        return {author: {reader for reader in cls.readers if cls.draw.random() < 0.5}
                for author in cls.authors}

    def setUp(self):
        super().setUp()
        self.posts, self.unsent, self.used, self.version = {}, [], set(), 0
        self.stored = {}  # post -> whether it is a repost
        self.began = time.time_ns() // 1_000_000

    # ---- steps ---------------------------------------------------------------------------------

    def event(self, kind, post, **more):
        event = Event(kind, post, self.posts[post], **more)
        self.unsent.append(event)
        if self.draw.random() < 0.1:
            self.unsent.append(event)  # delivered twice

    def publish(self):
        post = any_id(self.draw)
        if post in self.used:
            return
        self.used.add(post)
        self.posts[post] = self.draw.choice(self.authors)
        clock = self.draw.choice((0, 0, 0, -HOUR, self.draw.randrange(-50 * HOUR, 0)))  # later is refused
        moment = (self.began + clock) // 1000 * 1000 if self.draw.random() < 0.5 else self.began
        if self.draw.random() < 0.05:  # what is said of a post may arrive before it
            self.change(post)
        self.event("published", post, created_at_ms=moment)
        self.stored[post] = False

    def repost(self):
        """Of a post of any author, which may be gone, and mostly of one of a few."""
        post, seen = any_id(self.draw), [post for post, repost in self.stored.items() if not repost]
        if post in self.used or not seen:
            return
        self.used.add(post)
        self.posts[post] = self.draw.choice(self.authors)
        original = self.draw.choice(seen[-8:] if self.draw.random() < 0.8 else seen)
        moment = self.began + self.draw.choice((0, -HOUR, self.draw.randrange(-50 * HOUR, 0)))
        self.event("published", post, created_at_ms=moment, repost_of=(original, self.posts[original]))
        self.stored[post] = True

    def change(self, post=None):
        if not self.posts:
            return
        kind = self.draw.choice(("deleted", "hidden", "unhidden", "unhidden", "edited"))
        self.version += 1
        stale = 3 if self.draw.random() < 0.1 else 0  # an older version arrives later
        self.event(kind, post or self.draw.choice(list(self.posts)),
                   version=0 if kind == "deleted" else max(1, self.version - stale))

    def send_all(self):
        self.send(self.unsent)
        self.unsent.clear()

    def relate(self):
        reader, author = self.draw.choice(self.readers), self.draw.choice(self.authors)
        if self.draw.random() < 0.5:
            self.assertLess(self.client.put(f"/v1/users/{reader}/following/{author}").status, 300)
            self.ledger.follow(reader, author)
        else:
            self.assertLess(self.client.delete(f"/v1/users/{reader}/following/{author}").status, 300)
            self.ledger.unfollow(reader, author)

    def choose(self):
        """What a follow brings."""
        reader, author = self.draw.choice(sorted(self.ledger.edges()))
        delivery = self.draw.choice(("none", "none", "all", "no_reposts"))
        answer = self.client.ask("PATCH", f"/v1/users/{reader}/following/{author}", {"delivery": delivery})
        self.assertEqual(answer.status, 200, answer.text)
        self.ledger.choose(reader, author, delivery)

    def mute(self):
        """Of an author whom the reader may follow, or not."""
        reader, author = self.draw.choice(self.readers), self.draw.choice(self.authors)
        method, note = self.draw.choice((("PUT", self.ledger.mute), ("DELETE", self.ledger.unmute)))
        answer = self.client.ask(method, f"/v1/users/{reader}/mutes/{author}")
        self.assertLess(answer.status, 300, answer.text)
        note(reader, author)

    def expire(self):
        self.drop(self.draw.choice(self.readers))

    def switch_mode(self):
        mode = self.draw.choice(("push", "pull", "auto", "auto"))
        self.feedctl.run("author", "mode", self.draw.choice(self.authors), mode)

    def crash(self):
        daemon = self.draw.choice(self.fleet.daemons)
        daemon.kill()
        daemon.start()

    def read(self):
        """A walk: nothing twice at one place. What it finds may be behind the model; at rest it is the model."""
        reader = self.draw.choice(self.readers)
        self.reads.append(self.pool.submit(self.walk_once, reader, self.draw.choice((3, 20, FULL))))

    def walk_once(self, reader, limit):
        client, walked, query = self.apis[0].client(), [], ""
        try:
            while True:
                page = self.get(f"{reader}/timeline?limit={limit}{query}", client)
                walked += [(item["id"], place_of(item)) for item in page["items"]]
                if "next_cursor" not in page:
                    break
                query = f"&cursor={page['next_cursor']}"
        finally:
            client.close()
        self.assertEqual(len(walked), len(set(walked)), f"reader {reader} was shown an item twice at one place")
        return len(walked)

    # ---- what must hold ------------------------------------------------------------------------

    def rest(self, step):
        self.send_all()
        for daemon in self.fleet.daemons:
            daemon.wait_ready()
        self.settle()
        for read in self.reads:
            read.result()
        self.reads.clear()
        time.sleep(REMEMBERED_S)
        for reader in self.readers:
            where = f"reader {reader} at step {step} of seed {SEED}"
            for limit in (FULL, self.draw.choice((3, 20))):
                self.assertEqual(self.walk(f"{reader}/timeline", limit), self.expected(reader), where)
            reposts = self.draw.choice(("each", "none"))
            self.assertEqual(self.walk(f"{reader}/timeline", FULL, reposts=reposts),
                             self.ledger.pages(reader, reposts), f"{reposts}, {where}")
        for author in self.authors:
            self.assertEqual(self.walk(f"{author}/posts", FULL), self.ledger.outbox(author))
        self.assert_audited()

    def test_any_steps_leave_what_the_model_says(self):
        print(f"{STEPS:,} steps, FANLINE_MODEL_SEED={SEED}", flush=True)
        weights = {self.publish: 30, self.repost: 15, self.change: 25, self.relate: 8, self.choose: 5, self.mute: 3,
                   self.read: 10, self.send_all: 15, self.expire: 3, self.switch_mode: 1,
                   self.crash: 0.3}
        steps, self.reads = list(weights), []
        with ThreadPoolExecutor(3) as self.pool:
            for number in range(1, STEPS + 1):
                step, = self.draw.choices(steps, weights.values())
                step()
                if number % REST_EVERY == 0:
                    self.rest(number)
                    print(f"step {number:,}: {len(self.posts):,} posts, "
                          f"{len(self.timelines())} live timelines, "
                          f"{self.counter('fanline_authors_switched_total'):.0f} authors switched by "
                          "themselves", flush=True)
