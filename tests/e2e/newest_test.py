"""What is new, polled from two processes of the API by `newer_than`: posts pushed and merged at read,
that come in late or are dated ahead. No reader misses one. Authors, times and processes are drawn from a
seed, which is printed; FANLINE_SEED=... draws them again.

FANLINE_NEWEST_READERS (40) times as many posts as there are is what is looked at; make test-long has
400 readers, and so 100,000 pairs of a post and a reader."""

import os
import random
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from demo.workload import Event
from tests.e2e.reading import Reading

READERS = range(1, 1 + int(os.environ.get("FANLINE_NEWEST_READERS", 40)))
PUSHED, MERGED = range(1_001, 1_006), range(2_001, 2_006)
POSTS, PER_SECOND = 250, 10
LATEST_MS = 5_000  # by which a post comes in late
AHEAD_MS = 240_000
POLLERS = 8


class Newest(Reading):
    api_processes = 2

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in (*PUSHED, *MERGED)}

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("FANLINE_SEED") or random.randrange(1 << 32))
        print(f"again: FANLINE_SEED={self.seed}", flush=True)

    def test_who_asks_for_what_is_new_misses_no_post(self):
        for author in MERGED:
            self.feedctl.run("author", "mode", author, "pull")
        self.publish_all([*PUSHED, *MERGED], time.time_ns() // 1_000_000 - 3_600_000)
        self.settle()
        self.make_live(READERS)
        over = threading.Event()
        with ThreadPoolExecutor(POLLERS) as pool:
            polls = [pool.submit(self.poll, READERS[number::POLLERS], number, over)
                     for number in range(POLLERS)]
            try:
                posts = self.publish_late()
                self.settle()
                time.sleep(2)  # a process remembers posts merged at read for a moment
            finally:
                over.set()
            seen = {reader: posts for poll in polls for reader, posts in poll.result().items()}
        missed = [(post, reader) for reader in READERS for post in sorted(posts - seen[reader])]
        print(f"{len(missed)} of {len(posts) * len(READERS)} pairs missed")
        self.assertEqual(missed[:10], [])

    def publish_late(self):
        """Posts of both kinds of authors, each of its own time, one in ten dated ahead; their ids."""
        draw, begin = random.Random(self.seed), time.time_ns() // 1_000_000
        posts = set()
        for number in range(POSTS):
            sent = begin + 1_000 * number // PER_SECOND
            author = draw.choice((*PUSHED, *MERGED))
            ahead = draw.randrange(10) == 0
            created = sent + draw.randrange(AHEAD_MS) if ahead else sent - draw.randrange(LATEST_MS)
            time.sleep(max(0, sent / 1_000 - time.time()))
            post = next(self.post_ids)
            self.send([Event("published", post, author, created)])
            posts.add(post)
        return posts

    def poll(self, readers, number, over):
        """What each of the readers saw of what is new, in rounds, from one process or the other."""
        draw, clients = random.Random(self.seed + number), [api.client(self.contract.check) for api in self.apis]
        cursors = {reader: self.get(f"{reader}/timeline?limit=1", clients[0])["newest_cursor"]
                   for reader in readers}
        seen = {reader: set() for reader in readers}
        last = False  # one more round after all is over
        while not last:
            last = over.is_set()
            for reader in readers:
                cursors[reader] = self.ask_for_new(reader, cursors[reader], draw.choice(clients),
                                                   seen[reader])
        for client in clients:
            client.close()
        return seen

    def ask_for_new(self, reader, cursor, client, seen):
        path = f"{reader}/timeline?limit=200&newer_than={cursor}"
        page = first = self.get(path, client)
        seen.update(self.ids(page))
        while "next_cursor" in page:
            page = self.get(f"{path}&cursor={page['next_cursor']}", client)
            seen.update(self.ids(page))
        return first["newest_cursor"]
