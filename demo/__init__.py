"""The demo: a real social graph, a small fleet, posts, rebuilds, a crash - and every timeline
audited.

run.py begins and ends it, story.py has the chapters, stage.py what they stand on. Beside it:
graph.py reads the edge list, workload.py draws the events, producer.py sends them, ledger.py keeps
what must come of them, truth.py asks MariaDB whether it did, check.py compares timelines,
progress.py and report.py show it.
"""
