"""What a seed stands for: the size of a run, the shape of its installation, and which fault comes
when. Drawn before anything runs, so that it can be printed, kept and made again.

Faults of one lane come one after the other; lanes know nothing of each other, so that a broker may
die while a slot moves and a dispatcher hangs.
"""

import json
import random
from typing import NamedTuple

EVENTS_PER_SECOND = 250
LEAST_SECONDS = 20
EVERY_S = 15  # in each lane, from the beginning of a fault to that of the next; on average
CALM_S = 2  # at least so much from the end of one to the next

MEMBERS = ["pusher-1", "pusher-2", "pusher-3", "dispatcher-1", "dispatcher-2"]
RELATION_MEMBERS = ["mirror-1", "mirror-2", "reconciler-1", "reconciler-2", "api"]
SHARDS = ["mysql0", "mysql1"]
ALL_LINKS = "everything"
LINKS = (ALL_LINKS, "kafka", "kafka", "kafka", *SHARDS, *SHARDS,
         *(f"redis{number}" for number in range(1, 7)))
EDGES = ("10 edges", "40 edges")
TOPICS = ["feed-events", "fanout-tasks", "relation-events", "relation-log"]


class Kind(NamedTuple):
    lane: str
    shortest: float  # seconds it takes
    longest: float
    targets: tuple = ()  # none: one of the ranges, whose master it is then


# A member's session lasts two seconds (rig.SESSION), so that hangs are on both sides of it.
KINDS = {
    "kill": Kind("fleet", 0, 1, tuple(MEMBERS)),
    "hang": Kind("fleet", 0.5, 6, tuple(MEMBERS)),
    "leave": Kind("fleet", 0, 2, tuple(MEMBERS)),
    "roll": Kind("fleet", 3, 8, ("pushers", "pushers", "dispatchers")),
    "kill_relations": Kind("relations", 0, 1, tuple(RELATION_MEMBERS)),
    "hang_relations": Kind("relations", 0.5, 6, tuple(RELATION_MEMBERS)),
    "leave_relations": Kind("relations", 0, 2, tuple(RELATION_MEMBERS)),
    "mirror_mode": Kind("relations", 2, 6, ("sync", "log")),
    "failover": Kind("redis", 2, 4),
    "lagging_failover": Kind("redis", 2, 5),
    "orderly_failover": Kind("redis", 1, 2),
    "hang_master": Kind("redis", 0.5, 5),
    "restart_master": Kind("redis", 0, 0.3),
    "pair_away": Kind("redis", 1, 5),
    "all_away": Kind("redis", 0.5, 3, ("all nodes",)),
    "flush": Kind("redis", 0, 0),
    "reshard": Kind("redis", 0.5, 3),
    "reshard_failover": Kind("redis", 0.5, 3),
    "kill_broker": Kind("stores", 0.2, 3, ("kafka",)),
    "hang_broker": Kind("stores", 0.5, 5, ("kafka",)),
    "kill_shard": Kind("stores", 0.2, 4, tuple(SHARDS)),
    "hang_shard": Kind("stores", 0.5, 5, tuple(SHARDS)),
    "stop_shard": Kind("stores", 0.2, 4, tuple(SHARDS)),
    "cut": Kind("network", 0.2, 5, LINKS),
    "stall": Kind("network", 0.5, 6, LINKS),
    "delay": Kind("network", 2, 8, LINKS),
    "rebalance": Kind("groups", 6, 14, ("pusher", "pusher", "dispatcher", "mirror", "reconciler")),
    "repeat": Kind("repeats", 0.5, 2, tuple(TOPICS)),
    "lose_reverse": Kind("rows", 0, 0, EDGES),
    "lose_forward": Kind("rows", 0, 0, EDGES),
    "lose_both": Kind("rows", 0, 0, EDGES),
    "edit_rows": Kind("rows", 0, 0, EDGES),
    "mark_log1": Kind("rows", 0, 0, EDGES),
    "lose_friends": Kind("rows", 0, 0, ("10 friendships",)),
}
LANES = list(dict.fromkeys(kind.lane for kind in KINDS.values()))


class Fault(NamedTuple):
    at: float  # seconds from the beginning; later when the lane is not done with the one before
    lane: str
    kind: str
    target: str
    seconds: float
    seed: int  # of what else it draws

    def __str__(self):
        return f"{self.at:6.1f} s  {self.lane:<9} {self.kind} {self.target}, {self.seconds:g} s"


class Plan(NamedTuple):
    seed: int
    events: int
    changes: int
    seconds: int  # the events and changes are spread over so many
    ranges: int
    window: int
    appendonly: bool  # whether Redis writes a log
    tight: bool  # whether the daemons' bounds are small, so that they are reached
    patience_s: int  # after which the daemons' producers give a record up, and send it anew
    faults: tuple

    def drawn(self, what):
        """Draws for one purpose, the same in every run of the seed."""
        return random.Random(f"{self.seed} {what}")

    def to_json(self):
        return json.dumps({**self._asdict(), "faults": [fault._asdict() for fault in self.faults]},
                          indent=1)

    @staticmethod
    def of_json(text):
        fields = json.loads(text)
        return Plan(**{**fields, "faults": tuple(Fault(**fault) for fault in fields["faults"])})

    def lines(self):
        yield (f"seed {self.seed}: {self.events:,} events and {self.changes:,} changes in "
               f"{self.seconds} s, {self.ranges} ranges, window {self.window}, Redis "
               f"{'with' if self.appendonly else 'without'} AOF, {'tight' if self.tight else 'usual'} bounds, "
               f"producers' patience {self.patience_s} s, {len(self.faults)} faults")
        yield from map(str, self.faults)


def draw(seed, events, changes):
    random_ = random.Random(f"{seed} plan")
    seconds = max(LEAST_SECONDS, round(events / EVENTS_PER_SECOND))
    ranges = random_.choice([8, 16, 16, 64])
    return Plan(seed, events, changes, seconds, ranges, random_.choice([60, 450]),
                random_.random() < 0.5, random_.random() < 0.5, random_.choice([1, 30]),
                tuple(sorted(_faults(random_, seconds, ranges))))


def _faults(draw_, seconds, ranges):
    for lane in LANES:
        bag = []
        at = draw_.uniform(1, min(EVERY_S, seconds / 2))
        while at < seconds - 1:
            # Each kind comes once before any comes again.
            bag = bag or draw_.sample(kinds_of(lane), len(kinds_of(lane)))
            name = bag.pop()
            kind = KINDS[name]
            lasts = round(draw_.uniform(kind.shortest, kind.longest), 1)
            target = (draw_.choice(kind.targets) if kind.targets
                      else f"range {draw_.randrange(ranges)}")
            yield Fault(round(at, 1), lane, name, target, lasts, draw_.randrange(1 << 32))
            at += max(lasts + CALM_S, draw_.uniform(0.5, 1.5) * EVERY_S)


def kinds_of(lane):
    return [name for name, kind in KINDS.items() if kind.lane == lane]
