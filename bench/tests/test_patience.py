import unittest

from bench.patience import Patience
from stack.waiting import NotInTime


class Waiting(unittest.TestCase):
    def setUp(self):
        self.now, self.said = 0, []
        self.patience = Patience("hints", self.said.append, clock=lambda: self.now)

    def look(self, at, done):
        self.now = at
        self.patience.look(done)

    def test_as_long_as_something_moves_it_goes_on(self):
        for second in range(0, 10_000, 100):
            self.look(second, second)

    def test_it_ends_once_nothing_moves(self):
        self.look(1_000, 7)
        self.look(1_299, 7)
        with self.assertRaisesRegex(NotInTime, "hints: nothing has moved for 300 s, 7"):
            self.look(1_300, 7)

    def test_it_tells_how_far_it_is_every_half_minute(self):
        for second in range(0, 100, 5):
            self.look(second, f"{second} of 200")
        self.assertEqual(self.said, [f"still waiting for hints: {second} of 200" for second in (30, 60, 90)])
