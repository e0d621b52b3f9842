"""What applications say about posts: drawn events, several producers that send them in an order
that is nobody's, some of them several times, each until it is acknowledged."""

import time
from typing import NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka import Producer as KafkaProducer

from demo.clients import Client
from demo.workload import Event
from stack.programs.fleet import FEED

PUBLISHES = 0.7  # of the events; the others are about posts of these
KINDS = {"edited": 0.3, "hidden": 0.25, "unhidden": 0.2, "deleted": 0.25}
EARLY = 0.25  # of the others: come before their publish
POPULAR = 0.3  # of the posts: of an author by the number of followers; else of anybody
AGAIN = 0.15  # of the events: sent again, up to MOST_COPIES times
MOST_COPIES = 3
OLD = 0.05  # of the posts: made days before
REPOSTS = 0.15  # of the posts: show an earlier one
SAME_TIME = 0.2  # of the posts: at the very time of the one before

_STEP_S = 0.02
_PATIENCE_S = 120  # after the last was due


def idempotent_producer(brokers):
    return KafkaProducer({"bootstrap.servers": brokers, "enable.idempotence": True,
                          "delivery.timeout.ms": 10_000, "log_level": 0})


class Sending(NamedTuple):
    at: float  # 0 to 1: of the run
    event: Event


def draw_events(draw, count, followers, now_ms, seconds):
    """`count` distinct events, each with its place in the run."""
    publishes = round(count * PUBLISHES)
    authors = sorted(followers)
    weights = [len(followers[author]) + 0.01 for author in authors]
    placed, originals, created = [], [], now_ms
    for post in range(1, publishes + 1):
        author = (draw.choices(authors, weights)[0] if draw.random() < POPULAR
                  else draw.choice(authors))
        at = post / publishes
        if draw.random() >= SAME_TIME:
            created = now_ms + round(1000 * seconds * at)
        age = draw.randrange(20 * 86_400_000) if draw.random() < OLD else 0
        original = ()
        if originals and draw.random() < REPOSTS:
            original = draw.choice(originals[-20:] if draw.random() < POPULAR else originals)
        else:
            originals.append((post, author))
        placed.append(Sending(at, Event("published", post, author, created - age, repost_of=original)))
    versions, deleted = {}, set()
    for kind in draw.choices(list(KINDS), list(KINDS.values()), k=count - publishes):
        at, publish = draw.choice(placed[:publishes])
        at = draw.uniform(0, at) if draw.random() < EARLY else min(1, at + draw.expovariate(5))
        if kind == "deleted" and publish.post in deleted:
            kind = "edited"
        if kind == "deleted":
            deleted.add(publish.post)
            version = 0
        else:
            # Hides and unhides share their versions; edits count apart.
            key = publish.post, kind == "edited"
            version = versions[key] = versions.get(key, 0) + 1
        placed.append(Sending(at, Event(kind, publish.post, publish.author, version=version)))
    return placed


def hand_out(draw, placed, producers):
    """A list for each producer, in the order of its sendings; some events go to several."""
    lists = [[] for _ in range(producers)]
    for at, event in placed:
        copies = draw.randint(2, MOST_COPIES) if draw.random() < AGAIN else 1
        for copy in range(copies):
            place = at if copy == 0 else min(1, at + draw.expovariate(10))
            draw.choice(lists).append(Sending(place, event))
    for sendings in lists:
        sendings.sort(key=lambda sending: sending.at)
    return lists


class Sender(Client):
    """Sends each until the broker has acknowledged it."""

    def __init__(self, brokers, sendings, seconds):
        super().__init__(sendings)
        self._seconds = seconds
        self._brokers = brokers
        self._failed = []
        self.sent_again = 0
        self._kafka = idempotent_producer(brokers)

    def work(self):
        begin, sent = time.monotonic(), 0
        give_up = begin + self._seconds + _PATIENCE_S
        while self._wanted and self.done < len(self.todo):
            now = time.monotonic()
            if now > give_up:
                raise TimeoutError(f"{len(self.todo) - self.done} events were never acknowledged")
            while sent < len(self.todo) and self.todo[sent].at * self._seconds <= now - begin:
                self._send(self.todo[sent].event)
                sent += 1
            self._send_again()
            self._kafka.poll(0)
            time.sleep(_STEP_S)

    def _send(self, event):
        try:
            self._kafka.produce(FEED, key=str(event.post), value=event.encode(),
                                headers={"content-type": "application/json"},
                                on_delivery=lambda error, _: self._told(error, event))
        except BufferError:
            self._failed.append(event)
        except KafkaException:
            self._failed.append(event)
            self._kafka = idempotent_producer(self._brokers)  # an idempotent producer that has lost count is of no use any more

    def _told(self, error, event):
        if error:
            self._failed.append(event)
        else:
            self.done += 1

    def _send_again(self):
        failed, self._failed = self._failed, []
        for event in failed:
            self.sent_again += 1
            self._send(event)
