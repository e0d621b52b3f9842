"""The suites of helm/fanline/tests: what a value does to what is rendered, and what is refused."""

import re
import unittest

from tests.helm.chart import CHART, run, tool


class Suites(unittest.TestCase):
    def test_pass(self):
        said = run(tool("helm-unittest"), "--strict", CHART)
        print(said[-300:])
        tests = re.search(r"Tests:\s+(\d+) passed, (\d+) total", said)
        self.assertEqual(tests[1], tests[2])
        self.assertGreater(int(tests[2]), 50)
