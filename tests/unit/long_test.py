"""make test-long runs everything, says what failed, and ends with that."""

import contextlib
import io
import unittest

from tests.long import ROOT, STEPS, run


class Long(unittest.TestCase):
    def test_what_fails_is_named_and_does_not_end_the_others(self):
        said, called = io.StringIO(), []

        def call(command, cwd):
            self.assertEqual(cwd, ROOT)
            called.append(command)
            return 3 if command == ["two"] else 0

        with contextlib.redirect_stdout(said):
            failed = run([("first", ["one"]), ("second", ["two"]), ("third", ["three"])], call)
        self.assertEqual((failed, called), (1, [["one"], ["two"], ["three"]]))
        last = said.getvalue().splitlines()[-1]
        self.assertTrue(last.startswith("test-long: 2 of 3 ok") and last.endswith("FAILED: second"), last)

    def test_it_names_tests_that_exist(self):
        listed = (ROOT / "tests/e2e/CMakeLists.txt").read_text(encoding="utf-8")
        commands = " ".join(" ".join(command) for _, command in STEPS)
        self.assertIn("hand_over_test", commands)
        self.assertIn("fanline_e2e_test(hand_over_test", listed)
        self.assertTrue((ROOT / "tests/mutants/run.py").exists())
