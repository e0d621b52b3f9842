"""Provoked faults under load. The windows of rates are short, too: what is over is soon seen to be."""

import re

from tests.monitoring.provoked import Provoked

WINDOW = 20  # seconds


class Loaded(Provoked):
    window = WINDOW  # also stands for 5, 10 and 15 minutes of rates

    @classmethod
    def shortened(cls, rules):
        return re.sub(r"\[(?:5|10|15)m\]", f"[{cls.window}s]", super().shortened(rules))

    def setUp(self):
        super().setUp()
        self.begin_load()
        self.addCleanup(self.load.end)

    def end_load(self):
        """What is in flight arrives: nothing differs for that reason any more."""
        self.load.end()
        self.settle()
