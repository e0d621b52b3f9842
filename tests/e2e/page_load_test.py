"""More cold pages are asked for than can be served, by clients that give up. What can be served is
bounded by the way to the shards, which a proxy makes long: it is about the same on every machine,
and it is measured first, by clients that wait for their answers."""

import asyncio
import itertools
import json
import random
import time
import unittest
from collections import Counter

from tests.e2e.reading import Reading
from tests.e2e.relations import shard_of

AUTHORS = range(1, 41)
COLD = range(1_000, 11_000)  # readers; each comes once
LIVE = range(20_000, 20_020)
FANS = range(30_000, 31_000)  # they follow somebody meanwhile
FOLLOWED = 6
WAY_S = 0.009  # to a shard, and as much back
AT_ONCE = 40  # clients that wait
PATIENCE_S = 3  # of clients that do not
BESIDE_S = 15  # of those that need nothing locked: on a slow machine they wait, though not for the lock
WARM_S, MEASURE_S = 2, 8
RATE = 150  # cold pages a second while a table is locked
LOCKED_S = 25


class Answers(Counter):
    """Statuses; "none": no answer in time."""

    def add(self, answer):
        self[answer[0] if answer else "none"] += 1


class PageLoad(Reading):
    stack_options = {"proxied": True}

    @classmethod
    def made_graph(cls):
        draw = random.Random(1)
        followers = {author: set() for author in AUTHORS}
        for reader in (*COLD, *LIVE):
            for author in draw.sample(AUTHORS, FOLLOWED):
                followers[author].add(reader)
        return followers

    @classmethod
    def api_args(cls):
        return ["--connections", "1000"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cold = iter(COLD)

    def setUp(self):
        super().setUp()
        self.publish_all([*AUTHORS] * 3)
        self.make_live(LIVE)
        self.settle()
        for shard in self.stack.mysql:
            self.stack.links[shard.name].delay(WAY_S)
            self.addCleanup(self.stack.links[shard.name].heal)

    # ---- clients -------------------------------------------------------------------------------

    async def ask(self, method, path, patience=PATIENCE_S):
        """(status, body), or None if there is none in time; the client leaves then."""
        try:
            return await asyncio.wait_for(self._ask(method, path), patience)
        except (asyncio.TimeoutError, OSError, asyncio.IncompleteReadError):
            return None

    async def _ask(self, method, path):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.apis[0].serving)
        try:
            writer.write(f"{method} {path} HTTP/1.1\r\nHost: fanline\r\nConnection: close\r\n"
                         "Content-Length: 0\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            if not head:
                return None
            return int(head.split()[1]), json.loads(body)
        finally:
            writer.close()

    def cold_page(self, reader, patience=PATIENCE_S):
        return self.ask("GET", f"/v1/users/{reader}/timeline", patience)

    async def capacity(self):
        """Cold pages a second to clients that ask again once they are answered."""
        served, begin = [], time.monotonic()

        async def client():
            while time.monotonic() < begin + WARM_S + MEASURE_S:
                answer = await self.cold_page(next(self.cold), patience=60)
                self.assertEqual(answer and answer[0], 200, answer)
                served.append(time.monotonic() - begin)

        await asyncio.gather(*(client() for _ in range(AT_ONCE)))
        return sum(WARM_S <= at < WARM_S + MEASURE_S for at in served) / MEASURE_S

    async def offer(self, rate, seconds, answered):
        """That many cold pages a second, whatever becomes of them; `answered` takes the time since
        the beginning, the reader and the answer."""
        begin, asking = time.monotonic(), set()

        async def one():
            reader = next(self.cold)
            answer = await self.cold_page(reader)
            answered(time.monotonic() - begin, reader, answer)

        for number in itertools.count():
            early = begin + number / rate - time.monotonic()
            if number / rate >= seconds:
                break
            if early > 0:
                await asyncio.sleep(early)
            asking.add(task := asyncio.create_task(one()))
            task.add_done_callback(asking.discard)
        await asyncio.gather(*asking)

    async def again_and_again(self, requests, over, answered, pause=0.05):
        for method, path in requests:
            if over.is_set():
                return
            answered(await self.ask(method, path, BESIDE_S))
            await asyncio.sleep(pause)

    # ---- what must hold ------------------------------------------------------------------------

    def test_1_three_times_what_can_be_served_does_not_keep_it_from_being_served(self):
        capacity = asyncio.run(self.capacity())
        answers, good = Answers(), []

        def answered(at, _, answer):
            if at >= WARM_S:
                answers.add(answer)
                good.append(bool(answer) and answer[0] == 200)

        asyncio.run(self.offer(3 * capacity, WARM_S + MEASURE_S, answered))
        goodput = sum(good) / MEASURE_S
        print(f"can serve {capacity:.0f} cold pages/s; of {3 * capacity:.0f}/s offered it serves "
              f"{goodput:.0f}: {goodput / capacity:.2f}; {dict(answers)}", flush=True)
        self.assertLess(capacity, 100, "the way to the shards does not bound it")
        self.assertGreaterEqual(goodput, 0.8 * capacity)

    def test_2_a_locked_table_of_one_shard_refuses_nobody_who_does_not_need_it(self):
        well, cold, live, follows = asyncio.run(self.load_beside_a_lock())
        print(f"cold {dict(well)} and {dict(cold)}, live {dict(live)}, follows {dict(follows)}", flush=True)
        self.assertEqual(set(live), {200})
        self.assertEqual(set(follows), {200})
        self.assertGreater(min(live[200], follows[200]), 2 * LOCKED_S)
        self.assertGreater(cold["none"] + cold[503], LOCKED_S, "nobody was held up")
        # They follow authors of the locked shard, too: their pages are incomplete.
        self.assertGreater(well[200], 20 * LOCKED_S)

    async def load_beside_a_lock(self):
        cold, live, follows = (Answers(), Answers()), Answers(), Answers()  # cold by shard
        over = asyncio.Event()
        pages = itertools.cycle(("GET", f"/v1/users/{reader}/timeline") for reader in LIVE)
        changes = (("PUT", f"/v1/users/{fan}/following/{AUTHORS[number % len(AUTHORS)]}")
                   for number, fan in enumerate(fan for fan in FANS if shard_of(fan) == 0))
        with self.stack.mysql[1].client() as lock:
            lock.query("LOCK TABLES following WRITE, author_post WRITE")
            beside = [asyncio.create_task(self.again_and_again(pages, over, live.add)),
                      asyncio.create_task(self.again_and_again(changes, over, follows.add))]
            await self.offer(RATE, LOCKED_S, lambda _, reader, answer: cold[shard_of(reader)].add(answer))
            lock.query("UNLOCK TABLES")
        over.set()
        await asyncio.gather(*beside)
        return *cold, live, follows
