"""The timelines that really are in Redis, read past all of Fanline's code."""

import math
from typing import NamedTuple

_PAGE = 500


class Timeline(NamedTuple):
    reader: int
    items: list  # (created_at_ms, post id), newest first
    floor: float  # complete for times strictly newer; 0: nothing older exists; None: being rebuilt


def read_timelines(redis, readers=None):
    """Of all readers who have one, or of some, by reader. `redis` is the stack's service."""
    with redis.client() as client:
        keys = [key for key in _keys(client)
                if readers is None or _reader_of(key) in readers]
        found = {}
        for start in range(0, len(keys), _PAGE):
            page = keys[start:start + _PAGE]
            for key in page:
                client.send("ZRANGE", key, 0, -1, "WITHSCORES")
            for key in page:
                members = client.receive()
                if members:  # it may have expired meanwhile
                    found[_reader_of(key)] = parse(_reader_of(key), members)
        return found


def read_floors(redis):
    """Floor by reader, of all ready timelines: one number of each, so it is quick."""
    with redis.client() as client:
        keys, floors = _keys(client), {}
        for start in range(0, len(keys), _PAGE):
            page = keys[start:start + _PAGE]
            for key in page:
                client.send("ZSCORE", key, "F")
            for key in page:
                score = client.receive()
                if score is not None:
                    floors[_reader_of(key)] = _floor(score)
        return floors


def parse(reader, members):
    """Of a reply to ZRANGE ... WITHSCORES."""
    items, floor = [], None
    for member, score in zip(members[::2], members[1::2]):
        if member.isdigit():
            items.append((-int(float(score)), int(member)))
        elif member == "F":
            floor = _floor(score)
    return Timeline(reader, items, floor)


def _floor(score):
    value = float(score)
    return 0 if math.isinf(value) else -int(value)


def _keys(client):
    keys, cursor = set(), "0"
    while True:
        cursor, page = client.command("SCAN", cursor, "MATCH", "tl:*", "COUNT", 2000)
        keys.update(page)
        if cursor == "0":
            return sorted(keys)


def _reader_of(key):
    return int(key.rsplit(":", 1)[1])
