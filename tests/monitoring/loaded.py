"""Provoked faults under load. The windows of rates are short, too: what is over is soon seen to be."""

import re

from tests.monitoring.provoked import Provoked

WINDOW = 20  # seconds


class Loaded(Provoked):
    window = f"{WINDOW}s"  # also stands for 5, 10 and 15 minutes of rates, and for how old a start may be

    @classmethod
    def shortened(cls, rules):
        rules = re.sub(r"\[(?:5|10|15)m\]", f"[{cls.window}]", super().shortened(rules))
        return rules.replace("process_start_time_seconds < 900", f"process_start_time_seconds < {WINDOW}")

    def setUp(self):
        super().setUp()
        self.begin_load()
        self.addCleanup(self.load.end)

    def end_load(self):
        """What is in flight arrives: nothing differs for that reason any more."""
        self.load.end()
        self.settle()
