"""The rows of a mirror that hears of changes from the binary logs (mode log), beside the same follows while it polls
(mode async). As in bench/edge_rows.py, with binary logs, which the mode log may read."""

from bench.edge_rows import Scene, quantile
from bench.measure import interleaved, row
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.feedctl import Feedctl
from stack.services.mysql import BINLOG
from stack.waiting import wait_until


def edge_modes(rounds, sizes, say):
    """Milliseconds from an acknowledged follow to its reverse row and to its hint, at the full rate; and follows a
    second as long as a caller waits, while a mirror works them off."""
    ports = Ports()
    with LocalStack(ports=ports, mysql_args=BINLOG, say=say) as stack:
        for shard in stack.mysql:
            shard.let_read_binlog()
        feedctl = Feedctl(stack)
        with Scene(stack, ports) as scene:
            yield from _rows(interleaved(rounds, lambda _: _in_mode(scene, feedctl, "log", len(stack.mysql), sizes),
                                         lambda _: _in_mode(scene, feedctl, "async", 0, sizes)))


def _in_mode(scene, feedctl, mode, told, sizes):
    """What is measured -> its figure. `told`: of so many shards the mirror hears from the binary log."""
    feedctl.run("relations", "mode", mode)
    wait_until(lambda: scene.told() == told, 60, f"the mirror to hear of changes from {told} binary logs")
    _, rows, hints, cpu = scene.follow(sizes.load // 2, sizes.rate)
    found = {f"{what}{suffix}": quantile(took, share) for what, took in (("row", rows), ("hint", hints))
             for share, suffix in ((0.5, ""), (0.99, "_p99"))}
    return {**found, "cpu": cpu, "follow": scene.made_meanwhile(sizes.waiting // 3)}


def _rows(pairs):
    mine, beside = zip(*pairs)
    for what, unit in (("row", "ms to the reverse row"), ("row_p99", "ms to the reverse row"),
                       ("hint", "ms to the hint"), ("hint_p99", "ms to the hint"), ("cpu", "CPU us/change"),
                       ("follow", "follows/s by the store")):
        name, _, p99 = what.partition("_")
        named = "follow_async_log" if name == "follow" else "_".join(filter(None, ["edge", name, "log", p99]))
        yield row(named, [each[what] for each in mine], f"{unit}, mode log", "mode async",
                  [each[what] for each in beside])
