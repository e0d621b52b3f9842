"""Each mutant by hand applies exactly once, the operators draw what they promise, and what fails
without a mutant kills none."""

import io
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tests.mutants import run
from tests.mutants.answers import ANSWERS
from tests.mutants.by_hand import BY_HAND
from tests.mutants.mutant import TESTS, Mutant, Test, tests_for
from tests.mutants.operators import FOLDERS, drawn, of_text
from tests.mutants.workbench import Workbench

ROOT = Path(__file__).resolve().parents[2]


class ByHand(unittest.TestCase):
    def test_each_applies_exactly_once(self):
        for mutant in BY_HAND:
            with self.subTest(mutant.name):
                text = (ROOT / mutant.file).read_text(encoding="utf-8")
                self.assertIsNone(mutant.wrong(text))
                self.assertNotIn("\n", mutant.find)

    def test_they_are_few(self):
        self.assertLessEqual(len(BY_HAND), 150)  # all else is drawn: each text here is one more to keep

    def test_each_has_a_name_of_its_own_and_tests_that_exist(self):
        self.assertEqual(len({mutant.name for mutant in BY_HAND}), len(BY_HAND))
        for mutant in BY_HAND:
            self.assertLessEqual(set(tests_for(mutant)), set(TESTS), mutant.name)

    def test_answers_are_of_texts_that_stand_there(self):
        for file, find, _ in ANSWERS:
            with self.subTest(file=file, find=find):
                self.assertEqual((ROOT / file).read_text(encoding="utf-8").count(find), 1)


class Operators(unittest.TestCase):
    def test_a_comparison_is_flipped_and_nothing_like_one_is(self):
        text = "  if (a < b && c->d != e) {\n  std::vector<int> v(x << 1);\n"
        self.assertEqual([mutant.replace for mutant in of_text("pusher/x.cpp", text)],
                         ["  if (a <= b && c->d != e) {", "  if (a < b && c->d == e) {"])

    def test_whole_statements_are_deleted_and_neighbours_swapped(self):
        text = "{\n  First();\n  Second();\n  return Third(\n      4);\n}\n"
        found = {(mutant.name.split(" ", 1)[1], mutant.replace)
                 for mutant in of_text("pusher/x.cpp", text)}
        self.assertEqual(found, {("statement deleted", "  ;\n"),
                                 ("statements swapped", "  Second();\n  First();\n")})

    def test_nothing_is_drawn_that_changes_nothing_or_cannot_build(self):
        text = ("{\n  row.at = now;\n  row.seen = kNever;\n}\n{\n  out.reserve(n);\n"
                "  FANLINE_CHECK(a < b, \"what\");\n  Queue& queue = queues_[n];\n}\n"
                "{\n  --open;\n  left = open;\n}\n")
        self.assertEqual([mutant.find for mutant in of_text("pusher/x.cpp", text)],
                         ["  row.at = now;\n", "  row.seen = kNever;\n", "  --open;\n",
                          "  --open;\n  left = open;\n", "  left = open;\n"])

    def test_what_reads_or_does_more_than_it_assigns_may_be_swapped(self):
        for one, other in (("row.id = ++last;", "row.at = now;"), ("row = Row{};", "row.at = now;"),
                           ("row.at = first = now;", "row.seen = now;")):
            with self.subTest(one):
                text = f"{{\n  {one}\n  {other}\n}}\n"
                self.assertIn(f"  {other}\n  {one}\n",
                              [mutant.replace for mutant in of_text("pusher/x.cpp", text)])

    def test_a_condition_at_the_end_makes_no_declaration_of_sql(self):
        text = "BEGIN\n  DELETE FROM log1 WHERE id = done;\nEND\n"
        self.assertEqual([mutant.replace for mutant in of_text("x.sql", text)], ["\n"])

    def test_lua_has_its_own_comparisons_and_statements(self):
        text = "drop(key, live)\nif a ~= b then\n  redis.call('DEL', key)\nend\n"
        self.assertEqual([mutant.name.split(" ", 1)[1] for mutant in of_text("x.lua", text)],
                         ["statement deleted", "comparison flipped", "statement deleted"])

    def test_a_seed_draws_the_same_from_the_same_tree_and_from_every_folder(self):
        found = drawn(ROOT, 1, 60)
        self.assertEqual(found, drawn(ROOT, 1, 60))
        self.assertNotEqual(found, drawn(ROOT, 2, 60))
        self.assertEqual(len(found), 60)
        self.assertEqual([mutant for mutant in drawn(ROOT, 1, 70) if mutant not in found],
                         drawn(ROOT, 1, 70)[60:])
        self.assertEqual({folder for folder in FOLDERS
                          if any(mutant.file.startswith(folder + "/") for mutant in found)},
                         set(FOLDERS))


class ScriptBench(Workbench):
    """Builds nothing: its test is a script that fails when x.cpp holds a mutant, and when its
    services are gone: the file $SERVICES."""

    def _set_up(self):
        program = self.folder / "build/release/bin/script"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n[ -e \"$SERVICES\" ] && grep -q harmless x.cpp && exit\n"
                           "echo '[  FAILED  ] Suite.Test'\nexit 1\n")
        program.chmod(0o755)
        (self.folder / "x.cpp").write_text("harmless = 1;\n")

    def _build(self, tests, timeout):
        return subprocess.CompletedProcess([], 0)


class Only(unittest.TestCase):
    def test_a_text_that_no_mutant_holds_is_wrong_usage(self):
        with mock.patch("sys.argv", ["run.py", "--only", "no such name"]), \
                mock.patch("sys.stderr", io.StringIO()) as said, \
                mock.patch.object(run, "LocalStack", side_effect=AssertionError):
            self.assertEqual(run.main(), 64)
        self.assertEqual(said.getvalue(), "no mutant's name or file holds 'no such name'\n")


class Services(unittest.TestCase):
    EQUAL = Mutant("changes nothing", "x.cpp", "= 1", "= 2", tests=("script",))
    FATAL = Mutant("is noticed", "x.cpp", "harmless", "harmful", tests=("script",))

    def setUp(self):
        # pylint: disable=consider-using-with
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.services, self.gone = self.root / "services", self.root / "gone"
        self.services.touch()
        for patch in (mock.patch.dict(TESTS, {"script": Test("script", services="plain")}),
                      mock.patch.object(run, "Workbench", ScriptBench),
                      mock.patch.object(run, "ROOT", self.root)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_mutant_is_killed_while_they_answer(self):
        done = dict(run.judged([self.EQUAL, self.FATAL], iter(()), [{"plain": {"SERVICES": self.services}}]))
        self.assertEqual({mutant.name: (outcome.result, outcome.by)
                          for mutant, outcome in done.items()},
                         {"changes nothing": ("survived", ""),
                          "is noticed": ("killed", "script Suite.Test")})

    def test_a_workbench_without_them_judges_nothing(self):
        with self.assertRaisesRegex(SystemExit, "script fails without any mutant"):
            list(run.judged([self.EQUAL], iter(()),
                            [{"plain": {"SERVICES": self.services}}, {"plain": {"SERVICES": self.gone}}]))

    def test_a_workbench_whose_services_died_kills_nothing(self):
        bench = ScriptBench(self.root, self.root / "tree", {"plain": {"SERVICES": self.services}})
        bench.prepare([self.EQUAL])
        self.assertEqual(bench.judge(self.EQUAL).result, "survived")
        self.services.unlink()
        with self.assertRaisesRegex(SystemExit, "do the services answer"):
            bench.judge(self.EQUAL)
