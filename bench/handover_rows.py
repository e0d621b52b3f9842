"""How long a range stands still while the pushers of a fleet are restarted one by one under load,
beside bare consumer groups on the same records that are restarted in the same manner.

This row has a stack of its own.
"""

import statistics
import threading
import time
from random import Random
from typing import NamedTuple

from bench import bare_member
from bench.measure import interleaved, row
from bench.recovery_rows import Scene, newest
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.fleet import PARTITIONS, TASKS
from stack.waiting import wait_until

_MEMBERS = 4
_LOOK_EVERY = 0.02
_STILL = 0.3  # seconds: nothing comes for so long only while a range is handed over
# Seconds; drawn, since fixed ones would meet heartbeats, one a second, always at the same phase.
_AWAY = (1.2, 2.2)  # more than a heartbeat, so that others have its share meanwhile
_SETTLED = (1.2, 2.2)  # before the next stop, from the moment the last one has its share again
_MOST_ROUNDS = 5  # of a minute
_PATIENCE = 120


class Bare(NamedTuple):
    """A bare group of as many members as the fleet has pushers."""

    name: str
    assignor: str


COOPERATIVE = Bare("cooperative", "cooperative-sticky")
EAGER = Bare("eager", "range")  # as ours


def handover(rounds, restarted, say):
    """The longest time without a delivery of a range while so many members are restarted, one after
    the other, beside that of the cooperative group; when all are, also that of the eager one."""
    also = (EAGER,) if restarted == _MEMBERS else ()
    ports = Ports()
    with LocalStack(ports=ports, say=say) as stack, \
            Scene(stack, ports, pushers=_MEMBERS, pusher_args=()) as scene, \
            _Watch(stack.redis, scene.keys_at(stack.redis)) as watch:
        ours = _Ours(scene.fleet.pushers, watch)
        groups = {bare.name: _Group(stack, bare) for bare in (COOPERATIVE, *also)}
        for group in (ours, *groups.values()):
            group.wait_shared()
        found = interleaved(
            min(rounds, _MOST_ROUNDS if also else 1), lambda number: ours.roll(restarted, Random(number)),
            lambda number: {name: group.roll(restarted, Random(number))
                            for name, group in groups.items()})
    gaps = {"ours": [mine for mine, _ in found],
            **{name: [others[name] for _, others in found] for name in groups}}
    yield row("handover_gap", [gap.longest for gap in gaps["ours"]],
              "s, the longest without a delivery of a range", "a bare cooperative consumer group",
              [gap.longest for gap in gaps[COOPERATIVE.name]],
              longest_of={name: statistics.median(gap.longest for gap in each)
                          for name, each in gaps.items()},
              still_of={name: statistics.median(gap.still for gap in each) / restarted
                        for name, each in gaps.items()})


class Gaps(NamedTuple):
    """Between two deliveries of a partition."""

    longest: float  # of all partitions
    still: float    # seconds in gaps of a hand-over, a partition on average

    @staticmethod
    def of(moments, begin, end):
        """Each partition has moments between `begin` and `end`."""
        found = [later - earlier for each in moments.values()
                 for earlier, later in zip([begin, *each], [*each, end])]
        return Gaps(max(found), sum(gap for gap in found if gap > _STILL) / len(moments))


class _Rolled:
    """A group that has stop, start and wait_share of a member, and moments(since)."""

    def wait_shared(self):
        for member in range(_MEMBERS):
            self.wait_share(member)

    def roll(self, restarted, random):
        begin = time.monotonic()
        for member in range(restarted):
            time.sleep(random.uniform(*_SETTLED))
            self.stop(member)
            time.sleep(random.uniform(*_AWAY))
            self.start(member)
            self.wait_share(member)
        time.sleep(_SETTLED[0])
        return Gaps.of(self.moments(begin), begin, time.monotonic())


class _Ours(_Rolled):
    def __init__(self, pushers, watch):
        self._pushers, self._watch = pushers, watch

    def stop(self, member):
        self._pushers[member].stop()

    def start(self, member):
        self._pushers[member].start()

    def wait_share(self, member):
        scrape = self._pushers[member].scrape
        wait_until(lambda: scrape().total("fanline_ranges_ready") == PARTITIONS // _MEMBERS,
                   _PATIENCE, "a pusher to have its share")

    def moments(self, since):
        return {key: [moment for moment in each if moment >= since]
                for key, each in self._watch.moments.items()}


class _Group(_Rolled):
    def __init__(self, stack, bare):
        self._members = [_Member(stack, bare, number) for number in range(_MEMBERS)]
        for member in range(_MEMBERS):
            self.start(member)

    def stop(self, member):
        self._members[member].stop()

    def start(self, member):
        self._members[member].start()

    def wait_share(self, member):
        """It was given records of as many partitions as it is to have."""
        files = self._members[member].files[-1:]
        wait_until(lambda: len(bare_member.moments(files)) >= PARTITIONS // _MEMBERS, _PATIENCE,
                   "a bare member to have its share")

    def moments(self, since):
        return bare_member.moments([file for member in self._members for file in member.files],
                                   since)


class _Member:
    def __init__(self, stack, bare, number):
        self._stack = stack
        self._name = f"bare-{bare.name}-{number}"
        self._argv = ["/usr/bin/python3", bare_member.__file__,
                      stack.env["FANLINE_KAFKA_BROKERS"], f"bare-{bare.name}", TASKS, bare.assignor]
        self._process = None
        self.files = []  # one a life

    def start(self):
        file = self._stack.logs / f"{self._name}-{len(self.files)}.moments"
        file.touch()
        self.files.append(file)
        self._process = self._stack.spawn(self._name, [*self._argv, file])

    def stop(self):
        self._process.terminate(_PATIENCE)


class _Watch(threading.Thread):
    """Notes when each timeline, one a range, gets another post."""

    def __init__(self, redis, keys):
        super().__init__(daemon=True)
        self._client = redis.client()
        self._stopping = threading.Event()
        self.moments = {key: [] for key in keys}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self.join()
        self._client.close()

    def run(self):
        last = dict.fromkeys(self.moments, 0)
        while not self._stopping.wait(_LOOK_EVERY):
            for key, before in last.items():
                now = newest(self._client, key)
                if now > before:
                    last[key] = now
                    self.moments[key].append(time.monotonic())
