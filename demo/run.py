#!/usr/bin/python3
"""The demo: posts of a real social graph arrive in live timelines, through a crash; follows and
unfollows reach both directions, through everything that can get lost; readers come back and see it
all; and it is audited.

    demo/run.py [--graph FILE] [--id-offset N] [--seed N]

Starts Kafka, Redis and two shards of its own, two dispatchers, pushers and mirrors, a
reconciler and an API, and leaves nothing running. Writes build/demo/report.json. Ends with 0 only
if all was exact.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from demo import report
from demo.graph import BadGraph, read_graph
from demo.producer import NotAcknowledged
from demo.progress import Progress
from demo.story import Story
from demo.workload import REFERENCE_USERS, plan_for
from stack.local_stack import LocalStack, NotInTime, ServiceFailed
from stack.ports import Ports
from stack.programs.feedctl import FeedctlFailed
from stack.workspace import BUILD, ROOT

EPINIONS = ROOT / "data" / "epinions" / "soc-Epinions1.txt.gz"
REPORT = BUILD / "demo" / "report.json"
FAILURES = (BadGraph, ConnectionError, FeedctlFailed, NotAcknowledged, NotInTime, ServiceFailed)


def main():
    options = parse()
    progress = Progress()
    try:
        graph = read_graph(options.graph, options.id_offset)
    except BadGraph as error:
        sys.exit(f"demo: {error}")
    progress.say(f"Fanline demo, seed {options.seed}: {len(graph.users):,} users and "
                 f"{graph.edges:,} edges of {os.path.relpath(options.graph)}")
    plan = plan_for(len(graph.users))
    progress.say(f"The plan: {plan.history:,} posts of the past, {plan.live:,} live timelines, "
                 f"{plan.events:,} events" + ("" if len(graph.users) >= REFERENCE_USERS else
                                              ", in proportion to the graph"))
    ports = Ports()
    with LocalStack(ports=ports, say=progress.say) as stack:
        try:
            figures, complaints = tell(Story(stack, ports, graph, options, progress))
        except FAILURES as error:
            complaints = [str(error), *stack.failures()]
            figures = None
        if complaints:
            complaints.append(f"logs: {os.path.relpath(stack.keep_logs('demo'))}")
    if figures:
        conclude(figures, progress)
    for complaint in complaints:
        print(f"demo: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


def tell(story):
    """The chapters; the figures, and what is wrong with them."""
    story.install()
    story.import_graph()
    story.start_fleet()
    story.publish_history()
    story.make_readers_live()
    story.burst()
    story.crash()
    story.paced()
    story.first_audit()
    story.relations()
    story.readings()
    return story.audit()


def conclude(figures, progress):
    report.write(figures, REPORT)
    progress.say()
    for line in report.table(figures):
        progress.say(line)
    progress.say(f"\nAll of it, and how it came about: {os.path.relpath(REPORT)}")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path, default=EPINIONS,
                        help="edge list, `from to` per line, may be gzipped (default: Epinions)")
    parser.add_argument("--id-offset", type=int, default=1,
                        help="added to every id of the file, since 0 is none of Fanline's")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000),
                        help="draws everything; the default is new each time")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
