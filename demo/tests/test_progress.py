"""Progress is a bar on a terminal, lines in a log, and always says how a step ended."""

import io
import unittest

from demo.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Steps(unittest.TestCase):
    def run_step(self, stream):
        with Progress(stream).step("publish") as step:
            step.at(0.5)
            step.note("5 events")
        return stream.getvalue()

    def test_in_a_log_a_short_step_is_one_line(self):
        self.assertRegex(self.run_step(io.StringIO()), r"^  publish +done +0\.0 s  5 events\n$")

    def test_on_a_terminal_it_is_drawn_in_place_and_ends_its_line(self):
        drawn = self.run_step(Terminal())
        self.assertEqual(drawn.count("\n"), 1)
        self.assertTrue(drawn.endswith("5 events\n"))
        self.assertEqual(drawn.count("\r"), 2)  # at the start and at the end

    def test_a_step_that_fails_does_not_claim_to_be_done(self):
        for stream in (io.StringIO(), Terminal()):
            with self.assertRaises(ValueError), Progress(stream).step("publish"):
                raise ValueError
            self.assertNotIn("done", stream.getvalue())
