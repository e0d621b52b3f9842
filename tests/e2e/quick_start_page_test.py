"""The first timeline of docs/tutorial.md, typed."""

import unittest

from stack.local_stack import LocalStack
from stack.ports import Ports
from tests.e2e.page_commands import PageCommands


class QuickStart(unittest.TestCase):
    def test_its_commands_lead_to_a_timeline(self):
        ports = Ports()
        stack = LocalStack(ports=ports, say=lambda line: None)
        self.addCleanup(stack.stop)
        stack.start()
        api = f"127.0.0.1:{ports.take()}"
        page = PageCommands(stack, "tutorial.md", "A first timeline",
                            {"FANLINE_ADMIN_LISTEN": "127.0.0.1:0", "FANLINE_LISTEN": api}, {"127.0.0.1:8080": api})
        page.run_next()
        page.run_next()
        pushed = page.run_next()
        self.assertRegex(pushed, r"\b1000\b")
        self.assertRegex(pushed, r"missing +0 ")
        followed = page.run_next()
        self.assertIn('"following":true,"changed":true', followed)
        self.assertIn('{"id":"1000"', followed)
        self.assertIn("follows since", followed)
        self.assertEqual(page.left, 0)
