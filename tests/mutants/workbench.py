"""A copy of the tree in which mutants are built and tested, one after the other. The tree itself is
never touched."""

import os
import re
import shutil
import subprocess
import time
from typing import NamedTuple

from tests.mutants.mutant import TESTS, tests_for

_COPIED = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
_BUILD_SECONDS, _TEST_SECONDS = 900, 600  # at most


class Outcome(NamedTuple):
    result: str  # killed, survived, does not build, no answer in time
    by: str = ""  # the first test that failed
    seconds: float = 0.0

    @property
    def killed(self):
        return self.result == "killed"


class Workbench:
    def __init__(self, root, folder, services=None):
        """`services`: the environment that tells tests of a stack, by its kind. They find it as
        the mutant before left it; each clears what it uses."""
        self.root, self.folder, self.services = root, folder, services or {}
        self._seconds = {}  # that a test may take

    def _set_up(self):
        self._copy()
        subprocess.run(["cmake", "--preset", "release", "-DCMAKE_UNITY_BUILD=OFF"], cwd=self.folder, check=True,
                       capture_output=True)

    def _copy(self):
        """Copies what git knows of the tree or does not ignore. Unchanged files keep their time,
        so that they are not built anew."""
        names = subprocess.run(_COPIED, cwd=self.root, check=True, capture_output=True).stdout
        wanted = {name for name in names.decode().split("\0") if name}
        for name in wanted:
            source, target = self.root / name, self.folder / name
            if not source.exists():
                continue
            if source.is_dir():  # a link to a folder, which is copied by itself
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.is_symlink():
                    target.symlink_to(os.readlink(source))
                continue
            if not target.exists() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        (self.folder / "build").mkdir(exist_ok=True)
        for tools in ("kafka-libs", "tools"):
            link = self.folder / "build" / tools
            if not link.exists():
                link.symlink_to(self.root / "build" / tools)

    def prepare(self, mutants):
        """Builds the tree without a mutant and runs the tests: a test that fails by itself kills
        nothing, and ends the run."""
        self._set_up()
        filters = {}
        for mutant in mutants:
            for test in tests_for(mutant):
                filters.setdefault(test, set()).add(mutant.filter)
        built = self._build(sorted(filters), timeout=None)
        if built.returncode != 0:
            raise SystemExit(f"the tree does not build: {_tail(built)}")
        for test, used in sorted(filters.items()):
            if TESTS[test].services:
                shutil.copy(self._program(test), self._program(test, unchanged=True))
            begin = time.monotonic()
            failure = self._failure(test, "" if "" in used else ":".join(sorted(used)))
            self._seconds[test] = min(_TEST_SECONDS, 60 + 5 * (time.monotonic() - begin))
            if failure:
                raise SystemExit(f"{test} fails without any mutant: {failure}")

    def judge(self, mutant):
        """Applies it, builds, runs its tests until one fails, and takes it away again. Every
        test fails when services have died: a test that needs them must then pass without the
        mutant, or the run ends."""
        path, begin = self.folder / mutant.file, time.monotonic()
        text = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(text), encoding="utf-8")
        try:
            outcome = self._judged(mutant)
        finally:
            path.write_text(text, encoding="utf-8")
        if outcome.killed:
            self._check_services(outcome.by, mutant)
        return outcome._replace(seconds=time.monotonic() - begin)

    def _check_services(self, by, mutant):
        name, failed = by.split(" ")[:2]
        only = failed if "." in failed else mutant.filter  # a suite may fail before its first test
        if TESTS[name].services and (failure := self._failure(name, only, unchanged=True)):
            raise SystemExit(f"{failure} fails without the mutant, too, that it was to kill "
                             f"({mutant.name}): do the services answer?")

    def _judged(self, mutant):
        try:
            for test in tests_for(mutant):
                # One by one: what the first kills need not be built into the others.
                if self._build([test], _BUILD_SECONDS).returncode != 0:
                    return Outcome("does not build")
                failure = self._failure(test, mutant.filter)
                if failure:
                    return Outcome("killed", failure)
        except subprocess.TimeoutExpired:
            return Outcome("no answer in time")
        return Outcome("survived")

    def _build(self, tests, timeout):
        targets = [TESTS[test].program for test in tests]
        return subprocess.run(["cmake", "--build", "build/release", "--parallel", "2", "--target",
                               *targets], cwd=self.folder, capture_output=True, text=True,
                              timeout=timeout)

    def _program(self, name, unchanged=False):
        """The test as it was last built, or as it was built without a mutant."""
        return self.folder / "build/release/bin" / (
            TESTS[name].program + (".unchanged" if unchanged else ""))

    def _failure(self, name, only, unchanged=False):
        """The first of the program's tests that failed, or None."""
        test = TESTS[name]
        if test.module:
            return self._failure_of_module(name, test)
        command = [self._program(name, unchanged), *test.arguments, "--gtest_fail_fast"]
        if only:
            command.append(f"--gtest_filter={only}")
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                             errors="replace", timeout=self._seconds.get(name, _TEST_SECONDS),
                             env={**os.environ, **self.services.get(test.services, {}),
                                  **test.environment})
        if run.returncode == 0:
            return None
        if failed := re.search(r"\[  FAILED  \] ([\w./]+)", run.stdout):
            return f"{name} {failed[1]}"
        begun = re.findall(r"\[ RUN      \] ([\w./]+)", run.stdout)
        return f"{name} {begun[-1] if begun else ''} (ended with {run.returncode})"

    def _failure_of_module(self, name, test):
        run = subprocess.run(["/usr/bin/python3", "-m", "unittest", "--failfast", test.module],
                             cwd=self.folder, capture_output=True, text=True, errors="replace",
                             timeout=self._seconds.get(name, _TEST_SECONDS),
                             env={**os.environ, "FANLINE_BIN": self.folder / "build/release/bin"})
        if run.returncode == 0:
            return None
        failed = re.search(r"^(?:FAIL|ERROR): (\w+)", run.stderr, re.M)
        return f"{name} {failed[1] if failed else f'(ended with {run.returncode})'}"


def _tail(run):
    return "\n".join((run.stdout + run.stderr).splitlines()[-20:])
