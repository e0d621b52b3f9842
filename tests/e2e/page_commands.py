"""The commands of a page, run in their order by one shell, as a reader types them."""

import re

from pages import markdown
from stack.programs import BIN
from stack.waiting import wait_until
from tests.e2e.decoding import ROOT


class PageCommands:
    """`title`: the section of the page. `written`: text of the page -> what is typed instead. Programs that a command leaves
    in the background end with the stack. A block that ends with another code than 0 ends them all."""

    def __init__(self, stack, page, title, env=None, written=None):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        self.blocks = markdown.blocks(markdown.section(text, title), "sh")
        self._folder = stack.logs / "page"
        self._folder.mkdir()
        self._next = 0
        lines = ["set -eu", f"PATH={BIN}:$PATH"]
        for number, block in enumerate(self.blocks):
            for shown, typed in (written or {}).items():
                block = block.replace(shown, typed)
            mark = self._folder / str(number)
            lines += [f"until [ -e {mark}.go ]; do sleep 0.05; done", f"{{ {block}\n}} > {mark}.out", f"touch {mark}.done"]
        script = self._folder / "script"
        script.write_text("\n".join([*lines, "wait", ""]), encoding="utf-8")
        self._shell = stack.spawn("page", ["/bin/bash", script], env, cwd=ROOT)

    def run_next(self, timeout=120):
        """The next block; what it printed."""
        mark, block = self._folder / str(self._next), self.blocks[self._next]
        self._next += 1
        mark.with_suffix(".go").touch()
        wait_until(lambda: mark.with_suffix(".done").exists() or not self._shell.running, timeout, f"what the page says:\n{block}")
        if not mark.with_suffix(".done").exists():
            raise AssertionError(f"ended with {self._shell.exit_code}:\n{block}\n{self._shell.tail()}")
        return mark.with_suffix(".out").read_text(encoding="utf-8")

    @property
    def left(self):
        return len(self.blocks) - self._next


def typed(text):
    """The commands of a block, without comments and blanks."""
    return [" ".join(re.sub(r"(^|\s)#.*", "", line).split()) for line in text.splitlines() if line.strip()]
