"""The rows of the reconciler's scans, each beside the bare statements that it needs (bench/scan.cpp). They have
stacks of their own: a million edges of a made-up graph, and nobody else who changes or reads them."""

import json
import os
import random
import re
import statistics
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from bench.backlog_run import HELD, run_events
from bench.measure import interleaved, row
from bench.processes import CpuMeter
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.waiting import wait_until

_PATIENCE, _LOOK_EVERY = 600, 0.005
_OF_EACH = 20  # users whom a user follows
_FIRST = 1_000_000_000  # ids of ten digits
_MANY = 1_000_000_000  # edges, of which the report says how long they take
_FASTEST = 1_000_000  # rows a second: no limit
# Sweeps of counters are no scan of edges.
_ARGS = ("--counter-sweep-rate", 1)


class ScanSizes(NamedTuple):
    edges: int
    logged: int  # of these, edges with a row of log1


FULL_SCANS = ScanSizes(edges=1_000_000, logged=300_000)
QUICK_SCANS = ScanSizes(edges=20_000, logged=20_000)


def full_scan(rounds, sizes, say):
    """Edges a second of which both rows are compared, beside the look-ups by key that this takes, and beside
    pt-table-checksum's statement over following and a copy of it."""
    with _graph(sizes.edges, say) as scene:
        for shard in scene.shards:
            shard.query("CREATE TABLE bare_following LIKE following")
            shard.query("INSERT INTO bare_following SELECT * FROM following")
        pairs = interleaved(rounds, lambda _: scene.full_scan(),
                            lambda _: (scene.helper("lookups"), scene.helper("nibbles")))
        shards = len(scene.shards)
    scans, bare = zip(*pairs)
    lookups, nibbles = zip(*bare)
    mine = [sizes.edges / scan.seconds for scan in scans]
    yield row("full_scan", mine, "edges/s", "the bare look-ups by key, one at a time",
              _speeds(sizes.edges, lookups, "seconds"),
              said="; ".join([at_once(mine, _speeds(sizes.edges, lookups, "at_once")), cpu(scans, sizes.edges),
                              lasting(statistics.median(mine), shards, default_rate())]))
    yield row("full_scan_nibbles", mine, "edges/s", "pt-table-checksum's statement, one at a time",
              _speeds(sizes.edges, nibbles, "seconds"),
              said=at_once(mine, _speeds(sizes.edges, nibbles, "at_once")) + f"; `{nibbles[0]['statement']}`")


def log_scan(rounds, sizes, say):
    """Rows of log1 a second that the log scan compares, beside the statements that this takes."""
    with _graph(sizes.logged, say) as scene:
        for shard in scene.shards:  # in no order of the tables, as changes come
            shard.query("INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery, done) SELECT 1, src, dst, ver, "
                        "state, pos, delivery, 1 FROM following ORDER BY CRC32(CONCAT(dst, src))")
        pairs = interleaved(rounds, lambda _: scene.log_scan(), lambda _: scene.helper("logged"))
    scans, bare = zip(*pairs)
    mine = [scan.rows / scan.seconds for scan in scans]
    yield row("log_scan", mine, "rows of log1/s", "the bare statements, one at a time",
              _speeds(sizes.logged, bare, "seconds"),
              said=at_once(mine, _speeds(sizes.logged, bare, "at_once")) + "; " + cpu(scans, scans[0].rows))


def full_scan_cost(rig, sizes):
    """Deliveries a second beside a full scan at its default pace, and without it."""
    rig.scene("compact")
    authors, posts = rig.population.authors["live100"], sizes.many_posts
    due = rig.deliveries_due(authors, posts)
    compared = []
    with rig.daemon("fanline-reconciler", *_ARGS, *HELD) as reconciler:
        wait_until(lambda: _compared(reconciler) > 0, _PATIENCE, "the scan to begin")

        def beside_the_scan(_):
            reconciler.resume()
            before, begin = _compared(reconciler), time.monotonic()
            run = run_events(rig, authors, posts)
            compared.append((_compared(reconciler) - before) / (time.monotonic() - begin))
            reconciler.pause()
            return due / run.seconds

        reconciler.pause()
        pairs = interleaved(max(1, sizes.rounds // 2), beside_the_scan,
                            lambda _: due / run_events(rig, authors, posts).seconds)
        reconciler.resume()
    mine, without = zip(*pairs)
    yield row("full_scan_cost", mine, "deliveries/s beside a full scan", "without it", without,
              said=f"{statistics.median(compared):,.0f} rows/s compared meanwhile")


# ---- what is said of them -------------------------------------------------------------------------

def at_once(mine, beside):
    """Of two lists of speeds, the second one's by a connection to each server at the same time."""
    share = statistics.median(one / other for one, other in zip(mine, beside))
    return f"beside a connection to each server at once, {statistics.median(beside):,.0f}/s: {share:.2f}"


def cpu(scans, things):
    """Processor time by process, of each of so many things that a scan has compared."""
    spent = {name: statistics.median(scan.cpu[name] for scan in scans) * 1e6 / things for name in scans[0].cpu}
    return "CPU us of each: " + ", ".join(f"{name} {used:.2g}" for name, used in spent.items())


def lasting(speed, shards, rate):
    """How long a scan of very many edges takes: at that speed, and at `rate` rows a second of each table."""
    return (f"10^9 edges on {shards} shards take {_MANY / speed / 3600:,.1f} h at that speed, "
            f"{_MANY / shards / rate / 3600:,.0f} h at the default pace of {rate:,} rows/s of each table and shard")


def default_rate():
    """Rows a second, of the program's own."""
    told = subprocess.run([BIN / "fanline-reconciler", "--help"], capture_output=True, text=True, check=True).stdout
    return default_of(told, "FANLINE_FULL_SCAN_RATE")


def default_of(told, variable):
    return int(re.search(rf"{variable}, .*default (\d+)", told)[1])


def _speeds(things, runs, seconds):
    return [things / run[seconds] for run in runs]


# ---- measuring --------------------------------------------------------------------------------------

class Scan(NamedTuple):
    rows: int
    seconds: float
    cpu: dict  # seconds by process


@contextmanager
def _graph(edges, say):
    ports = Ports()
    with LocalStack(ports=ports, mysql_buffer_pool="768M", say=say) as stack:
        feedctl = Feedctl(stack)
        feedctl.run("init")
        feedctl.run("topics", "create")
        graph = stack.logs / "graph.txt"
        with open(graph, "w", encoding="ascii") as lines:
            lines.writelines(f"{src} {dst}\n" for src, dst in made_up(edges))
        feedctl.run("import", graph, timeout=_PATIENCE)
        graph.unlink()
        yield _Scene(stack, ports)


def made_up(edges, seed=1):
    """(src, dst): as many users as may be followed, all of whom follow as many others."""
    draw, users = random.Random(seed), max(_OF_EACH + 1, edges // _OF_EACH)
    for number in range(edges // _OF_EACH):
        for other in draw.sample(range(users - 1), _OF_EACH):
            yield _FIRST + number, _FIRST + other + (other >= number)


class _Scene:
    def __init__(self, stack, ports):
        self._stack, self._ports = stack, ports
        self.shards = stack.mysql

    def helper(self, command):
        run = subprocess.run([BIN / "fanline-bench-scan", command], env={**os.environ, **self._stack.env},
                             capture_output=True, text=True, timeout=_PATIENCE)
        if run.returncode != 0:
            raise RuntimeError(f"{command} ended with {run.returncode}: {run.stderr.strip()}")
        return json.loads(run.stdout)

    def full_scan(self):
        """From when the first table began until the last one has been passed."""
        self._forget("full_scan")
        with self._reconciler("--full-scan-rate", _FASTEST) as scan:
            scan.wait("SELECT 1 FROM full_scan", 1)
            meter = scan.meter()
            scan.wait("SELECT 1 FROM full_scan WHERE passed > 0 OR stopped <> ''", 2 * len(self.shards))
            end = time.time()
            stopped = scan.ask("SELECT stopped FROM full_scan WHERE stopped <> ''")
            if stopped:
                raise RuntimeError(f"the scan has stopped: {stopped[0][0]}")
            tables = scan.ask("SELECT compared, began FROM full_scan")
            began = min(int(at) for _, at in tables) / 1e3  # by the servers' clock, which is ours
            return Scan(sum(int(rows) for rows, _ in tables), end - began, meter.spent())

    def log_scan(self):
        """From the first page on, whose begin nobody sees."""
        self._forget("log_scan")
        with self._reconciler("--full-scan-rate", 0, "--log-scan-rate", _FASTEST, "--log-scan-after", "1s") as scan:
            scan.wait("SELECT 1 FROM log_scan", len(self.shards))
            meter, begin = scan.meter(), time.monotonic()
            left = scan.ask("SELECT COUNT(*) FROM log1 WHERE id > (SELECT after_id FROM log_scan)")
            scan.wait("SELECT 1 FROM log_scan WHERE after_id >= (SELECT MAX(id) FROM log1)", len(self.shards))
            return Scan(sum(int(rows) for rows, in left), time.monotonic() - begin, meter.spent())

    def _forget(self, table):
        for shard in self.shards:
            shard.query(f"DELETE FROM {table}")

    @contextmanager
    def _reconciler(self, *args):
        with ExitStack() as ends:
            daemon = Daemon(self._stack, self._ports, "fanline-reconciler", "reconciler", [*_ARGS, *args]).start()
            ends.callback(daemon.stop)
            yield _Watched(self._stack, daemon, [ends.enter_context(shard.client()) for shard in self.shards])


class _Watched:
    def __init__(self, stack, daemon, clients):
        self._stack, self._daemon, self._clients = stack, daemon, clients

    def ask(self, sql):
        """Of all shards."""
        return [row for client in self._clients for row in client.query(sql)]

    def wait(self, sql, wanted):
        """Until all shards together answer so many rows."""
        give_up = time.monotonic() + _PATIENCE
        while len(self.ask(sql)) < wanted:
            self._daemon.check_alive()
            if time.monotonic() > give_up:
                raise TimeoutError(f"after {_PATIENCE} s it is not so: {sql}")
            time.sleep(_LOOK_EVERY)

    def meter(self):
        return CpuMeter({"mariadb": [shard.pid for shard in self._stack.mysql],
                         "reconciler": [self._daemon.process.pid]})


def _compared(reconciler):
    return reconciler.scrape().total("fanline_relation_full_scan_rows_total")
