"""The row of `feedctl import`: a real graph into two empty shards, beside LOAD DATA of the very same
rows, made ready in files and presorted, into tables of the same shape on the same servers."""

import gzip
import itertools
import os
import subprocess
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

from bench.measure import interleaved, row
from demo.graph import read_graph
from stack.local_stack import LocalStack
from stack.programs.feedctl import Feedctl
from stack.workspace import ROOT

EPINIONS = ROOT / "data" / "epinions" / "soc-Epinions1.txt.gz"
_BUCKETS = 1024
_TABLES = {"following": "src, dst, ver, state, pos", "follower": "dst, bucket, src, ver, state, pos"}
_COUNTERS = ("user_rel", "user_fan")


def import_rows(rounds, edges, say):
    """Rows per second, both directions counted. `edges`: how many of the graph's first ones."""
    with LocalStack(say=say) as stack:
        graph_file = _first_lines(edges, stack.logs / "graph.txt")
        graph = read_graph(graph_file, 1)
        feedctl = Feedctl(stack)
        feedctl.run("init")
        _write_files(stack, graph)
        for table in _TABLES:
            _on_every_shard(stack, f"CREATE TABLE bare_{table} LIKE {table}")
        pairs = interleaved(rounds, lambda _: _imported(stack, feedctl, graph_file),
                            lambda _: _loaded(stack))
    rows = 2 * graph.edges
    yield row("import_rows", [rows / mine for mine, _ in pairs], "rows/s",
              "LOAD DATA of the same rows from files", [rows / bare for _, bare in pairs],
              rows_per_round=rows)


def _first_lines(edges, path):
    with gzip.open(EPINIONS, "rt") as graph, open(path, "w", encoding="ascii") as out:
        out.writelines(itertools.islice((line for line in graph if line[0] != "#"), edges))
    return path


def _imported(stack, feedctl, graph_file):
    for table in (*_TABLES, *_COUNTERS):
        _on_every_shard(stack, f"TRUNCATE TABLE {table}")
    begin = time.perf_counter()
    feedctl.run("import", graph_file, "--id-offset", 1, timeout=120)
    return time.perf_counter() - begin


def _loaded(stack):
    for table in _TABLES:
        _on_every_shard(stack, f"TRUNCATE TABLE bare_{table}")
    begin = time.perf_counter()
    with ThreadPoolExecutor() as pool:  # the shards side by side, as the import does it
        for load in [pool.submit(_load, stack, shard) for shard in range(len(stack.mysql))]:
            load.result()
    return time.perf_counter() - begin


def _load(stack, shard):
    statements = [f"LOAD DATA LOCAL INFILE '{_file(stack, shard, table)}' INTO TABLE bare_{table} "
                  f"({columns})" for table, columns in _TABLES.items()]
    subprocess.run(
        ["/usr/bin/mariadb", "--no-defaults", "--local-infile=1", "-h", "127.0.0.1", "-P",
         str(stack.mysql[shard].port), "-u", stack.env["FANLINE_MYSQL_USER"], "fanline",
         "-e", ";".join(statements)],
        env={**os.environ, "MYSQL_PWD": stack.env["FANLINE_MYSQL_PASSWORD"]}, check=True,
        timeout=120)


def _write_files(stack, graph):
    shards = len(stack.mysql)
    bucket = {user: zlib.crc32(str(user).encode()) % _BUCKETS for user in graph.users}
    shard = {user: bucket[user] * shards // _BUCKETS for user in graph.users}
    now_ms = int(time.time() * 1000)
    rest = f"{now_ms * 1000}\t1\t{now_ms}\n"
    lines = {(at, table): [] for at in range(shards) for table in _TABLES}
    for dst, readers in graph.followers.items():
        for src in readers:
            lines[shard[src], "following"].append((src, dst))
            lines[shard[dst], "follower"].append((dst, bucket[src], src))
    for (at, table), keys in lines.items():
        with open(_file(stack, at, table), "w", encoding="ascii") as out:
            out.writelines("\t".join(map(str, key)) + "\t" + rest for key in sorted(keys))


def _file(stack, shard, table):
    return stack.logs / f"bare_{table}.{shard}.tsv"


def _on_every_shard(stack, statement):
    for shard in stack.mysql:
        shard.query(statement)
