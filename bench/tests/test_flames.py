"""Flame graphs: stacks out of what perf prints, and bars as wide as their share."""

import re
import unittest

from bench.flames import drawn, folded

PRINTED = """fanline-pusher  71
\t    55d0 Step(int)
\t    55d1 main

fanline-pusher  71
\t    55d1 main

redis-server  72
\t    7f00 [unknown]
"""


class Flames(unittest.TestCase):
    def test_a_stack_begins_with_its_process_and_the_outermost_function(self):
        self.assertEqual(folded(PRINTED, {71: "pusher", 72: "redis"}.get), {
            ("pusher", "main", "Step"): 1, ("pusher", "main"): 1, ("redis", "[unknown]"): 1})

    def test_a_bar_is_as_wide_as_its_share_and_thin_ones_are_left_out(self):
        graph = drawn({("pusher", "a<b>", "c"): 3, ("redis", "d"): 1, ("redis", "e"): 996}, "live5")
        shares = dict(re.findall(r"<title>(.*): (.*)%</title>", graph))
        self.assertEqual(shares, {"pusher": "0.3", "a&lt;b&gt;": "0.3", "c": "0.3", "redis": "99.7", "e": "99.6"})
        self.assertIn("live5, 1,000 samples", graph)


if __name__ == "__main__":
    unittest.main()
