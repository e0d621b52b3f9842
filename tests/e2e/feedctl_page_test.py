"""docs/feedctl.md says what feedctl --help says: the same commands, options, defaults and codes."""

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
SHARED = ("Kafka", "Redis", "Timelines", "MariaDB")
OF_ALL_PROGRAMS = {"--config", "--check-config", "--version", "--help"}


def help_of(*words):
    return subprocess.run([BIN / "feedctl", *words, "--help"], capture_output=True, text=True,
                          timeout=60, check=True).stdout


def commands():
    """Command -> summary."""
    def listed(text):
        block = re.search(r"\nCommands:\n((?:  .+\n)+)", text)
        return dict(re.findall(r"  (\S+)\s+(.+)\n", block[1])) if block else {}

    found = {}
    for name, summary in listed(help_of()).items():
        inner = listed(help_of(name))
        found.update({f"{name} {word}": text for word, text in inner.items()}
                     if inner else {name: summary})
    return found


def options_of(command):
    """Flag -> default or "required", without those of every program."""
    text = help_of(*command.split()).split("\nAlways:")[0]
    entries = re.findall(r"\n  (--[\w-]+).*\n        .+\n        (.+)", text)
    return {flag: "required" if facts.endswith("required") else facts.rpartition("default ")[2]
            for flag, facts in entries}


def table_of(text):
    """The table of options: flag -> what its second column says."""
    return dict(re.findall(r"^\| `(--[\w-]+)` \| (.*?) \|", text, re.M))


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
        shown = examples()
        self.assertGreaterEqual(len(shown), 8)
        for command, answer in shown:
            self.assertEqual(without_times(said(command)), without_times(answer), command)
            wait_until(lambda: relations.pending() == 0, 60, "the mirror")


class FeedctlPage(unittest.TestCase):
    def test_lists_every_command_with_its_summary(self):
        page = dict(re.findall(r"^\| \[`(.+?)`\]\(#.+?\) \| (.+) \|$", PAGE, re.M))
        self.assertEqual(page, commands())

    def test_links_of_commands_lead_to_their_sections(self):
        for command, anchor in re.findall(r"^\| \[`(.+?)`\]\(#(.+?)\)", PAGE, re.M):
            headings = [heading for heading in re.findall(r"^## (.+)$", PAGE, re.M)
                        if command in heading.split(", ")]
            self.assertEqual([heading.replace(",", "").replace(" ", "-") for heading in headings],
                             [anchor])

    def test_tells_each_commands_options_and_defaults(self):
        shared = {service: table_of(re.search(rf"\*\*{service}\*\*\n\n((?:\|.*\n)+)", PAGE)[1])
                  for service in SHARED}
        for command in commands():
            with self.subTest(command):
                section = section_of(command)
                told = table_of(section)
                if command == "delete":
                    del told["--version"]
                if command == "unfollow":
                    del told["--following-limit"]
                takes = re.search(r"Also\s+takes?\s+the\s+options\s+of\s([\w\s,]+)", section)
                for service in SHARED:
                    if takes and service in takes[1]:
                        told.update(shared[service])
                self.assertEqual(told, options_of(command))

    def test_tells_every_exit_code(self):
        told = set(re.findall(r"^\| (\d+) \|", PAGE, re.M))
        self.assertEqual(told, set(re.findall(r"[:;]\s(\d+) ", help_of().split("Usage")[0])))

    def test_names_no_option_that_is_not_there(self):
        known = OF_ALL_PROGRAMS.union(*(options_of(command) for command in commands()))
        self.assertLessEqual(set(re.findall(r"--[a-z][\w-]+", PAGE)), known)

    def figures(self, title):
        """What the table of this title names."""
        table = section_of("audit").split(f"| {title} | meaning |")[1].split("\n\n")[0]
        return set(re.findall(r"`(\w+)`", re.sub(r"\|[^|]*\|$", "", table, flags=re.M)))

    def test_tells_every_figure_of_an_audit(self):
        source = (ROOT / "audit" / "findings.cpp").read_text()
        self.assertEqual(self.figures("figure"), set(re.findall(r'\{"(\w+)", &Findings', source)))

    def test_tells_every_figure_of_a_repair(self):
        source = (ROOT / "feedctl" / "auditing" / "findings_text.cpp").read_text()
        self.assertEqual(self.figures("of the repair"), set(re.findall(r'\{"(\w+)", &RepairResult', source)))


if __name__ == "__main__":
    unittest.main()
