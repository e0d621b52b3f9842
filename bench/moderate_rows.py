"""What an event costs, and how long it takes, when the fleet has less to do than it could: two
dispatchers and two pushers at a half, a quarter and a tenth of the rate of a burst of the same run.
Load must make a delivery cheaper, and little of it not dear."""

import math
import statistics
import time
from collections import Counter
from typing import NamedTuple

from bench.measure import row
from stack.programs.metrics import Samples

SHARES = {"half": 1 / 2, "quarter": 1 / 4, "tenth": 1 / 10}  # of the burst's rate
# Blocks of authors and shares by which the parts of a cost are told apart: an event, a follower who
# is looked at, a delivery, and what is spent whenever there is any work.
COST_BLOCKS = ("few", "moderate", "live20", "live100")
COST_SHARES = ("half", "tenth")
LAST_DELIVERY = "fanline_publish_to_last_delivery_seconds"
_LONGEST = 12  # seconds of a run at a steady rate: the slow ones publish fewer events


class Run(NamedTuple):
    seconds: float
    events: int
    cpu: Counter  # seconds by process, without the load generator's
    samples: Samples  # what the pushers counted

    @property
    def rate(self):
        return self.events / self.seconds

    @property
    def cost_us(self):
        return sum(self.cpu.values()) / self.events * 1e6


def cpu_per_event(rig, sizes):
    """CPU of all daemons and services per event of distinct authors - 70 followers, of whom 14 are
    live - beside that of the burst."""
    rig.scene("compact", of_each=2)
    rounds = [_round(rig, rig.population.authors["moderate"], sizes.moderate)
              for _ in range(rounds_of(sizes) + 1)][1:]
    bursts = [each["burst"] for each in rounds]
    for name in SHARES:
        runs = [each[name] for each in rounds]
        yield row(f"cpu_per_event_{name}", [run.cost_us for run in runs], "CPU us/event",
                  "in the burst", [run.cost_us for run in bursts],
                  events_per_second=statistics.median(run.rate for run in runs),
                  cpu_us_per_event=_by_process(runs), burst_cpu_us_per_event=_by_process(bursts))


def latency(rig, sizes):
    """Publish to last delivery of authors with 200 followers, beside that of the burst."""
    rig.scene("compact", dispatcher_args=("--sample-rate", "1"), of_each=2)
    authors = rig.population.authors["live20"]
    events = min(sizes.moderate, authors.count)
    rounds = [_round(rig, authors, events) for _ in range(rounds_of(sizes) + 1)][1:]
    for name in SHARES:
        for suffix, share in (("", 0.5), ("_p99", 0.99)):
            took, in_burst = ([each[which].samples.histogram(LAST_DELIVERY).quantile(share) * 1e3
                               for each in rounds] for which in (name, "burst"))
            yield row(f"latency_{name}_rate{suffix}", took, f"ms, p{share * 100:.0f}",
                      "in the burst", in_burst,
                      events_per_second=statistics.median(each[name].rate for each in rounds),
                      **audience_of(rig, authors, events))


def event_cost(rig, sizes):
    """CPU of an event of authors with few followers and with many, at steady rates: what `feedctl
    capacity` fits its constants to. Beside that of the burst of the same round."""
    rig.scene("compact", of_each=2)
    blocks = {name: rig.population.authors[name] for name in COST_BLOCKS}
    events = {name: min(sizes.moderate, block.count) for name, block in blocks.items()}
    rounds = [{name: _round(rig, block, events[name], COST_SHARES)
               for name, block in blocks.items()}
              for _ in range(sizes.warm + few_rounds(sizes))][sizes.warm:]
    for name, block in blocks.items():
        for share in COST_SHARES:
            runs = [each[name][share] for each in rounds]
            bursts = [each[name]["burst"] for each in rounds]
            yield row(f"event_cost_{name}_{share}", [run.cost_us for run in runs], "CPU us/event",
                      "in the burst", [run.cost_us for run in bursts],
                      events_per_second=statistics.median(run.rate for run in runs),
                      cpu_us_per_event=_by_process(runs), burst_cpu_us_per_event=_by_process(bursts),
                      **audience_of(rig, block, events[name]))


def audience_of(rig, authors, events):
    """Of an event: followers of its author, and those with a live timeline."""
    return {"followers": authors.followers, "live": rig.deliveries_due(authors, events) / events}


def few_rounds(sizes):
    return math.ceil(sizes.rounds / 4)  # of several kinds of authors: two minutes each


def rounds_of(sizes):
    return math.ceil(sizes.rounds / 2)  # each takes half a minute


def _round(rig, authors, events, shares=tuple(SHARES)):
    runs = {"burst": run_at(rig, authors, events)}
    for name in shares:
        rate = runs["burst"].rate * SHARES[name]
        runs[name] = run_at(rig, authors, min(events, math.ceil(rate * _LONGEST)), rate)
    rig.say("; ".join(f"{name} {run.rate:.0f} events/s, {run.cost_us:.0f} us each"
                      for name, run in runs.items()))
    return runs


def run_at(rig, authors, events, rate=0):
    """Publishes, as fast as it goes or at a steady rate, until the last hint is done."""
    rig.wait_idle()
    before, hints = rig.fleet.counters(), rig.pushed()
    meter, begin = rig.cpu_meter(), time.perf_counter()
    rig.publish(authors, events, rate)
    rig.wait_pushed(hints + events * rig.ranges)
    seconds, cpu = time.perf_counter() - begin, meter.spent()
    return Run(seconds, events, cpu, rig.fleet.counters() - before)


def _by_process(runs):
    events = sum(run.events for run in runs)
    total = sum((run.cpu for run in runs), start=Counter())
    return {name: spent * 1e6 / events for name, spent in sorted(total.items())}
