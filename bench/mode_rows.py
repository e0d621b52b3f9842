"""The rows of a mirror that is told of changes in another way, beside the same follows while it polls (mode async). As
in bench/edge_rows.py, with a binary log, which such a mode may read."""

import time

from bench.edge_rows import Scene, quantile
from bench.measure import interleaved, row
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.feedctl import Feedctl
from stack.waiting import wait_until

MODES = ("log",)
_POLLED = "async"
_KNOWN_AFTER = 2  # seconds: programs read the mode every second
_LOGGED = ("--log-bin=binlog", "--binlog-format=ROW")
_MAY_READ = "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO fanline@127.0.0.1"


def edge_modes(rounds, sizes, say, modes=MODES):
    """Milliseconds from an acknowledged follow to its reverse row and to its hint, at the full rate; and follows a
    second as long as a caller waits, while a mirror works them off."""
    ports = Ports()
    with LocalStack(ports=ports, mysql_args=_LOGGED, say=say) as stack:
        for shard in stack.mysql:
            shard.query(_MAY_READ)
        feedctl = Feedctl(stack)
        with Scene(stack, ports) as scene:
            for mode in modes:
                told = len(stack.mysql) if mode == "log" else 0
                pairs = interleaved(rounds, lambda _, m=mode, t=told: _in_mode(scene, feedctl, m, t, sizes),
                                    lambda _: _in_mode(scene, feedctl, _POLLED, 0, sizes))
                yield from _rows(mode, pairs)


def _in_mode(scene, feedctl, mode, told, sizes):
    """What is measured -> its figure. `told`: of so many shards the mirror hears from the binary log."""
    feedctl.run("relations", "mode", mode)
    time.sleep(_KNOWN_AFTER)
    wait_until(lambda: scene.told() == told, 60, f"the mirror to hear of changes from {told} binary logs")
    _, rows, hints, cpu = scene.follow(sizes.load // 2, sizes.rate)
    found = {f"{what}{suffix}": quantile(took, share) for what, took in (("row", rows), ("hint", hints))
             for share, suffix in ((0.5, ""), (0.99, "_p99"))}
    return {**found, "cpu": cpu, "follow": scene.made_meanwhile(sizes.waiting // 3)}


def _rows(mode, pairs):
    mine, beside = zip(*pairs)
    for what, unit in (("row", "ms to the reverse row"), ("row_p99", "ms to the reverse row"),
                       ("hint", "ms to the hint"), ("hint_p99", "ms to the hint"), ("cpu", "CPU us/change"),
                       ("follow", "follows/s by the store")):
        name, _, p99 = what.partition("_")
        named = f"follow_async_{mode}" if name == "follow" else "_".join(filter(None, ["edge", name, mode, p99]))
        yield row(named, [each[what] for each in mine], f"{unit}, mode {mode}", f"mode {_POLLED}",
                  [each[what] for each in beside])
