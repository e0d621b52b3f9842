#!/usr/bin/python3
"""How long a follow that was acknowledged takes to its reverse row and to its hint, and how fast
changes that wait are worked off.

    bench/edge_rows.py .                                   # this checkout: rows as JSON
    bench/edge_rows.py . --beside build/against/879776478c # and another's, in turn
    bench/edge_rows.py . --backlog 1000000                 # so many that wait, and follows made meanwhile

Run as a script it takes everything else from the checkout that is named, so that each revision
measures itself with its own harness, services and programs. It uses nothing that came later than
879776478c. These rows have a stack of their own: no dispatcher, no pusher, one mirror or two.
"""

import argparse
import itertools
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path[0] = str(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())

from confluent_kafka import Consumer, TopicPartition  # noqa: E402

from bench.measure import row  # noqa: E402
from bench.processes import CpuMeter  # noqa: E402
from stack.local_stack import LocalStack  # noqa: E402
from stack.ports import Ports  # noqa: E402
from stack.programs import BIN  # noqa: E402
from stack.programs.api import Api  # noqa: E402
from stack.programs.daemon import Daemon  # noqa: E402
from stack.programs.feedctl import Feedctl  # noqa: E402
from stack.programs.fleet import TASKS  # noqa: E402
from stack.waiting import wait_until  # noqa: E402

_PATIENCE = 600
_TICK = 0.01  # seconds: processor time is told in these
_CONNECTIONS = 16
_READERS, _FIRST_READER, _FIRST_AUTHOR, _OF_EACH = 4_999, 1_000_000_000, 30_000_000_000, 20
# Of mirrors that stand still while changes are made, and stay in their group.
_HELD = ["--kafka-properties", "session.timeout.ms=600000,max.poll.interval.ms=600000"]


class EdgeSizes(NamedTuple):
    alone: int  # follows of a round, ten a second
    load: int  # at `rate`
    tenth: int  # at a tenth of it
    rate: int
    waiting: int  # changes to be worked off


FULL_EDGES = EdgeSizes(alone=100, load=6_000, tenth=600, rate=600, waiting=60_000)
QUICK_EDGES = EdgeSizes(alone=5, load=60, tenth=10, rate=200, waiting=400)


def edge_latency(rounds, sizes, say):
    """Milliseconds from an acknowledged follow over HTTP to its reverse row and to its hint, beside
    those that the follow itself took; changes worked off per second, beside how fast they were made."""
    ports = Ports()
    with LocalStack(ports=ports, say=say) as stack, Scene(stack, ports) as scene:
        found = [scene.round(sizes, say) for _ in range(rounds + 1)][1:]  # the first one warms up
    for name in found[0]:
        mine, beside = zip(*(each[name] for each in found))
        yield row(name, mine, *_UNITS[name.split("_")[1]], beside)


_UNITS = {"row": ("ms to the reverse row", "the follow itself"),
          "hint": ("ms to the hint", "the follow itself"),
          "cpu": ("CPU us/change", "at a tenth of the rate"),
          "drain": ("changes/s", "changes/s by the store, 8 threads")}


class Scene:
    def __init__(self, stack, ports):
        self._stack = stack
        feedctl = Feedctl(stack)
        feedctl.run("init", "--ranges", 16)
        feedctl.run("topics", "create")
        self._api = Api(stack, ports)
        self._mirrors = [Daemon(stack, ports, "fanline-mirror", f"mirror-{n}", _HELD) for n in (1, 2)]
        self._numbers, self._made = itertools.count(), 0

    def __enter__(self):
        self._api.start()
        self._mirrors[0].start()
        self._api.wait_ready()
        self._mirrors[0].wait_ready()
        self._hints = Hints(self._stack.kafka.address)
        self._hints.start()
        return self

    def __exit__(self, *error):
        self._hints.leave()

    def round(self, sizes, say):
        """Name -> (value, beside)."""
        found, cpu = {}, {}
        for name, follows, rate in (("alone", sizes.alone, 10), ("tenth", sizes.tenth, sizes.rate / 10),
                                    ("load", sizes.load, sizes.rate)):
            took, rows, hints, cpu[name] = self.follow(follows, rate)
            say(f"{name}: {rate:g} follows/s, {cpu[name]:.0f} us each; ms to the row {_text(rows)}, "
                f"to the hint {_text(hints)}")
            if name == "tenth":
                continue
            for share, suffix in ((0.5, ""), (0.99, "_p99")):
                found[f"edge_row_{name}{suffix}"] = quantile(rows, share), quantile(took, share)
                found[f"edge_hint_{name}{suffix}"] = quantile(hints, share), quantile(took, share)
        found["edge_cpu_load"] = cpu["load"], cpu["tenth"]
        for mirrors in (1, 2):
            found[f"edge_drain_{mirrors}"] = self._drain(mirrors, sizes.waiting)
            say(f"{mirrors} of two mirrors: {found[f'edge_drain_{mirrors}'][0]:,.0f} changes/s")
        return found

    # ---- latency --------------------------------------------------------------------------------

    def follow(self, count, rate):
        """Milliseconds: of each follow itself, from its answer to its row, from there to its hint; and
        CPU microseconds of a change."""
        edges = self._edges(count)
        meter = CpuMeter({"mirror": [self._mirrors[0].process.pid], "kafka": [self._stack.kafka.pid],
                          "mariadb": [shard.pid for shard in self._stack.mysql]})
        asked, answered = follow(self._api.serving, edges, rate)
        wait_until(lambda: self._hints.has(edges), _PATIENCE, "the hints")
        self._wait_done()
        spent = max(_TICK, sum(meter.spent().values()))
        hinted, written = self._hints.at, self._rows(edges)
        return ([1e3 * (answered[edge] - asked[edge]) for edge in edges],
                [1e3 * max(0, written[edge] - answered[edge]) for edge in edges],
                [1e3 * max(0, hinted[edge] - answered[edge]) for edge in edges],
                1e6 * spent / count)

    def _edges(self, count):
        numbers = itertools.islice(self._numbers, count)
        return [(_FIRST_READER + number % _READERS, _FIRST_AUTHOR + number // _OF_EACH) for number in numbers]

    def _rows(self, edges):
        """When the server wrote each reverse row: Unix seconds, to a millisecond."""
        first, last = min(dst for _, dst in edges), max(dst for _, dst in edges)
        found = {}
        for shard in self._stack.mysql:
            with shard.client() as client:
                client.query("SET time_zone = '+00:00'")
                for src, dst, at in client.query("SELECT src, dst, UNIX_TIMESTAMP(ut) FROM follower "
                                                 f"WHERE dst BETWEEN {first} AND {last}"):
                    found[int(src), int(dst)] = float(at)
        return found

    # ---- throughput -----------------------------------------------------------------------------

    def _drain(self, mirrors, changes, meanwhile=lambda: None, stopped=False):
        """(Changes worked off per second, made per second). They wait while the mirrors hang, or are `stopped`."""
        first, second = self._mirrors
        if mirrors == 2:
            second.start().wait_ready()
            time.sleep(5)  # until both have their share
        running = self._mirrors[:mirrors]
        for mirror in running:
            mirror.stop() if stopped else mirror.pause()
        made = self._make(changes)
        begin = time.monotonic()
        for mirror in running:
            mirror.start() if stopped else mirror.resume()
        meanwhile()
        self._wait_done()
        seconds = time.monotonic() - begin
        if mirrors == 2:
            second.stop()
            time.sleep(5)  # until the other has taken over
        return changes / seconds, made

    def told(self):
        """Of how many shards the mirror hears of changes from the binary log."""
        return self._mirrors[0].scrape().total("fanline_rel_binlog_connected")

    def made_meanwhile(self, changes):
        """Changes made per second while a mirror works them off."""
        made = self._make(changes)
        self._wait_done()
        return made

    def _make(self, changes):
        run = subprocess.run([BIN / "fanline-bench-follow", "async", "--first", str(self._made), "--changes",
                              str(changes)], env={**os.environ, **self._stack.env}, capture_output=True,
                             text=True, check=True, timeout=_PATIENCE)
        self._made += changes
        return changes / json.loads(run.stdout)["seconds"]

    def backlog(self, waiting, sizes):
        """Two rows: so many changes that wait beside a bench's; follows made while they wait beside such alone."""
        few, _ = self._drain(1, sizes.waiting)
        _, _, calm, _ = self.follow(sizes.alone, 10)
        beside, pending = [], []

        def meanwhile():
            edges = self._edges(sizes.alone)
            _, answered = follow(self._api.serving, edges, 10)
            wait_until(lambda: self._hints.has(edges), _PATIENCE, "the hints")
            pending.append(self._pending())
            beside.extend(1e3 * max(0, self._hints.at[edge] - answered[edge]) for edge in edges)

        # Kafka gives the shards of a mirror that hangs so long to another, which begins as one that was stopped.
        many, _ = self._drain(1, waiting, meanwhile, stopped=True)
        yield row("backlog_drain_rate", [many], f"changes/s of {waiting:,}", f"of {sizes.waiting:,}", [few])
        yield row("backlog_hint_p99", [quantile(beside, 0.99)], f"ms, {pending[0]:,} still pending at the end",
                  "alone", [quantile(calm, 0.99)])

    def _pending(self):
        return sum(int(shard.query("SELECT COUNT(*) FROM log1 WHERE done = 0")[0][0]) for shard in self._stack.mysql)

    def _wait_done(self):
        give_up = time.monotonic() + _PATIENCE
        while any(shard.query("SELECT 1 FROM log1 WHERE done = 0 LIMIT 1") for shard in self._stack.mysql):
            if time.monotonic() > give_up:
                raise TimeoutError(f"log1 has pending rows after {_PATIENCE} s")
            time.sleep(0.02)


def follow(port, edges, rate):
    """Makes the follows at a steady rate, over connections that are kept open. Returns when each was
    asked for and answered."""
    ready, idle, under_way, parts = selectors.DefaultSelector(), [], {}, {}
    asked, answered, todo = {}, {}, deque(enumerate(edges))

    def connect():
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.register(connection, selectors.EVENT_READ)
        return connection

    def ask(connection, edge):
        under_way[connection], parts[connection] = edge, b""
        asked.setdefault(edge, time.time())
        connection.sendall(f"PUT /v1/users/{edge[0]}/following/{edge[1]} HTTP/1.1\r\nHost: bench\r\n"
                           "Content-Length: 0\r\n\r\n".encode())

    def read(connection):
        came = connection.recv(1 << 16)
        if not came:  # a server may bound the requests of a connection
            ready.unregister(connection)
            connection.close()
            if connection in idle:
                idle.remove(connection)
                return idle.append(connect())
            return ask(connect(), under_way.pop(connection))
        parts[connection] += came
        if not _is_whole(parts[connection]):
            return None
        if not parts[connection].startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"a follow was answered {parts[connection][:200]}")
        answered[under_way.pop(connection)] = time.time()
        return idle.append(connection)

    idle += [connect() for _ in range(_CONNECTIONS)]
    begin = time.time()
    while len(answered) < len(edges):
        while todo and idle and begin + todo[0][0] / rate <= time.time():
            ask(idle.pop(), todo.popleft()[1])
        early = begin + todo[0][0] / rate - time.time() if todo and idle else 1
        for key, _ in ready.select(max(0, early)):
            read(key.fileobj)
    for connection in idle:
        connection.close()
    return asked, answered


def _is_whole(answer):
    head, found, body = answer.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(found) and len(body) >= int(lengths[0].partition(b":")[2])


class Hints(threading.Thread):
    """Notes when the first hint about each edge is in the hands of a consumer."""

    def __init__(self, brokers):
        super().__init__(daemon=True)
        self.at = {}
        self._wanted = True
        self._consumer = Consumer({"bootstrap.servers": brokers, "group.id": "bench-hints",
                                   "enable.auto.commit": False})
        partitions = self._consumer.list_topics(TASKS, 10).topics[TASKS].partitions
        self._consumer.assign([TopicPartition(TASKS, number, self._consumer.get_watermark_offsets(
            TopicPartition(TASKS, number), 10)[1]) for number in partitions])

    def run(self):
        while self._wanted:
            record = self._consumer.poll(0.1)
            if record is not None and not record.error():
                self.at.setdefault(_edge_of(record.value()), time.time())
        self._consumer.close()

    def has(self, edges):
        return all(edge in self.at for edge in edges)

    def leave(self):
        self._wanted = False
        self.join()


def _edge_of(hint):
    """(Reader, author) of a sync hint (schemas/proto/hint.proto); None: it is another."""
    if hint[2] != 3 << 3 | 2:
        return None
    numbers, place = [], 4
    while place < len(hint):
        number, shift, place = 0, 0, place + 1  # past the tag
        while True:
            number |= (hint[place] & 127) << shift
            shift, place = shift + 7, place + 1
            if hint[place - 1] < 128:
                break
        numbers.append(number)
    return tuple(numbers)


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _text(values):
    return f"{quantile(values, 0.5):.1f} (p99 {quantile(values, 0.99):.1f})"


# ---- as a script --------------------------------------------------------------------------------

def _of_one(options):
    def say(line):
        print(line, file=sys.stderr, flush=True)

    sizes = QUICK_EDGES if options.quick else FULL_EDGES
    if not options.backlog:
        return list(edge_latency(options.rounds, sizes, say))
    ports = Ports()
    with LocalStack(ports=ports, say=say) as stack, Scene(stack, ports) as scene:
        return list(scene.backlog(options.backlog, sizes))


def _of_both(options):
    """The rows of the first checkout, each beside the other checkout's of the same round."""
    found = {}
    for number in range(options.rounds):
        roots = [options.root, options.beside][::-1 if number % 2 else 1]
        told = {}
        for root in roots:
            command = [sys.executable, Path(__file__).resolve(), root, "--rounds", "1", *["--quick"] * options.quick]
            told[root] = json.loads(subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True, env={
                name: value for name, value in os.environ.items() if name != "FANLINE_BIN"}).stdout)
        for mine, other in zip(told[options.root], told[options.beside]):
            found.setdefault(mine["name"], ([], []))
            found[mine["name"]][0].append(mine["value"])
            found[mine["name"]][1].append(other["value"])
    return [{"name": name, "value": statistics.median(mine), "other": statistics.median(others),
             "ratios": [one / other for one, other in zip(mine, others) if other]}
            for name, (mine, others) in found.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="a checkout whose programs are built")
    parser.add_argument("--beside", type=Path, help="another")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--backlog", type=int, metavar="CHANGES", help="only how so many that wait are worked off")
    parser.add_argument("--quick", action="store_true", help="tiny: measures nothing")
    options = parser.parse_args()
    options.root = options.root.resolve()
    if options.beside:
        options.beside = options.beside.resolve()
    print(json.dumps((_of_both if options.beside else _of_one)(options), indent=1))


if __name__ == "__main__":
    main()
