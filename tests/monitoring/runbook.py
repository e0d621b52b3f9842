"""What the runbooks say to type, typed as it stands there."""

import os
import re
import subprocess

from pages import markdown
from stack.programs import BIN
from tests.e2e.decoding import ROOT
from tests.e2e.page_commands import typed

PAGES = ROOT / "docs" / "runbooks"
_WITHIN = 120  # seconds


def section(alert):
    """What the runbooks say about the alert."""
    for page in sorted(PAGES.glob("*.md")):
        found = re.search(rf"^## {alert}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.S | re.M)
        if found:
            return found[1]
    raise AssertionError(f"no runbook is about {alert}")


def command_of(alert, begin, language="sh"):
    """The one command of the alert's section that is so, or begins so."""
    commands = [line for block in markdown.blocks(section(alert), language) for line in typed(block)]
    found = ([command for command in commands if command == begin]
             or [command for command in commands if command.startswith(begin)])
    assert len(found) == 1, f"{alert}: {len(found)} of {commands} begin with {begin}"
    return found[0]


def type_command(stack, command, written=None, codes=(0,)):
    """What it prints. `written`: text of the page -> what is typed instead; `codes`: what it may end with."""
    for shown, instead in (written or {}).items():
        assert shown in command, f"{command} has no {shown}"
        command = command.replace(shown, str(instead))
    ended = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, timeout=_WITHIN,
                           env={**os.environ, **stack.env, "PATH": f"{BIN}:{os.environ['PATH']}"})
    assert ended.returncode in codes, f"{command} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended.stdout
