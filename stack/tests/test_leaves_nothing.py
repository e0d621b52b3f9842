"""However a stack ends, nothing of it is left: no process, no listening port, no folder."""

import os
import signal
import time
import unittest

from stack.tests.outside import OutsideStack
from stack.waiting import NotInTime, wait_until

# A grandchild in a session of its own: neither its parent's death nor its group's reaches it. It
# holds no output of ours, so that with-stack's end is not mistaken for its own.
RUNAWAY = "setsid sleep 1000 >/dev/null 2>&1 &"
SERVICES = 3


class LeavesNothing(unittest.TestCase):
    def start(self, script, folder=None):
        stack = OutsideStack(script, folder)
        self.addCleanup(stack.close)
        return stack

    def start_and_look(self, script):
        """Proves that what must later be gone was there: all services listen, all programs run."""
        stack = self.start(script).wait_for_program()
        self.assertEqual(len(stack.listening()), SERVICES)
        wait_until(lambda: len(stack.programs()) >= SERVICES + 2, 120, "the script and its runaway")
        return stack

    def assert_nothing_remains(self, stack, within=2):
        try:
            wait_until(lambda: not stack.remains(), within, "the stack to vanish")
        except NotInTime:
            self.fail(f"left behind: {stack.remains()}")

    def test_after_the_program_ended(self):
        stack = self.start(f"{RUNAWAY} echo said; exit 0")
        self.assertEqual(stack.wait_for_end(), (0, "said\n", ""))
        self.assertEqual(stack.programs(), [])  # at once, not when the watchdog comes round
        self.assert_nothing_remains(stack)

    def test_after_a_program_that_failed_and_its_code_is_passed_on(self):
        stack = self.start(f"{RUNAWAY} exit 7")
        code, _, errors = stack.wait_for_end()
        self.assertEqual(code, 7)
        self.assertRegex(errors, "ended with 7; logs of the services: .*/sh\n")
        self.assert_nothing_remains(stack)

    def test_after_control_c(self):
        stack = self.start_and_look(f"{RUNAWAY} sleep 1000")
        os.killpg(stack.process.pid, signal.SIGINT)
        self.assertEqual(stack.wait_for_end()[0], 130)
        self.assert_nothing_remains(stack)

    def test_after_control_c_in_the_middle_of_the_start(self):
        stack = self.start("exit 0")
        wait_until(stack.programs, 120, "the first service to be started")
        os.killpg(stack.process.pid, signal.SIGINT)
        code, _, errors = stack.wait_for_end()
        self.assertEqual((code, errors), (130, ""))
        # It may come before the stack can stop itself: then its watchdog does.
        self.assert_nothing_remains(stack, within=10)

    def test_after_control_c_as_soon_as_there_is_something_to_leave(self):
        # A few times: what is left behind here falls between the folder and its watchdog.
        for delay in (0, 0.01, 0.03, 0.06):
            stack = self.start("exit 0")
            wait_until(stack.folders, 120, "the stack's folder")
            time.sleep(delay)
            os.killpg(stack.process.pid, signal.SIGINT)
            code, _, errors = stack.wait_for_end()
            self.assertEqual((code, errors), (130, ""))
            self.assert_nothing_remains(stack, within=10)

    def test_after_sigterm(self):
        stack = self.start_and_look(f"{RUNAWAY} sleep 1000")
        stack.process.terminate()
        self.assertEqual(stack.wait_for_end()[0], 128 + signal.SIGTERM)
        self.assert_nothing_remains(stack)

    def test_after_the_harness_was_killed(self):
        stack = self.start_and_look(f"{RUNAWAY} sleep 1000")
        stack.process.kill()
        self.assert_nothing_remains(stack, within=10)

    def test_after_the_harness_was_killed_in_the_middle_of_the_start(self):
        stack = self.start("exit 0")
        wait_until(stack.programs, 120, "the first service to be started")
        stack.process.kill()
        self.assert_nothing_remains(stack, within=10)

    def test_services_die_with_the_harness_even_without_its_watchdog(self):
        stack = self.start("exec sleep 1000").wait_for_program()
        watchdog, = stack.watchdogs()
        os.kill(watchdog, signal.SIGKILL)
        stack.process.kill()
        wait_until(lambda: not stack.programs() + stack.listening(), 120, "the services to die")
        self.assertEqual(len(stack.remains()), 1)  # the folder, until the next stack there
        self.start("exit 0", stack.folder).wait_for_end()
        self.assert_nothing_remains(stack)
