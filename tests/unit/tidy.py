"""What a compiler cannot see: rules for the whole tree.

A rule is a function of a Tree that yields violations; the first line of its docstring is the
reason, printed with each of them. tests/unit/tidy_test.py runs all rules over this repository
and each over a small made-up tree that breaks it.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

CLANG_FORMAT = "clang-format-14"
NOT_OURS = {"build", "__pycache__", "node_modules"}


class Violation(NamedTuple):
    path: str
    line: int
    what: str


class Tree:
    """The files below a folder, by their path from it; build output and hidden folders left out."""

    def __init__(self, root):
        self.root = Path(root)
        self.paths = sorted(self._walk())

    def _walk(self):
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders
                          if name not in NOT_OURS and not name.startswith(".")]
            for name in files:
                yield (Path(folder) / name).relative_to(self.root).as_posix()

    def ending(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), start=1)

    def exists(self, path):
        return (self.root / path).exists()

    def has(self, pattern):
        """Whether a file or folder of that path, or of that glob, is there."""
        return any(self.root.glob(pattern)) if "*" in pattern else self.exists(pattern)


# ---- includes ---------------------------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Folder -> what else of ours it may include. Wiring files of a service may include WIRED too.
# The innermost folder that is listed counts, so list it first; those around it may not include it.
MAY_INCLUDE = {
    "fanline/base": set(),
    "fanline/model": {"fanline/base"},
    "fanline/wire": {"fanline/base", "fanline/model", "schemas"},
    "fanline/ports": {"fanline/base", "fanline/model", "fanline/wire"},
    "fanline/consuming": {"fanline/base", "fanline/model", "fanline/wire", "fanline/ports"},
    "http": {"fanline"},
    "daemon": {"fanline", "http"},
    "backends/kafka": {"fanline", "schemas"},
    "backends/redis": {"fanline", "schemas"},
    "backends/mysql": {"fanline", "schemas"},
    "backends/options": {"fanline", "daemon", "backends"},
    "backends/wiring": {"fanline", "daemon", "backends"},
    "dispatcher": {"fanline"},
    "pusher": {"fanline"},
    "mirror": {"fanline"},
    "reconciler": {"fanline"},
    "api": {"fanline", "http", "timeline"},
    "timeline": {"fanline"},
    "audit": {"fanline", "timeline"},
    "feedctl": {"fanline", "schemas", "daemon", "backends", "timeline", "audit", "reconciler"},
}
WIRING = re.compile(r"^(main|config|\w*_config|prometheus_\w+)\.(cpp|h)$")
WIRED = {"daemon", "backends", "schemas", "timeline", "audit"}
SERVICES = {"dispatcher", "pusher", "mirror", "reconciler", "api", "feedctl"}


def includes(tree, path):
    for number, line in tree.lines(path):
        if found := INCLUDE.match(line):
            yield number, found[1] == '"', found[2]


def zone_of(path):
    return next((zone for zone in MAY_INCLUDE if path.startswith(zone + "/")), None)


def include_direction(tree):
    """The data's way points one way: a folder that includes upwards can no longer be read alone."""
    for path in tree.ending(".cpp", ".h"):
        zone = zone_of(path)
        if zone is None:
            continue
        allowed = {zone} | MAY_INCLUDE[zone]
        if zone in SERVICES and WIRING.match(Path(path).name):
            allowed |= WIRED
        for line, ours, header in includes(tree, path):
            below = (zone_of(header) or "").startswith(zone + "/")
            if ours and (below or not any(header.startswith(folder + "/") for folder in allowed)):
                yield Violation(path, line, f'includes "{header}"; may include only '
                                            f'{", ".join(sorted(allowed))} (paths from the root)')


# Folder -> the headers that only it may include.
CLIENT_HEADERS = {
    "backends/kafka": re.compile(r"^(librdkafka/|rdkafka)"),
    "backends/redis": re.compile(r"^(hiredis/|hiredis\.|sw/redis|openssl/)"),
    "backends/mysql": re.compile(r"^(mysql|mariadb|cppconn)"),
    "http": re.compile(r"^boost/asio/"),
}
MAY_USE_ANY_CLIENT = ("bench/", "tests/adapters/", "tests/integration/")


def client_libraries(tree):
    """A client library included outside its adapter ties the logic to it: use the port."""
    for path in tree.ending(".cpp", ".h"):
        if path.startswith(MAY_USE_ANY_CLIENT):
            continue
        for line, _, header in includes(tree, path):
            for folder, pattern in CLIENT_HEADERS.items():
                if pattern.match(header) and not path.startswith(f"{folder}/"):
                    yield Violation(path, line, f"includes <{header}>, which only {folder}/ may")


# ---- rooms ------------------------------------------------------------------------------------

MOST_FILES = 30


def small_rooms(tree):
    """A folder is small enough to be known by heart: split it by what its files are about."""
    rooms = {}
    for path in tree.ending(".cpp", ".h"):
        rooms.setdefault(str(Path(path).parent), []).append(path)
    for room, paths in rooms.items():
        if len(paths) > MOST_FILES:
            yield Violation(room, 1, f"holds {len(paths)} .cpp and .h files; {MOST_FILES} are the most")


def loops(arrows):
    """The groups of two and more that lead to each other; `arrows`: node -> the nodes it leads to."""
    reach = {}
    for start in arrows:
        seen, ends = set(), [start]
        while ends:
            for target in arrows.get(ends.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    ends.append(target)
        reach[start] = seen
    groups = {frozenset(other for other in seen if start in reach.get(other, ()))
              for start, seen in reach.items()}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def one_way(tree, part_of, what):
    arrows = {}
    for path in tree.ending(".cpp", ".h"):
        for _, ours, header in includes(tree, path):
            if ours and tree.exists(header) and part_of(header) != part_of(path):
                arrows.setdefault(part_of(path), set()).add(part_of(header))
    for group in loops(arrows):
        yield Violation(group[0], 1, f"{what}: {', '.join(group)}")


def no_include_loops(tree):
    """Files that need each other are one file in several pieces: move what both need to a third."""
    return one_way(tree, lambda path: str(Path(path).with_suffix("")), "include each other")


def one_way_folders(tree):
    """Folders that include each other cannot be read one after the other."""
    return one_way(tree, lambda path: str(Path(path).parent), "folders include each other")


# ---- functions --------------------------------------------------------------------------------

MOST_LINES = 70
NOT_CODE = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'''
                      r"""|(?<!\w)'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*""", re.S | re.M)
NO_FUNCTION = re.compile(r"\b(namespace|class|struct|enum|union)\b[^()]*$|=\s*$|^[^(]*$")
GOES_ON = re.compile(r"\s*[,{]")


def functions(text):
    """(line, lines) of each function: from the first line of its head to the brace that closes it.

    A head is what stands before a brace, back to the ; { or } before it; it is a function's when it
    has a parenthesis and is no class, enum, namespace or initial value. What is inside a function (a
    lambda, a local class) is part of it. Braces within a head (an argument, a member's first value:
    a comma or another brace follows) do not end it."""
    code = NOT_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    inside = []  # per open brace: where its head begins, whether within one, whether a function's
    begin = 0    # of the head
    for brace in re.finditer(r"[{};]", code):
        if brace[0] == "{":
            head = code[begin:brace.start()]
            within = head.count("(") > head.count(")")
            inside.append((begin, within, not within and not NO_FUNCTION.search(head)
                           and not any(function for _, _, function in inside)))
            begin = brace.end()
        elif brace[0] == ";" or not inside:
            begin = brace.end()
        else:
            head_begin, within, function = inside.pop()
            if within or (function and GOES_ON.match(code, brace.end())):
                begin = head_begin
                continue
            begin = brace.end()
            if function:
                start = head_begin + re.match(r"\s*", code[head_begin:]).end()
                yield code.count("\n", 0, start) + 1, code.count("\n", start, brace.end()) + 1


def short_functions(tree):
    """A function that fits on a page can be judged at a glance: give its parts names."""
    for path in tree.ending(".cpp", ".h"):
        for line, lines in functions(tree.text(path)):
            if lines > MOST_LINES:
                yield Violation(path, line, f"a function of {lines} lines; {MOST_LINES} are the most")


# ---- builds -----------------------------------------------------------------------------------

def built_files(tree):
    """A source or test that no CMakeLists.txt names is never built or run, and nobody notices."""
    lists = {str(Path(path).parent): set(re.findall(r"[\w./-]+", tree.text(path)))
             for path in tree.paths if Path(path).name == "CMakeLists.txt"}
    for path in tree.ending(".cpp", "_test.py"):
        if path.endswith(".py") and not path.startswith("tests/"):
            continue
        for folder, words in lists.items():
            if Path(folder) in Path(path).parents:
                named = Path(path).relative_to(folder).as_posix()
                if named in words or (named.endswith(".py") and named[:-3] in words):
                    break
        else:
            yield Violation(path, 1, "is in no CMakeLists.txt")


# ---- documents --------------------------------------------------------------------------------

CODE_SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
PATH = re.compile(r"^[\w.*-]+(/[\w.*-]+)*/?$")
SOURCE_NAME = re.compile(r"\.(cpp|h|py|java|proto|sql|lua|cmake|md)$|^CMakeLists\.txt$")


def is_document(path):
    return path.endswith(".md") and (
        path in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") or path.startswith("docs/")
        or (path.startswith("schemas/") and path.endswith("README.md")))


def prose(tree, path):
    """The lines outside of fenced code."""
    fenced = False
    for number, line in tree.lines(path):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def names_a_file(tree, word):
    """Whether a word in backticks claims to be of this repository: it begins with one of its
    folders, or is the bare name of a source file."""
    if not PATH.match(word) or word.startswith("build/"):
        return False
    first, slash, _ = word.partition("/")
    if slash:
        return (tree.root / first).is_dir()
    return bool(SOURCE_NAME.search(word)) and "*" not in word and not word.startswith(".")


def file_exists(tree, word):
    if "/" in word:
        return tree.has(word)
    return any(Path(path).name == word for path in tree.paths)


def documents(tree):
    """A document that names a file that is gone sends its reader astray."""
    for document in filter(is_document, tree.paths):
        for number, line in prose(tree, document):
            for word in " ".join(CODE_SPAN.findall(line)).split():
                word = word.strip("'\",;:()")
                if names_a_file(tree, word) and not file_exists(tree, word):
                    yield Violation(document, number, f"names `{word}`, which is not there")
            for target in LINK.findall(line):
                if ":" not in target and not tree.exists(Path(document).parent / target):
                    yield Violation(document, number, f"links to {target}, which is not there")


TEST_NAME = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.M)


def named_tests(tree):
    """A document that says which test holds something is no proof when there is no such test."""
    tests = {".".join(test) for path in tree.ending("_test.cpp") for test in
             TEST.findall(tree.text(path))}
    for document in filter(is_document, tree.paths):
        for number, line in prose(tree, document):
            for name in TEST_NAME.findall(line):
                if name not in tests:
                    yield Violation(document, number, f"names the test {name}, which is not there")


# ---- words ------------------------------------------------------------------------------------

THIS = ("tests/unit/tidy.py", "tests/unit/tidy_test.py")  # they name what they forbid
SOURCES = (".cpp", ".h", ".py", ".java", ".sh", ".proto", ".sql", ".lua", ".cmake", ".md", ".yaml",
           "CMakeLists.txt", "Makefile")


def find(tree, paths, pattern, what):
    for path in paths:
        if path in THIS:
            continue
        for number, line in tree.lines(path):
            if pattern.search(line):
                yield Violation(path, number, what)


def no_sleep(tree):
    """A test that sleeps is slow when it is right and flaky when it is not: step time by hand."""
    paths = [path for path in tree.ending(".cpp", ".h", ".py")
             if path.startswith(("tests/unit/", "tests/sim/"))]
    return find(tree, paths, re.compile(r"\b(sleep_for|sleep_until|sleep|usleep|nanosleep)\s*\("),
                "sleeps")


NOT_PLAIN = re.compile(r"//.*?(\bOf (?:what|whom|which)\b|\bthat is none\b|\bof before\b)")


def plain_words(tree):
    """A comment is plain English: the subject comes first, and each sentence says one thing."""
    return find(tree, tree.ending(".cpp", ".h"), NOT_PLAIN, "turns a sentence around")


def no_leftovers(tree):
    """What is left for later in a comment is never found again: do it, or open an issue."""
    return find(tree, tree.ending(*SOURCES), re.compile(r"\b(TODO|FIXME|XXX)\b"),
                "leaves something for later")


NAMED = re.compile(r"^(?:inline |static )*(?:constexpr |const )[^=({]*?\b(k[A-Z]\w*) *[={]|, (k[A-Z]\w*)\{"
                   r"|^(?:struct|class|enum class) (\w+)|^using (\w+) =")
UNNAMED = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.M | re.S)


def no_hidden_names(tree):
    """The presets compile a target's files together: a file's own constant or type would hide a header's of the same
    name from the files behind it."""
    declared = {}
    for path in tree.ending(".h"):
        for _, line in tree.lines(path):
            for names in NAMED.findall(line):
                declared.setdefault((os.path.dirname(path), max(names)), path)
    for path in tree.ending(".cpp"):
        text = tree.text(path)
        for part in UNNAMED.finditer(text):
            for number, line in enumerate(part[0].split("\n"), text.count("\n", 0, part.start()) + 1):
                for names in NAMED.findall(line):
                    header = declared.get((os.path.dirname(path), max(names)))
                    if header:
                        yield Violation(path, number, f"{max(names)} is {header}'s name, too")


# The letters and scores of members as text, bytes of members, posts whose ids were text.
MEMBER = re.compile(r"""^(?!\s*(?://|--)).*?((["'])([TFABX]:?|[+-]?inf)\2|string\.byte|PostId\{\*)""")


def one_codec(tree):
    """What a timeline's member looks like stands in fanline/model/member.h and schemas/redis/timeline.lua alone."""
    paths = [path for path in tree.ending(".lua", ".cpp", ".h") if path != "schemas/redis/timeline.lua"
             and path.startswith(("schemas/redis/", "backends/redis/", "audit/", "tests/fakes/"))]
    return find(tree, paths, MEMBER, "writes or reads a member")


def no_silenced_tests(tree):
    """A test switched off in silence stays off for ever."""
    return find(tree, tree.ending(".cpp", ".h"), re.compile(r"\bDISABLED_\w|^\s*#\s*if 0\b"),
                "is switched off")


def headers(tree):
    """A header is the manual of what it declares: it begins with what that is for."""
    for path in tree.ending(".h"):
        text = tree.text(path)
        if not text.startswith("//"):
            yield Violation(path, 1, "begins without a comment")
        if "\n#pragma once\n" not in text:
            yield Violation(path, 1, "has no #pragma once")


def runnable_scripts(tree):
    """A script that says by what it is run can be run: git keeps the mode."""
    for path in tree.ending(".py"):
        if tree.text(path).startswith("#!") and not os.access(tree.root / path, os.X_OK):
            yield Violation(path, 1, "is not executable")


# ---- format -----------------------------------------------------------------------------------

MISFORMATTED = re.compile(r"^(.*?):(\d+):\d+: error: code should be clang-formatted", re.M)


def can_check_format():
    return shutil.which(CLANG_FORMAT) is not None


def formatting(tree):
    """One format for all, made by a program, so that nobody argues: run `make format`."""
    paths = tree.ending(".cpp", ".h")
    if not paths:
        return
    run = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *paths], cwd=tree.root,
                         stderr=subprocess.PIPE, text=True, timeout=120)
    first_of = {}
    for path, line in MISFORMATTED.findall(run.stderr):
        first_of.setdefault(path, int(line))
    for path, line in first_of.items():
        yield Violation(path, line, "is not formatted, from here on")
    if run.returncode != 0 and not first_of:
        yield Violation(".clang-format", 1, f"{CLANG_FORMAT} failed: {run.stderr.strip()}")


RULES = [include_direction, client_libraries, small_rooms, no_include_loops, one_way_folders,
         short_functions, built_files, documents, named_tests, no_sleep,
         plain_words, no_leftovers, no_hidden_names, one_codec, no_silenced_tests, headers,
         runnable_scripts, formatting]


def report(rule, violations):
    """One line per violation, then why it is one."""
    lines = [f"{path}:{line}: {what}" for path, line, what in violations]
    return "\n".join([*lines, f"{rule.__name__}: {rule.__doc__.splitlines()[0]}"])
