"""The social graph: an edge list, plain or gzipped, one `from to` per line; "from follows to"."""

import gzip
from typing import NamedTuple


class Graph(NamedTuple):
    users: list  # ids, ascending
    followers: dict  # author -> set of those who follow them; only authors with followers
    edges: int


class BadGraph(Exception):
    pass


def read_graph(path, id_offset=0):
    """`id_offset` is added to every id of the file: 0 is no id of Fanline's."""
    followers, users, edges = {}, set(), 0
    with _open(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith("#") or not line.strip():
                continue
            src, dst = _edge(line, path, number, id_offset)
            users.update((src, dst))
            if src == dst:
                continue  # nobody follows themselves
            readers = followers.setdefault(dst, set())
            edges += src not in readers
            readers.add(src)
    if not edges:
        raise BadGraph(f"{path}: holds no edge")
    return Graph(sorted(users), followers, edges)


def _edge(line, path, number, id_offset):
    try:
        src, dst = (int(word) + id_offset for word in line.split())
    except ValueError:
        raise BadGraph(f"{path}:{number}: not `from to` in whole numbers") from None
    if min(src, dst) < 1:
        raise BadGraph(f"{path}:{number}: id {min(src, dst)} is not above 0; raise --id-offset")
    return src, dst


def _open(path):
    try:
        with open(path, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        return gzip.open(path, "rt") if zipped else open(path)
    except OSError as error:
        raise BadGraph(f"{path}: {error.strerror}") from None
