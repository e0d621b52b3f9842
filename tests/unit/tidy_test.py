"""The rules of tests/unit/tidy.py, over this repository and over trees made to break them."""

import tempfile
import unittest
from pathlib import Path

from tests.unit import tidy

ROOT = Path(__file__).resolve().parents[2]


class Repository(unittest.TestCase):
    """One test per rule, so that each failure stands alone; made below."""

    def test_is_all_there(self):
        paths = tidy.Tree(ROOT).paths
        for path in ("fanline/model/member.h", "tests/unit/tidy.py", "docs/producers.md", "Makefile"):
            self.assertIn(path, paths)
        self.assertFalse([path for path in paths if path.startswith(("build/", ".git/"))])


def check(rule):
    def test(self):
        if rule is tidy.formatting and not tidy.can_check_format():
            self.skipTest(f"{tidy.CLANG_FORMAT} is not installed")
        violations = list(rule(tidy.Tree(ROOT)))
        if violations:
            self.fail("\n" + tidy.report(rule, violations))
    return test


for _rule in tidy.RULES:
    setattr(Repository, f"test_{_rule.__name__}", check(_rule))


class Rules(unittest.TestCase):
    def broken(self, rule, files):
        """The (path, line) a rule finds in a tree of these files."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                file = Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return [(violation.path, violation.line) for violation in rule(tidy.Tree(root))]

    def test_every_rule_has_a_reason_and_prints_it(self):
        for rule in tidy.RULES:
            reason = rule.__doc__.splitlines()[0]
            self.assertGreater(len(reason), 20)
            text = tidy.report(rule, [tidy.Violation("a/b.cpp", 7, "is wrong")])
            self.assertEqual(text, f"a/b.cpp:7: is wrong\n{rule.__name__}: {reason}")

    def includes_allowed(self, path, header):
        found = self.broken(tidy.include_direction, {path: f'#pragma once\n#include "{header}"\n'})
        self.assertIn(found, ([], [(path, 2)]))
        return not found

    def test_includes_point_one_way(self):
        # One of each kind; who may include whom is MAY_INCLUDE itself.
        table = [
            ("fanline/base/a.h", "fanline/base/b.h", True),
            ("fanline/base/a.h", "fanline/model/b.h", False),
            ("fanline/wire/a.cpp", "schemas/proto/hint.pb.h", True),
            ("fanline/model/a.cpp", "schemas/proto/hint.pb.h", False),
            ("fanline/model/a.h", "daemon/observe/log.h", False),
            ("fanline/model/a.cpp", "b.h", False),
            ("fanline/ports/a.h", "fanline/consuming/b.h", False),
            ("fanline/consuming/a.h", "fanline/ports/b.h", True),
            ("mirror/a.h", "fanline/consuming/b.h", True),
            ("daemon/a.cpp", "http/server.h", True),
            ("http/a.cpp", "daemon/observe/log.h", False),
            ("backends/kafka/a.cpp", "backends/kafka/errors.h", True),
            ("backends/kafka/a.cpp", "backends/redis/keys.h", False),
            ("dispatcher/dispatcher.cpp", "dispatcher/limits.h", True),
            ("dispatcher/dispatcher.cpp", "daemon/observe/log.h", False),
            ("dispatcher/dispatcher.cpp", "backends/kafka/consumer.h", False),
            ("dispatcher/main.cpp", "backends/kafka/consumer.h", True),
            ("dispatcher/config.h", "daemon/options/options.h", True),
            ("dispatcher/prometheus_metrics.h", "daemon/observe/metrics.h", True),
            ("dispatcher/main.cpp", "pusher/limits.h", False),
            ("api/http_server.cpp", "daemon/observe/log.h", False),
            ("feedctl/commands/audit.cpp", "timeline/rebuild.h", True),
            ("feedctl/commands/audit.cpp", "pusher/pusher.h", False),
            ("tests/sim/fleet.cpp", "pusher/pusher.h", True),
        ]
        for path, header, allowed in table:
            self.assertEqual(self.includes_allowed(path, header), allowed, (path, header))

    def test_client_libraries_stay_in_their_adapters(self):
        table = [
            ("backends/kafka/a.cpp", "librdkafka/rdkafka.h", True),
            ("backends/redis/a.cpp", "hiredis/hiredis.h", True),
            ("backends/mysql/a.cpp", "cppconn/driver.h", True),
            ("backends/mysql/a.cpp", "mysql_connection.h", True),
            ("http/a.cpp", "boost/asio/post.hpp", True),
            ("bench/a.cpp", "hiredis/hiredis.h", True),
            ("tests/adapters/redis/a.cpp", "hiredis/hiredis.h", True),
            ("tests/integration/a.cpp", "hiredis/hiredis.h", True),
            ("backends/redis/a.cpp", "librdkafka/rdkafka.h", False),
            ("backends/kafka/a.cpp", "mariadb/mysql.h", False),
            ("pusher/main.cpp", "hiredis/hiredis.h", False),
            ("fanline/a.h", "cppconn/driver.h", False),
            ("daemon/a.cpp", "mysql/mysql.h", False),
            ("api/a.cpp", "boost/asio/post.hpp", False),
            ("tests/unit/a_test.cpp", "librdkafka/rdkafka.h", False),
        ]
        for path, header, allowed in table:
            found = self.broken(tidy.client_libraries, {path: f"#include <{header}>\n"})
            self.assertEqual(found, [] if allowed else [(path, 1)], (path, header))

    def test_a_folder_holds_thirty_files_and_what_is_below_counts_for_itself(self):
        files = {f"pusher/f{i}.{end}": "" for i in range(15) for end in ("h", "cpp")}
        files |= {f"pusher/lanes/f{i}.h": "" for i in range(30)} | {"pusher/README.md": ""}
        self.assertEqual(self.broken(tidy.small_rooms, files), [])
        self.assertEqual(self.broken(tidy.small_rooms, files | {"pusher/one_more.h": ""}),
                         [("pusher", 1)])

    def test_files_do_not_include_each_other_by_any_detour(self):
        line = '#include "{}"\n'.format
        found = self.broken(tidy.no_include_loops, {
            "mirror/a.h": "", "mirror/a.cpp": line("mirror/a.h") + line("mirror/b.h"),
            "mirror/b.h": line("mirror/c.h"), "mirror/c.h": "", "mirror/c.cpp": line("mirror/a.h"),
            "mirror/d.h": line("mirror/a.h"), "mirror/d.cpp": line("mirror/d.h"),
        })
        self.assertEqual(found, [("mirror/a", 1)])

    def test_folders_do_not_include_each_other(self):
        line = '#include "{}"\n'.format
        found = self.broken(tidy.one_way_folders, {
            "api/a.h": line("api/in/b.h"), "api/in/b.h": line("api/in/c.h"),
            "api/in/c.h": "", "api/in/c.cpp": line("api/e.h"), "api/e.h": line("http/f.h"),
            "http/f.h": "",
        })
        self.assertEqual(found, [("api", 1)])

    def test_a_function_has_seventy_lines(self):
        lines = "  F();\n"
        text = (f"namespace a {{\nclass B {{\n  B()\n  : c{{1}}, d({{}}) {{\n{lines * 67}  }}\n"
                f"  void F() {{\n{lines * 68}  }}\n"
                f"  void G() const {{\n{lines * 69}  }}\n}};\n}}\n"
                f"const T kTable[] = {{\n{lines * 80}}};\n"
                f"enum E {{\n{lines * 80}}};\n")
        self.assertEqual(self.broken(tidy.short_functions, {"pusher/a.h": text}), [("pusher/a.h", 143)])
        self.assertEqual(list(tidy.functions(text)), [(3, 70), (73, 70), (143, 71)])

    def test_what_looks_like_a_brace_is_none(self):
        text = ('// {\n#define A {\nint F(char c) {\n  const auto s = R"x({ ")x";\n'
                "  return c == '{' ? 1'000 : G(\"{\", [] { return 1; });\n}\n")
        self.assertEqual(list(tidy.functions(text)), [(3, 4)])

    def test_sources_and_tests_are_in_a_cmake_list(self):
        found = self.broken(tidy.built_files, {
            "pusher/CMakeLists.txt": "add_library(x lane.cpp sub/page.cpp)\n",
            "pusher/lane.cpp": "", "pusher/sub/page.cpp": "", "pusher/forgotten.cpp": "",
            "pusher/ane.cpp": "", "pusher/sub/lane.cpp": "",
            "tests/e2e/CMakeLists.txt": "fanline_e2e_test(named_test)\n",
            "tests/e2e/named_test.py": "", "tests/e2e/forgotten_test.py": "",
            "tests/e2e/help.py": "",
            "bench/orphan.cpp": "",
        })
        self.assertEqual(sorted(found), [
            ("bench/orphan.cpp", 1), ("pusher/ane.cpp", 1), ("pusher/forgotten.cpp", 1),
            ("pusher/sub/lane.cpp", 1), ("tests/e2e/forgotten_test.py", 1)])

    def test_documents_name_tests_that_exist(self):
        found = self.broken(tidy.named_tests, {
            "tests/unit/a_test.cpp": "TEST(Clock, Ticks) {}\nTEST_F(Clock, Stops) {}\n",
            "docs/page.md": "`Clock.Ticks` and `Clock.Stops`\n`Clock.Rings`\n",
        })
        self.assertEqual(found, [("docs/page.md", 2)])

    def test_documents_name_files_that_exist(self):
        found = self.broken(tidy.documents, {
            "fanline/model/ids.h": "", "stack/with-stack": "", "docs/other.md": "",
            "README.md": "`fanline/model/ids.h`, `ids.h`, `stack/with-stack PROGRAM`, `fanline/*/*.h`\n"
                         "`application/json`, `topic/partition/offset`, `build/x.h`, `my.conf`\n"
                         "[other](docs/other.md#part) and [away](https://example.com/gone.md)\n"
                         "`fanline/gone.h`\n"
                         "run `stack/with-stack fanline/away.py`\n"
                         "`gone.cpp` and `fanline/*.cpp`\n"
                         "[gone](docs/gone.md)\n"
                         "```\n`fanline/in_a_fence.h`\n```\n",
            "docs/deep/page.md": "[up](../other.md) [down](other.md)\n",
            "schemas/redis/README.md": "`fanline/gone.h`\n",
            "tests/notes.md": "`fanline/gone.h`\n",
        })
        self.assertEqual(sorted(found), [
            ("README.md", 4), ("README.md", 5), ("README.md", 6), ("README.md", 6),
            ("README.md", 7), ("docs/deep/page.md", 1), ("schemas/redis/README.md", 1)])

    def test_unit_and_simulation_tests_do_not_sleep(self):
        found = self.broken(tidy.no_sleep, {
            "tests/unit/a_test.cpp": "\nstd::this_thread::sleep_for(1ms);\n",
            "tests/sim/b_test.cpp": "usleep (10);\n",
            "tests/unit/c_test.py": "import time\ntime.sleep(1)\n",
            "tests/unit/fine_test.cpp": "// nothing sleeps here\nTEST(A, NeverSleeps) {}\n",
            "tests/integration/d_test.cpp": "sleep(1);\n",
        })
        self.assertEqual(sorted(found), [
            ("tests/sim/b_test.cpp", 1), ("tests/unit/a_test.cpp", 2),
            ("tests/unit/c_test.py", 2)])

    def test_comments_are_plain(self):
        found = self.broken(tidy.plain_words, {
            "audit/a.h": "// Of whom nothing is known.\nint a;  // or one that is none\n",
            "http/b.cpp": "\n// Programs of before run on.\n",
            "fanline/fine.h": "// Out of what is known: before that, none.\n",
            "demo/fine.cpp": 'Log("Of what");\n',
        })
        self.assertEqual(sorted(found), [("audit/a.h", 1), ("audit/a.h", 2), ("http/b.cpp", 2)])

    def test_a_files_own_names_hide_no_headers(self):
        found = self.broken(tidy.no_hidden_names, {
            "audit/a.h": "// A.\ninline constexpr int kOne{1};\nstruct World {};\n",
            "audit/b.cpp": "namespace {\n\nconstexpr int kTwo{2}, kOne{2};\nstruct World {};\n}  // namespace\n",
            "audit/fine.cpp": "constexpr int kOne{2};\nnamespace {\nvoid Do() {\n  int kOne{3};\n}\n}  // namespace\n",
            "http/fine.cpp": "namespace {\nstruct World {};\n}  // namespace\n",
        })
        self.assertEqual(sorted(found), [("audit/b.cpp", 3), ("audit/b.cpp", 4)])

    def test_nothing_is_left_for_later(self):
        found = self.broken(tidy.no_leftovers, {
            "pusher/a.cpp": "int a;  // TODO: more\n", "docs/b.md": "\nFIXME\n",
            "Makefile": "# XXX\n", "pusher/fine.cpp": "int kTodos, METODOS;\n",
            "data.txt": "TODO\n"})
        self.assertEqual(sorted(found), [("Makefile", 1), ("docs/b.md", 2), ("pusher/a.cpp", 1)])

    def test_a_member_of_a_timeline_is_written_and_read_in_one_place(self):
        found = self.broken(tidy.one_codec, {
            "backends/redis/a.cpp": "out.Arg(\"-inf\");\nx = PostId{*raw};\nif (member == \"A\") {}\n",
            "backends/redis/b.h": "// What \"T\" is.\nchar c = 'F';\nx = MemberText(post);\n",
            "schemas/redis/a.lua": "redis.call('ZADD', key, score, 'F')\n-- 'F' is said.\nlocal b = string.byte(m)\n",
            "schemas/redis/timeline.lua": "local HEAD, FLOOR = 'T', 'F'\n",
            "fanline/model/member.h": "constexpr std::string_view kHeadMember = \"T\";\n"})
        self.assertEqual(sorted(found), [
            ("backends/redis/a.cpp", 1), ("backends/redis/a.cpp", 2), ("backends/redis/a.cpp", 3),
            ("backends/redis/b.h", 2), ("schemas/redis/a.lua", 1), ("schemas/redis/a.lua", 3)])

    def test_no_test_is_switched_off(self):
        found = self.broken(tidy.no_silenced_tests, {
            "tests/unit/a_test.cpp": "TEST(A, DISABLED_Works) {}\nTEST(A, IsNotDISABLED) {}\n",
            "tests/sim/b_test.cpp": "#if 0\n#if 01\n#endif\n"})
        self.assertEqual(found, [("tests/sim/b_test.cpp", 1), ("tests/unit/a_test.cpp", 1)])

    def test_headers_begin_with_their_manual(self):
        found = self.broken(tidy.headers, {
            "fanline/good.h": "// What it is for.\n#pragma once\n",
            "fanline/silent.h": "#pragma once\n\n#pragma once\n",
            "fanline/twice.h": "// What it is for.\nint x;\n"})
        self.assertEqual(sorted(found), [("fanline/silent.h", 1), ("fanline/twice.h", 1)])

    def test_scripts_can_be_run(self):
        found = self.broken(tidy.runnable_scripts, {"bench/run.py": "#!/usr/bin/python3\n", "bench/rows.py": "import os\n"})
        self.assertEqual(found, [("bench/run.py", 1)])

    @unittest.skipUnless(tidy.can_check_format(), f"{tidy.CLANG_FORMAT} is not installed")
    def test_all_code_is_formatted(self):
        found = self.broken(tidy.formatting, {
            ".clang-format": "BasedOnStyle: Google\n", "a/good.cpp": "int x = 1;\n",
            "a/bad.cpp": "int x = 1;\nint   y=2 ;\nint   z=3 ;\n"})
        self.assertEqual(found, [("a/bad.cpp", 2)])

    @unittest.skipUnless(tidy.can_check_format(), f"{tidy.CLANG_FORMAT} is not installed")
    def test_a_style_file_that_is_not_understood_is_a_violation_too(self):
        found = self.broken(tidy.formatting, {".clang-format": "BasedOnStyle: Nobody\n",
                                          "a/good.cpp": "int x = 1;\n"})
        self.assertEqual(found, [(".clang-format", 1)])
