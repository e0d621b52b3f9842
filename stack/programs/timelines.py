"""The timelines that really are in Redis, read past all of Fanline's code."""

import math
from typing import NamedTuple

from stack.wire.redis import RedisError

_PAGE = 500

FLOOR = "F"  # the member whose score is the floor


def member_of(post, author):
    """Of an item: 1, the complement of the post's id, the author's id without leading zeros."""
    return b"\1" + (~post % 2**64).to_bytes(8, "big") + author.to_bytes((author.bit_length() + 7) // 8, "big")


def post_and_author(member):
    """Of a post or a repost; None: another member."""
    member = member if isinstance(member, bytes) else member.encode()
    if len(member) < 10 or member[0] != 1:
        return None
    author = member[9:]
    if author[0] == 0:  # of another kind: 1 is a repost
        if len(author) < 2 or author[1] // 16 != 1:
            return None
        author = author[2:2 + author[1] % 16]
    return ~int.from_bytes(member[1:9], "big") % 2**64, int.from_bytes(author, "big")


def item(created_at_ms, post, author):
    """Score and member, as ZADD takes them."""
    return -created_at_ms, member_of(post, author)


class Timeline(NamedTuple):
    reader: int
    items: list  # (created_at_ms, post id, author), newest first
    floor: float  # complete for times strictly newer; 0: nothing older exists; None: being rebuilt


def read_timelines(redis, readers=None):
    """Of all readers who have one, or of some, by reader. `redis` is the stack's service."""
    found = {}
    for reader, members in _ask(
            redis, lambda key: ("ZRANGE", key, 0, -1, "WITHSCORES"), readers):
        if members:  # it may have expired meanwhile
            found[reader] = parse(reader, members)
    return found


def read_floors(redis):
    """Floor by reader, of all ready timelines: one number of each, so it is quick."""
    return {reader: _floor(score)
            for reader, score in _ask(redis, lambda key: ("ZSCORE", key, FLOOR))
            if score is not None}


def read_ttls(redis):
    """How long each lives, in seconds, by reader; one without end is left out."""
    return {reader: milliseconds / 1000
            for reader, milliseconds in _ask(redis, lambda key: ("PTTL", key)) if milliseconds > 0}


def parse(reader, members):
    """Of a reply to ZRANGE ... WITHSCORES."""
    items, floor = [], None
    for member, score in zip(members[::2], members[1::2]):
        if of := post_and_author(member):
            items.append((-int(float(score)), *of))
        elif member == FLOOR:
            floor = _floor(score)
    return Timeline(reader, items, floor)


def _floor(score):
    value = float(score)
    return 0 if math.isinf(value) else -int(value)


def _ask(redis, command_of, readers=None):
    """(reader, reply) of a command on every timeline's key, master by master."""
    for master in redis.masters():
        with master.client() as client:
            keys = [key for key in _keys(client)
                    if readers is None or _reader_of(key) in readers]
            for start in range(0, len(keys), _PAGE):
                page = keys[start:start + _PAGE]
                for key in page:
                    client.send(*command_of(key))
                for key in page:
                    try:
                        reply = client.receive()
                    except RedisError as error:
                        # Of a slot that has left: an old snapshot brought it back. Nobody asks for
                        # it here.
                        if not str(error).startswith("MOVED"):
                            raise
                        continue
                    yield _reader_of(key), reply


def _keys(client):
    keys, cursor = set(), "0"
    while True:
        cursor, page = client.command("SCAN", cursor, "MATCH", "*tl:{*", "COUNT", 2000)
        keys.update(page)
        if cursor == "0":
            return sorted(keys)


def _reader_of(key):
    return int(key.rsplit(":", 1)[1])
