"""docs/feedctl.md has a section for each command and names no others; --help says what each option is for."""

import os
import re
import subprocess
import unittest

from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.daemon import Daemon
from stack.programs.relations import Relations
from stack.waiting import wait_until
from tests.e2e.decoding import ROOT

PAGE = (ROOT / "docs" / "feedctl.md").read_text()
OF_ALL_PROGRAMS = {"--config", "--check-config", "--version", "--help"}


def help_of(*words):
    return subprocess.run([BIN / "feedctl", *words, "--help"], capture_output=True, text=True,
                          timeout=60, check=True).stdout


def listed(text):
    """Command -> summary."""
    block = re.search(r"\nCommands:\n((?:  .+\n)+)", text)
    return dict(re.findall(r"  (\S+)\s+(.+)\n", block[1])) if block else {}


def commands():
    """Command -> what --help says of its options."""
    return {command: help_of(*command.split()).split("\nAlways:")[0]
            for name in listed(help_of())
            for command in [f"{name} {word}" for word in listed(help_of(name))] or [name]}


def options_of(text):
    return re.findall(r"\n  (--[\w-]+)", text)


def section_of(command):
    """Text below the heading that names it, up to the next."""
    for heading, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, re.M):
        if command in heading.split(", "):
            return text
    raise AssertionError(f"no section about {command}")


def examples():
    """(command, what it says) as the page shows them, in their order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.S | re.M)
    return [pair for block in blocks
            for pair in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)+)", block, re.M)]


def without_times(said):
    said = re.sub(r"\b1\d{15}\b", "VERSION", said)
    return re.sub(r"\b2\d{3}-\d\d-\d\dT[\d:.]+Z", "TIME", said)


class Examples(unittest.TestCase):
    def test_commands_say_what_the_page_shows(self):
        stack = LocalStack(say=lambda line: None)
        self.addCleanup(stack.stop)
        stack.start()
        env = {**os.environ, **stack.env, "PATH": f"{BIN}:{os.environ['PATH']}"}

        def said(command):
            return subprocess.run(command.split(), env=env, text=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

        said("feedctl init")
        said("feedctl topics create")
        ports = Ports()
        self.addCleanup(ports.close)
        Daemon(stack, ports, "fanline-mirror", "mirror").start().wait_ready()
        relations = Relations(stack.mysql)
        relations.change(5, 7, True)
        shown = examples()
        self.assertGreaterEqual(len(shown), 3)
        for command, answer in shown:
            wait_until(lambda: relations.pending() == 0, 60, "the mirror")
            self.assertEqual(without_times(said(command)), without_times(answer), command)


class FeedctlPage(unittest.TestCase):
    def test_has_a_section_about_every_command_and_about_no_other(self):
        headings = [heading for heading in re.findall(r"^## (.+)$", PAGE, re.M) if heading != "What all commands share"]
        self.assertEqual(sorted(", ".join(headings).split(", ")), sorted(commands()))

    def test_help_says_of_every_option_what_it_is_for_and_its_default(self):
        for command, text in commands().items():
            told = re.findall(r"\n  (--[\w-]+).*\n        \w.*\n        FANLINE_\w+, .*(?:required|default .+)", text)
            self.assertEqual(told, options_of(text), command)

    def test_tells_every_exit_code(self):
        told = set(re.findall(r"^\| (\d+) \|", PAGE, re.M))
        self.assertEqual(told, set(re.findall(r"[:;]\s(\d+) ", help_of().split("Usage")[0])))

    def test_names_no_option_that_is_not_there(self):
        known = OF_ALL_PROGRAMS.union(*map(options_of, commands().values()))
        self.assertLessEqual(set(re.findall(r"--[a-z][\w-]+", PAGE)), known)

    def figures(self, title):
        """What the table of this title names."""
        table = section_of("audit").split(f"| {title} | meaning |")[1].split("\n\n")[0]
        return set(re.findall(r"`(\w+)`", re.sub(r"\|[^|]*\|$", "", table, flags=re.M)))

    def test_tells_every_figure_of_an_audit(self):
        source = (ROOT / "audit" / "findings.h").read_text()
        self.assertEqual(self.figures("figure"), set(re.findall(r'\{"(\w+)", &Findings', source)))

    def test_tells_every_figure_of_a_repair(self):
        source = (ROOT / "feedctl" / "auditing" / "findings_text.cpp").read_text()
        self.assertEqual(self.figures("of the repair"), set(re.findall(r'\{"(\w+)", &RepairResult', source)))
