"""Applications that change relations while everything fails, each with edges of its own, and the
model of the outcome: an acknowledged change holds, any other may hold or not."""

import http.client
import itertools
import json
import random
import time

from confluent_kafka import Producer

from demo.clients import Client
from stack.programs.fleet import RELATION_EVENTS
from stack.wire.mysql import MysqlError

NO_ANSWER = OSError, http.client.HTTPException


def own_pairs(draw, ledger, users, clients, of_each):
    """A list of pairs (smaller id first) for each client, and all the others where nobody follows
    the other. No pair is in two of them."""
    linked, free = [], []
    for one, other in itertools.combinations(users, 2):
        follows = one in ledger.followers[other] or other in ledger.followers[one]
        (linked if follows else free).append((one, other))
    draw.shuffle(linked)
    draw.shuffle(free)
    lists = [[(linked if number % 2 else free).pop() for number in range(of_each)]
             for _ in range(clients)]
    return lists, free


def both_ways(pairs):
    return [edge for one, other in pairs for edge in ((one, other), (other, one))]


class Changing(Client):
    """One that goes on until it is told to leave. `may` says of each edge that it changed
    whether it may be there at the end: {True}, {False}, or both when the outcome was not told."""

    def __init__(self, seed, pause):
        super().__init__(())
        self.draw = random.Random(seed)
        self.may = {}
        self.acknowledged = self.unknown = 0
        self._pause = pause

    def work(self):
        while self._wanted:
            self.change()
            time.sleep(self._pause)
        self.leave_off()

    def leave_off(self):
        pass

    def told(self, key, is_so):
        self.acknowledged += 1
        self.may[key] = {is_so}

    def not_told(self, key, before, maybe):
        self.unknown += 1
        self.may[key] = self.may.get(key, {before}) | {maybe}


class OverHttp(Changing):
    """`api`: its port stays, its process does not."""

    def __init__(self, api, seed, pause):
        super().__init__(seed, pause)
        self._http = api.client()

    def leave_off(self):
        self._http.close()

    def ask(self, method, path):
        """The answer's JSON; None: the outcome is unknown."""
        try:
            answer = self._http.ask(method, path)
        except NO_ANSWER:
            self._http.close()
            return None
        if answer.status not in (200, 503):
            raise AssertionError(f"{method} {path}: {answer.status} {answer.text}")
        return answer.json if answer.status == 200 else None


class Follows(OverHttp):
    def __init__(self, api, seed, pause, pairs, ledger):
        super().__init__(api, seed, pause)
        self._edges = both_ways(pairs)
        self._before = {edge: edge[0] in ledger.followers[edge[1]] for edge in self._edges}

    def change(self):
        src, dst = edge = self.draw.choice(self._edges)
        live = self.draw.random() < 0.5
        again = self.draw.random() < 0.5
        for _ in range(2 if again else 1):
            answer = self.ask("PUT" if live else "DELETE", f"/v1/users/{src}/following/{dst}")
            if answer:
                return self.told(edge, live)
            self.not_told(edge, self._before[edge], live)


class Friends(OverHttp):
    """Of pairs: whether they may be friends at the end."""

    def __init__(self, api, seed, pause, pairs):
        super().__init__(api, seed, pause)
        self._pairs = pairs

    def change(self):
        pair = self.draw.choice(self._pairs)
        known = self.ask("GET", f"/v1/users/{pair[0]}/friendships/{pair[1]}")
        if not known:
            return
        self.may[pair] = {known["state"] == "friends"}
        action, who = self._next(known, pair)
        whom = sum(pair) - who
        answer = self.ask("POST", f"/v1/users/{who}/friendships/{whom}/{action}")
        if answer:
            self.told(pair, answer["state"] == "friends")
        else:
            self.not_told(pair, False, action == "accept")

    def _next(self, known, pair):
        if known["state"] == "friends":
            return "remove", self.draw.choice(pair)
        if known["state"] != "requested":
            return "request", self.draw.choice(pair)
        asker = int(known["asked_by"])
        action = self.draw.choice(["accept", "accept", "accept", "refuse", "cancel"])
        return action, asker if action == "cancel" else sum(pair) - asker

    def edges(self):
        return {edge: may for pair, may in self.may.items() for edge in both_ways([pair])}


class Events(Changing):
    """Batches of relation events, each up to three times, shuffled. Of an edge, the highest
    version whose append was acknowledged decides, or a higher one that was not."""

    BATCH = 12

    def __init__(self, brokers, seed, pause, pairs, ledger):
        super().__init__(seed, pause)
        self._edges = both_ways(pairs)
        self._before = {edge: edge[0] in ledger.followers[edge[1]] for edge in self._edges}
        self._versions = itertools.count(1)
        self._sent = {edge: {} for edge in self._edges}  # version -> follows
        self._appended = {edge: 0 for edge in self._edges}  # the highest
        self._kafka = Producer({"bootstrap.servers": brokers, "enable.idempotence": True,
                                "delivery.timeout.ms": 60_000, "log_level": 2})

    def change(self):
        batch = []
        for _ in range(self.BATCH):
            edge, version = self.draw.choice(self._edges), next(self._versions)
            self._sent[edge][version] = self.draw.random() < 0.5
            batch += [(edge, version)] * self.draw.randint(1, 3)
        self.draw.shuffle(batch)
        for edge, version in batch:
            self._kafka.produce(RELATION_EVENTS, self._event(edge, version),
                                on_delivery=self._noting(edge, version))
        self._kafka.poll(0)

    def leave_off(self):
        self._kafka.flush(60)
        for edge, sent in self._sent.items():
            if sent:
                appended = self._appended[edge]
                self.may[edge] = {sent.get(appended, self._before[edge]), *(
                    follows for version, follows in sent.items() if version > appended)}

    def _event(self, edge, version):
        kind = "relation.follow" if self._sent[edge][version] else "relation.unfollow"
        return json.dumps({"schema_version": 1, "type": kind, "src": str(edge[0]),
                           "dst": str(edge[1]), "version": version})

    def _noting(self, edge, version):
        def note(error, _):
            if error:
                self.unknown += 1
            else:
                self.acknowledged += 1
                self._appended[edge] = max(self._appended[edge], version)
        return note


class Watcher(Client):
    """Reads while all the others work: no reverse row goes back to a lower version, no counter is
    ever below zero."""

    def __init__(self, shards):
        super().__init__(())
        self._shards = shards
        self._versions = {}
        self.looks = 0
        self.wrong = []

    def work(self):
        while self._wanted:
            for shard in self._shards:
                try:
                    self._look(shard)
                    self.looks += 1
                except (OSError, MysqlError):
                    pass  # it is away
            time.sleep(0.05)

    def _look(self, shard):
        with shard.client() as client:
            for src, dst, ver in client.query("SELECT src, dst, ver FROM follower"):
                before = self._versions.get((src, dst), 0)
                if int(ver) < before:
                    self.wrong.append(f"{src} -> {dst} went from {before} to {ver}")
                self._versions[src, dst] = int(ver)
            for table, counter in (("user_rel", "following_cnt"), ("user_fan", "fans_cnt")):
                for user, count in client.query(
                        f"SELECT user_id, {counter} FROM {table} WHERE {counter} < 0"):
                    self.wrong.append(f"{counter} of {user} was {count}")
