"""Waits end, and say what they waited for."""

import unittest

from stack.waiting import NotInTime, wait_until


class WaitUntil(unittest.TestCase):
    def test_returns_what_the_predicate_found(self):
        answers = iter([None, 0, "", "found"])
        self.assertEqual(wait_until(lambda: next(answers), 5, "it"), "found")

    def test_names_what_did_not_come_and_the_last_refusal(self):
        def refuses():
            raise ConnectionRefusedError("refused")

        with self.assertRaisesRegex(NotInTime, r"^waited 0.05 s for tea \(last answer: refused\)$"):
            wait_until(refuses, 0.05, "tea")

    def test_looks_once_more_at_the_very_end(self):
        self.assertTrue(wait_until(lambda: True, 0, "it"))

    def test_lets_other_errors_through_at_once(self):
        with self.assertRaises(ZeroDivisionError):
            wait_until(lambda: 1 / 0, 5, "it")
