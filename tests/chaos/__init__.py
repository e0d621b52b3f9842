"""Whole runs of an installation while everything around it breaks: make chaos SEEDS=n.

A seed draws all beforehand: what applications say (posts.py, follows.py) and what breaks when
(plan.py). A run (run_one.py) is: start an installation (rig.py), let applications, readers
(readers.py) and faults (faults.py, redis_faults.py) go on beside each other, heal, wait until
nothing is left to do (quiet.py), then compare all there is with a model of what was acknowledged
(verdict.py). run.py is the command line, report.py its lines.

docs/testing.md says what is promised, and how a run is repeated.
"""
