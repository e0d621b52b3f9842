"""The demo: a real social graph, a small fleet, posts, rebuilds, a crash, then follows and
unfollows through all that can get lost, then readers who see it all - and every timeline audited.

run.py begins and ends it, story.py has the chapters, stage.py what they stand on. Beside it:
graph.py reads the edge list, workload.py draws the events, producer.py sends them, ledger.py keeps
what must come of them, truth.py asks MariaDB whether it did, check.py compares timelines,
progress.py and report.py show it.

The chapter of relations is relations.py, on relation_stage.py: changes.py draws who follows whom,
clients.py makes it so, relation_report.py has its figures. The chapter of readers is readings.py.
"""
