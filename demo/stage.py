"""What the chapters of the demo stand on: services, fleet, ledger, producer, and ways to wait."""

import time
from concurrent.futures import ThreadPoolExecutor

from demo.changes import Change
from demo.clients import HttpClient
from demo.ledger import Ledger
from demo.producer import Producer
from demo.workload import Workload, count_distinct, plan_for
from stack.programs.api import Api
from stack.programs.cpu import cpu_of
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, Fleet
from stack.programs.relations import Relations
from stack.programs.visits import make_live
from stack.waiting import NotInTime, wait_until

LIMIT = 180  # seconds anything may take
CLIENTS = 4  # who unfollow
# Two pushers of two cores: more ranges would only cut the work smaller.
RANGES = 8
FEED_PARTITIONS = 4  # two for each dispatcher
SETTINGS = ",".join([
    # The group misses a killed member this soon; in production it takes ten seconds.
    "session.timeout.ms=3000", "heartbeat.interval.ms=500",
])


class Stage:
    def __init__(self, stack, ports, graph, seed):
        self.stack, self.graph = stack, graph
        self.plan = plan_for(len(graph.users))
        self.workload = Workload(seed, graph.followers)
        self.everybodys, self.tenths = graph.users[-1] + 1, graph.users[-1] + 2
        self.ledger = Ledger(self._all_followers())
        self.edges = sum(map(len, self.ledger.followers.values()))
        self.feedctl = Feedctl(stack)
        common = ["--kafka-properties", SETTINGS]
        self.fleet = Fleet(stack, ports, dispatchers=2, pushers=2, ranges=RANGES,
                           dispatcher_args=["--sample-rate", "1", *common], pusher_args=common,
                           mirrors=2, mirror_args=common)
        self._api = Api(stack, ports, "api-for-users")
        self._coming = ThreadPoolExecutor(1)
        self._producer = Producer(stack.env["FANLINE_KAFKA_BROKERS"], FEED)
        self._hints_done = 0
        self.events = 0  # distinct ones, so far
        self.parts = {}  # for the report, by chapter

    def write_edges(self):
        """A file of all edges, for feedctl import."""
        path = self.stack.logs / "edges.txt"
        with path.open("w") as file:
            for author, readers in self.ledger.followers.items():
                file.writelines(f"{reader} {author}\n" for reader in readers)
        return path

    def following(self, readers):
        """Reader -> authors, of some readers."""
        following = {reader: [] for reader in readers}
        for author, followers in self.ledger.followers.items():
            for reader in followers & following.keys():
                following[reader].append(author)
        return following

    def send(self, events):
        """At full speed; returns when the broker has acknowledged all."""
        for event in events:
            self.ledger.apply(event)
        self._producer.send(events)

    def send_paced(self, events, per_second, step):
        for event in events:
            self.ledger.apply(event)
        self._producer.send_paced(events, per_second,
                                  lambda sent: step.at(sent / len(events)))

    def wait_idle(self, step, events):
        """Waits until all is done and acknowledged, and shows how much of so many new events is.
        Returns the moment the work ended."""
        start = self._hints_done

        def show(counters):
            self._hints_done = counters.total("fanline_hints_done_total")
            step.at((self._hints_done - start) / (events * RANGES))

        return self.fleet.wait_idle(LIMIT, show)

    def wait_dispatched(self, before, events):
        """Waits until so many events since `before` are rows and hints."""
        deadline = time.monotonic() + LIMIT
        while (self.fleet.counters() - before).total("fanline_events_done_total") < events:
            self.fleet.check_alive()
            if time.monotonic() > deadline:
                raise NotInTime(f"waited {LIMIT} s for {events:,.0f} events to be dispatched")
            time.sleep(0.02)

    def start_rebuild(self, readers, clients):
        """The readers come for their timelines; a future that is done when all of these are live."""
        if not self._api.running:
            self._api.start()
        return self._coming.submit(make_live, self._api, readers, clients, LIMIT)

    def wait_rebuilt(self, rebuild, step, readers):
        with self.stack.redis.client() as redis:
            while not rebuild.done():
                step.at(redis.command("DBSIZE") / len(readers))
                time.sleep(0.2)
        rebuild.result()

    def unfollow(self, edges):
        """Edges of (reader, author), gone for good in the ledger too."""
        changes = [Change(reader, author, False) for reader, author in edges]
        clients = [HttpClient(self._api, changes[first::CLIENTS], seconds=0) for first in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.finish()
        wait_until(lambda: Relations(self.stack.mysql).pending() == 0, LIMIT, "the mirrors")
        for reader, author in edges:
            self.ledger.unfollow(reader, author)

    def cpu(self):
        return cpu_of(self.stack, self.fleet)

    def note_part(self, name, sendings, seconds, cpu_before=None):
        """Keeps for the report what a chapter was."""
        distinct = count_distinct(sendings)
        self.events += distinct
        self.parts[name] = {"events": distinct, "delivered_twice": len(sendings) - distinct,
                            "seconds": round(seconds, 2)}
        if cpu_before:
            self.parts[name]["cpu_seconds"] = {
                role: round(now - cpu_before[role], 2) for role, now in self.cpu().items()}

    def cpu_per_event_ms(self, name):
        """Of all daemons and services, in the part of that name."""
        part = self.parts[name]
        spent = sum(seconds for role, seconds in part["cpu_seconds"].items() if role != "demo")
        return round(spent / part["events"] * 1000, 2)

    def close(self):
        self._coming.shutdown(wait=False)
        self.fleet.close()

    def _all_followers(self):
        followers = {author: set(readers) for author, readers in self.graph.followers.items()}
        followers[self.everybodys] = set(self.graph.users)
        followers[self.tenths] = set(self.graph.users[::10])
        return followers
