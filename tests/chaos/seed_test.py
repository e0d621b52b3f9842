"""One small run of the chaos harness (run.py): nothing acknowledged is lost."""

import unittest

from tests.chaos import plan, report
from tests.chaos.run_one import run

SEED = 1519
EVENTS, CHANGES = 2_000, 1_000


def say(line):
    print(line, flush=True)


class OneSeed(unittest.TestCase):
    def test_nothing_that_was_acknowledged_is_lost(self):
        planned = plan.draw(SEED, EVENTS, CHANGES)
        say("\n".join(planned.lines()))
        result = run(planned, say)
        say(report.line(result))
        self.assertEqual(result.wrong, [], f"again: make chaos SEED={SEED} EVENTS={EVENTS}")
        self.assertEqual((result.events, result.changes), (EVENTS, CHANGES))
        self.assertEqual(sum(result.faults.values()), len(planned.faults))
