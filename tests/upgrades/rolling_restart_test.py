"""A rolling restart under load loses nothing and brings nothing back."""

import unittest

from tests.upgrades.rolling import Rolling


class Restart(Rolling):
    def test_a_rolling_restart_under_load_ends_exact(self):
        self.roll("dispatchers", "pushers", "mirrors", "reconcilers", "apis")
        self.assertGreater(self.counter("fanline_hints_done_total"), 0)


if __name__ == "__main__":
    unittest.main()
