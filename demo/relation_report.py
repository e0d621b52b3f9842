"""The outcome of the relations chapter: its figures, and what is wrong with them."""

import math
from typing import NamedTuple

from stack.programs.metrics import Samples

NETS = ("pair", "log", "scan")  # in the order in which they come to an edge


class Found(NamedTuple):
    forward: set  # rows as text, tombstones too
    reverse: set
    wrong_counters: list
    counters: Samples  # of the chapter's daemons
    injected: dict  # edge -> when its message was lost, Unix ms
    repaired: dict  # edge -> when the pair reconciler repaired it


def figures(found, seconds):
    took = sorted((found.repaired[edge] - at_ms) / 1000 for edge, at_ms in found.injected.items()
                  if edge in found.repaired)
    return {
        "edges_forward": len(found.forward),
        "edges_reverse": len(found.reverse),
        "differences_after": len(found.forward ^ found.reverse),
        "counter_drift_after": len(found.wrong_counters),
        "repairs": {net: int(found.counters.total("fanline_relation_repairs_total", net=net)) for net in NETS},
        "escapes": {net: int(found.counters.total("fanline_relation_escapes_total", missed_by=net)) for net in NETS},
        "repair_p99_s": round(took[math.ceil(0.99 * len(took)) - 1], 1) if took else None,
        "relations_seconds": round(seconds, 1),
    }


def complaints(figures, found):
    """What is wrong, a line each; empty is good."""
    if figures["differences_after"]:
        yield (f"{figures['differences_after']:,} rows differ between forward and reverse, such as "
               f"{sorted(found.forward ^ found.reverse)[:4]}")
    if found.wrong_counters:
        yield (f"{len(found.wrong_counters):,} counters are not the number of their rows, such as "
               f"{sorted(found.wrong_counters)[:3]}")
    if unrepaired := sorted(found.injected.keys() - found.repaired.keys()):
        yield (f"{len(unrepaired):,} of {len(found.injected):,} lost changes were never repaired "
               f"by the reconciler, such as {unrepaired[:3]}")
    for name in ("fanline_events_rejected_total", "fanline_rel_repairs_withheld_total",
                 "fanline_rel_undecodable_total", "fanline_rel_counter_negative_total"):
        if total := found.counters.total(name):
            yield f"{name} is {total:,.0f} and should be 0"
