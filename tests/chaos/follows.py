"""Who changes whom they follow: clients of the API and a producer of relation events, each with
edges of its own, so that what must stand at the end is known exactly.

A change is repeated until it is acknowledged. After an answer that did not come, an edge is never
changed to the opposite any more: what was asked for may be carried out later than all that follows.
"""

import http.client
import itertools
import json
import time
from typing import NamedTuple

from confluent_kafka import KafkaException

from demo.clients import Client
from stack.programs.fleet import RELATION_EVENTS
from tests.chaos.posts import idempotent_producer

BY_HTTP = 0.7  # of the changes
CHANGES_OF_AN_EDGE = 8  # on average
HALF_THERE = 0.5  # of the edges are there before
MOST_COPIES = 3  # of a relation event
_BATCH = 12  # events, shuffled
_CHOICES = (None, None, None, "all", "all", "none", "no_reposts")
_PAUSE_S = 0.1
_PATIENCE_S = 120


class Change(NamedTuple):
    edge: tuple  # reader, author
    delivery: str  # what the follow brings from now on; None: there is no follow


def draw_changes(draw, count, followers, clients):
    """A list of Changes for each client; the last is the producer's."""
    users = sorted(followers)
    there = [(reader, author) for author in users for reader in sorted(followers[author])]
    wanted = max(clients, count // CHANGES_OF_AN_EDGE)
    edges = draw.sample(there, min(len(there), round(wanted * HALF_THERE)))
    taken = set(there)
    while len(edges) < wanted:
        edge = tuple(draw.sample(users, 2))
        if edge not in taken:
            taken.add(edge)
            edges.append(edge)
    draw.shuffle(edges)
    shares = [BY_HTTP / (clients - 1)] * (clients - 1) + [1 - BY_HTTP]
    own = [[] for _ in range(clients)]
    for number, edge in enumerate(edges):
        own[number if number < clients else draw.choices(range(clients), shares)[0]].append(edge)
    changes = [[] for _ in range(clients)]
    for number in draw.choices(range(clients), shares, k=count):
        changes[number].append(Change(draw.choice(own[number]), draw.choice(_CHOICES)))
    return changes


class OverHttp(Client):
    """`expected`: edge -> what it must bring at the end; None: nobody follows."""

    def __init__(self, api, changes, seconds):
        super().__init__(changes)
        self._api, self._seconds = api, seconds
        self.expected = {}
        self._unsure = set()
        self.not_answered = 0

    def work(self):
        client = self._api.client()
        try:
            for change in self.paced(self._seconds):
                if change.edge in self._unsure and self.expected[change.edge] != change.delivery:
                    change = Change(change.edge, self.expected[change.edge])
                self._make(client, change)
                self.done += 1
        finally:
            client.close()

    def _make(self, client, change):
        reader, author = change.edge
        self.expected[change.edge] = change.delivery
        path = f"/v1/users/{reader}/following/{author}"
        requests = [("PUT", None), ("PATCH", {"delivery": change.delivery})] if change.delivery else [
            ("DELETE", None)]
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            while requests and not (why := self._ask(client, path, *requests[0])):
                requests.pop(0)
            if not requests:
                return
            self.not_answered += 1
            self._unsure.add(change.edge)
            if time.monotonic() > give_up or not self._wanted:
                raise TimeoutError(f"{reader} -> {author}: {why}")
            time.sleep(_PAUSE_S)

    @staticmethod
    def _ask(client, path, method, body):
        """Why it is not done; empty: it is."""
        try:
            answer = client.ask(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            client.close()
            return repr(error)
        if answer.status not in (200, 503):
            raise AssertionError(f"{answer.method} {path}: {answer.status} {answer.text}")
        return "" if answer.status == 200 else f"{answer.status} {answer.text}"


class ByEvents(Client):
    """Batches, each event up to three times, shuffled. The highest version of an edge holds."""

    def __init__(self, brokers, changes, seconds, draw):
        super().__init__(changes)
        self._brokers, self._seconds, self._draw = brokers, seconds, draw
        self.expected = {}
        self._open = 0
        self._failed = []
        self._kafka = idempotent_producer(brokers)

    def work(self):
        versions = itertools.count(1)
        batch = []
        for change in self.paced(self._seconds):
            self.expected[change.edge] = change.delivery
            batch += [_encode(change, next(versions))] * self._draw.randint(1, MOST_COPIES)
            self.done += 1
            if len(batch) >= _BATCH:
                self._send(batch)
                batch = []
        self._send(batch)
        give_up = time.monotonic() + _PATIENCE_S
        while self._open or self._failed:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{self._open} relation events were never acknowledged")
            self._send([])
            self._kafka.poll(_PAUSE_S)

    def _send(self, events):
        events, self._failed = events + self._failed, []
        self._draw.shuffle(events)
        for event in events:
            try:
                self._kafka.produce(RELATION_EVENTS, event, headers={
                    "content-type": "application/json"}, on_delivery=self._noting(event))
                self._open += 1
            except BufferError:
                self._failed.append(event)
            except KafkaException:
                self._failed.append(event)
                self._kafka = idempotent_producer(self._brokers)
        self._kafka.poll(0)

    def _noting(self, event):
        def note(error, _):
            self._open -= 1
            if error:
                self._failed.append(event)
        return note


def _encode(change, version):
    reader, author = change.edge
    return json.dumps({
        "schema_version": 1, "type": f"relation.{'follow' if change.delivery else 'unfollow'}",
        "src": str(reader), "dst": str(author), "version": str(version),
        **({"delivery": change.delivery} if change.delivery else {})})
