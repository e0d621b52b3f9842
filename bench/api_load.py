#!/usr/bin/python3
"""Requests per second and the slowest of them, over raw connections that are kept open.

    bench/api_load.py 127.0.0.1:8080
    bench/api_load.py 127.0.0.1:8080 --beside 127.0.0.1:8081   # another revision's, in turn

Each connection sends a request as soon as its answer is whole. One thread: what it cannot send, both
sides lack. Leave the machine alone meanwhile.
"""

import argparse
import json
import selectors
import socket
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.measure import interleaved, row  # noqa: E402


def load(place, path, connections, seconds):
    """Loads one side for a round; returns its figures."""
    request = f"GET {path} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
    host, _, port = place.rpartition(":")
    ready, sent, parts, took = selectors.EpollSelector(), {}, {}, []

    def ask(connection):
        parts[connection] = b""
        sent[connection] = time.perf_counter()
        connection.send(request)

    def connect():
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.register(connection, selectors.EVENT_READ)
        ask(connection)

    begin = time.perf_counter()
    for _ in range(connections):
        connect()
    while (now := time.perf_counter()) < begin + seconds:
        for key, _ in ready.select(1):
            connection = key.fileobj
            came = connection.recv(1 << 16)
            if not came:  # some servers bound the requests of a connection
                ready.unregister(connection)
                connection.close()
                del sent[connection]
                connect()
                continue
            answer = parts[connection] + came
            if not is_whole(answer):
                parts[connection] = answer
                continue
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"{place} says {answer[:200]}")
            took.append(time.perf_counter() - sent[connection])
            ask(connection)
    for connection in sent:
        connection.close()
    took.sort()
    return {"requests": len(took), "seconds": now - begin, "p50_ms": 1e3 * took[len(took) // 2],
            "p99_ms": 1e3 * took[len(took) * 99 // 100]}


def is_whole(answer):
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return len(body) >= int(lengths[0].partition(b":")[2])


def main():
    options = parse()

    def side(place):
        return lambda _: load(place, options.path, options.connections, options.seconds)

    pairs = interleaved(options.rounds, side(options.place), side(options.beside or options.place))
    rates = [[run["requests"] / run["seconds"] for run in runs] for runs in zip(*pairs)]
    tails = [[run["p99_ms"] for run in runs] for runs in zip(*pairs)]
    print(json.dumps(row("api_requests", rates[0], "requests/s", options.beside or "itself", rates[1],
                         p99_ms=statistics.median(tails[0]),
                         beside_p99_ms=statistics.median(tails[1]), path=options.path,
                         connections=options.connections), indent=1))


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", help="host:port of an API")
    parser.add_argument("--beside", metavar="HOST:PORT", help="of another one; else the same again")
    parser.add_argument("--path", default="/v1/users/5/counts")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=2, help="of a round")
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
