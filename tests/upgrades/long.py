"""Builds the first version in a worktree of its own, and runs what needs its programs: python3 -m tests.upgrades.long"""

import os
import subprocess
import sys

from bench.against import ROOT, built
from tests.upgrades import FIRST

TESTS = ("tests.upgrades.backwards_test", "tests.upgrades.rolling_test")


def main():
    folder = built(FIRST, lambda line: print(line, flush=True), with_bench=False)
    return subprocess.call([sys.executable, "-m", "unittest", "-v", *TESTS], cwd=ROOT,
                           env={**os.environ, "FANLINE_FIRST_BIN": str(folder / "build" / "release" / "bin")})


if __name__ == "__main__":
    sys.exit(main())
