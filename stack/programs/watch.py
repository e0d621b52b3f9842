"""feedctl audit --watch: compares live timelines with the truth beside a fleet."""

from stack.programs.daemon import Daemon


class Watch(Daemon):
    def __init__(self, stack, ports, name="watch", args=()):
        super().__init__(stack, ports, "feedctl", name)
        self._args = ["audit", "--watch", *self._args, *args]
