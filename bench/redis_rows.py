"""What a delivery costs Redis, part by part: one script after the other does a little more than the one before it, on
the same timelines, beside a plain pipelined ZADD. Nobody else uses Redis meanwhile."""

import itertools
import random
from pathlib import Path

from bench.measure import row
from bench.processes import CpuMeter
from bench.rig import LONGEST, WINDOW

_SCRIPTS = Path(__file__).resolve().parent.parent / "schemas" / "redis"
_BATCH, _IN_FLIGHT = 500, 256
_POSTS = 5  # to each timeline, in a round of a part
_MOST_MARKS = 200
# Of each timeline of a call. ARGV is that of apply.lua, whose ARGV[7] and [8] are the item.
_PARTS = {
    "keys": "local added = 0",
    "item": "local added = redis.pcall('ZADD', KEYS[k], ARGV[7], ARGV[8])",
    "head": "local added = redis.pcall('ZADD', KEYS[k], ARGV[7], ARGV[8], FIRST, HEAD)",
    "length": "local added = redis.pcall('ZADD', KEYS[k], ARGV[7], ARGV[8], FIRST, HEAD) redis.call('ZCARD', KEYS[k])",
}
_LOOP = "local out = {} for k = 4, #KEYS do %s out[k - 3] = BYTE[added] end return {table.concat(out)}"
_BYTE = "local BYTE = {[0] = '0', [1] = '1'} "


def parts_of_a_delivery(rig, sizes):
    """CPU us of Redis for a delivery."""
    rig.scene("compact")
    rig.wait_idle()
    rig.abandon()  # its pushers ask Redis now and then
    posts = itertools.count(1 << 62)
    with rig.stack.redis.client() as client:
        timelines = client.command("KEYS", "tl:*")
        client.command("SET", "own:{bench}", 1)
        client.command("SET", "maxfloor:{bench}", 0)
        texts = {name: (_SCRIPTS / "timeline.lua").read_text() + _BYTE + _LOOP % part for name, part in _PARTS.items()}
        texts["whole"] = "".join((_SCRIPTS / name).read_text() for name in ("timeline.lua", "apply.lua"))
        scripts = {name: client.command("SCRIPT", "LOAD", text) for name, text in texts.items()}

        def cost(deliver):
            """Of _POSTS posts to every timeline, which are taken out again."""
            moments = [rig.moments(1) for _ in range(_POSTS)]
            meter = CpuMeter({"redis": [rig.stack.redis.pid]})
            for at in moments:
                random.shuffle(timelines)
                deliver(str(-at), _item(next(posts)))
            spent = max(0.01, meter.spent()["redis"])  # a small round may take less than one step of the meter
            for some in _chunks(timelines, _IN_FLIGHT):
                client.pipeline([("ZREMRANGEBYSCORE", key, -moments[-1], -moments[0]) for key in some])
            return spent * 1e6 / (_POSTS * len(timelines))

        def plain(score, item):
            for some in _chunks(timelines, _IN_FLIGHT):
                client.pipeline([("ZADD", key, score, item) for key in some])

        def scripted(script):
            def deliver(score, item):
                for some in _chunks(timelines, _BATCH):
                    client.command("EVALSHA", script, 3 + len(some), "own:{bench}", "live:{bench}", "maxfloor:{bench}",
                                   *some, 1, WINDOW, LONGEST, WINDOW // 2, _MOST_MARKS, 1, score, item,
                                   *[1] * len(some))
            return deliver

        sides = {"plain": plain, **{name: scripted(script) for name, script in scripts.items()}}
        found = {name: [] for name in sides}
        for number in range(sizes.rounds + 1):
            for name in random.sample(list(sides), len(sides)):
                spent = cost(sides[name])
                if number:  # the first warms up
                    found[name].append(spent)
    for name in scripts:
        yield row(f"redis_us_{name}", found[name], "CPU us/delivery", "a plain pipelined ZADD", found["plain"])


def _item(post):
    return b"\x01" + (2**64 - 1 - post).to_bytes(8, "big") + b"\x01\x02\x03\x04\x05"


def _chunks(values, size):
    for begin in range(0, len(values), size):
        yield values[begin:begin + size]
