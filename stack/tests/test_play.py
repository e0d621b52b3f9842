"""`make up` and `make down`, and setup before them."""

import os
import shlex
import signal
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from stack.tests.outside import MEMORY, accepts, ports_of
from stack.waiting import wait_until
from stack.workspace import ROOT


class Play(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fanline-test-", dir=MEMORY)
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.env_file = self.folder / "env"
        self.addCleanup(self.play, "down")

    def play(self, what):
        done = subprocess.run([ROOT / "stack" / "play", what, "--folder", self.folder],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ports(self):
        lines = self.env_file.read_text().splitlines()
        return ports_of(dict(shlex.split(line)[1].split("=", 1) for line in lines))

    def supervisor(self):
        return int((self.folder / "play.pid").read_text())

    def test_a_stack_stays_up_until_down_and_is_started_once(self):
        self.assertIn("make down", self.play("up"))
        ports, supervisor = self.ports(), self.supervisor()
        self.assertTrue(all(map(accepts, ports)))
        self.assertEqual(stat.S_IMODE(self.env_file.stat().st_mode), 0o600)

        self.assertIn("up already", self.play("up"))
        self.assertEqual((self.ports(), self.supervisor()), (ports, supervisor))

        self.assertIn("is down", self.play("down"))
        self.assertFalse(any(map(accepts, ports)) or self.env_file.exists())
        self.assertIn("No stack", self.play("down"))

    def test_a_killed_supervisor_takes_its_stack_along_and_up_works_again(self):
        self.play("up")
        ports = self.ports()
        os.kill(self.supervisor(), signal.SIGKILL)
        wait_until(lambda: not any(map(accepts, ports)), 120, "its services to die")
        self.assertIn("make down", self.play("up"))
        self.assertTrue(all(map(accepts, self.ports())))


class Setup(unittest.TestCase):
    def test_says_and_does_nothing_when_all_is_there_even_twice_at_once(self):
        jars = sorted((ROOT / "build" / "kafka-libs").iterdir())
        both = [subprocess.Popen([ROOT / "stack" / "setup"], stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        for setup in both:
            _, said = setup.communicate(timeout=180)
            self.assertEqual(setup.returncode, 0)
            self.assertNotRegex(said, "installing|fetching")
        self.assertEqual(sorted((ROOT / "build" / "kafka-libs").iterdir()), jars)
