"""A daemon under a supervisor that speaks systemd's protocol: what it is told from the start to the end."""

import unittest

from stack.local_stack import LocalStack, wait_until
from stack.notify import NotifySocket
from stack.ports import Ports
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl

WATCHDOG_S = 2
DRAIN_LIMIT_S, LEAVE_S = 7, 10


class Supervised(unittest.TestCase):
    """One life, in the order of the methods' names."""

    @classmethod
    def setUpClass(cls):
        cls.stack = LocalStack(say=lambda line: None)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        cls.feedctl = Feedctl(cls.stack)
        cls.supervisor = NotifySocket(cls.stack.logs / "notify")
        cls.addClassCleanup(cls.supervisor.close)
        ports = Ports()
        cls.addClassCleanup(ports.close)
        listen = f"127.0.0.1:{ports.take()}"
        cls.api = Daemon(cls.stack, ports, "fanline-api", "api",
                         ["--listen", listen, "--drain-limit", f"{DRAIN_LIMIT_S}s"], cls.supervisor.environment(WATCHDOG_S))
        cls.api.start()

    def test_1_it_says_what_it_waits_for_and_not_that_it_is_ready(self):
        self.supervisor.wait_for("STATUS")
        self.assertIn("feedctl init", self.supervisor.said("STATUS")[-1])
        self.assertEqual(self.supervisor.said("READY") + self.supervisor.said("WATCHDOG"), [])

    def test_2_it_is_ready_once_when_it_is_and_its_loop_is_heard_of_often_enough(self):
        self.feedctl.run("init")
        self.feedctl.run("topics", "create")
        self.supervisor.wait_for("READY", "1")
        self.supervisor.wait_for("STATUS", "ready")
        self.api.wait_ready()
        heard = len(self.supervisor.said("WATCHDOG"))
        self.wait_for_more(heard + 6)
        self.assertEqual(self.supervisor.said("READY"), ["1"])

    def wait_for_more(self, count):
        wait_until(lambda: len(self.supervisor.said("WATCHDOG")) >= count, 30, "the loop to be heard of")

    def test_3_a_service_that_is_away_shows_and_the_loop_turns_on(self):
        away = self.stack.mysql[1]
        away.pause()
        self.addCleanup(away.resume)
        wait_until(lambda: self.supervisor.said("STATUS")[-1].startswith("ready; away: mysql_1"), 30, "it to be noticed")
        self.wait_for_more(len(self.supervisor.said("WATCHDOG")) + 4)
        away.resume()
        self.supervisor.wait_for("STATUS", "ready")

    def test_4_a_stop_says_how_long_it_may_take(self):
        self.assertEqual(self.api.stop(), 0)
        self.assertEqual(self.supervisor.said("STOPPING"), ["1"])
        self.assertEqual(self.supervisor.said("EXTEND_TIMEOUT_USEC"), [str((DRAIN_LIMIT_S + LEAVE_S) * 1_000_000)])

    def test_5_the_supervisor_never_waited_longer_than_it_would(self):
        heard = self.supervisor.times("WATCHDOG")
        longest = max(later - earlier for earlier, later in zip(heard, heard[1:]))
        print(f"WATCHDOG=1 {len(heard)} times, at most {longest:.2f} s apart, of {WATCHDOG_S} s allowed")
        self.assertLess(longest, WATCHDOG_S)
