"""Mutants drawn by a seed: a comparison flipped, a statement deleted, two statements swapped."""

import hashlib
import re
from itertools import zip_longest
from pathlib import Path

from tests.mutants.mutant import Mutant

FOLDERS = {"fanline/consuming": ".cpp", "dispatcher": ".cpp", "pusher/ranges": ".cpp",
           "pusher/units": ".cpp", "timeline": ".cpp", "mirror": ".cpp", "reconciler": ".cpp",
           "schemas/redis": ".lua", "schemas/sql": ".sql"}
# Files that start, configure and measure have no logic to mutate; tables are not statements.
LEFT_OUT = re.compile(r"(^|/)((main|config)\.cpp|prometheus_metrics\.h)$|/shard\.sql$")

_FLIPPED = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "!=": "==", "~=": "=="}
# With a space on either side, so that templates, arrows and shifts are none.
_COMPARISON = re.compile(r"(?<= )(<=|>=|==|!=|~=|<|>)(?= )")
_SQL_COMPARISON = re.compile(r"(?<= )(<=|>=|<>|<|>)(?= )")
_NO_STATEMENT = re.compile(
    r"^(return|break|continue|local|end|else|do|then|using|namespace|case|default|const|auto|"
    r"struct|class|template|if|for|while|until|repeat|function|public|private|DECLARE|BEGIN|END|"
    r"ELSE|IF|DELIMITER|CREATE)\b|^[{}#/*()]|^- ")
# Without it what follows does not build.
_DECLARATION = re.compile(r"^[\w:<>,*& ]*[\w>*&] \w+( = .+|\(.*\)|\{.*\})?;$")
_ASSIGNMENT = re.compile(
    r"^\s*(?:([\w.]+) [-+]?= (?:(?!\+\+|--)[^()\[=])+|(?:--|\+\+)([\w.]+));?$")
# An assertion or a reservation of room: without it nothing else changes.
_WITHOUT_EFFECT = re.compile(r"FANLINE_CHECK\(|\.reserve\(")


def drawn(root, seed, count=None):
    """The first so many mutants in the seed's order, or all of them, spread evenly over the folders.
    Each has its place in the order by itself, so that a change of the tree changes no draw but of
    the lines it touches."""
    by_folder = {folder: sorted(set(_all_of(Path(root), folder)), key=lambda m: _place(seed, m))
                 for folder in sorted(FOLDERS)}
    rounds = zip_longest(*by_folder.values())
    return [mutant for each in rounds for mutant in each if mutant is not None][:count]


def _place(seed, mutant):
    text = "\0".join((str(seed), mutant.file, mutant.find, mutant.replace))
    return hashlib.sha256(text.encode()).digest()


def _all_of(root, folder):
    for path in sorted((root / folder).glob(f"*{FOLDERS[folder]}")):
        name = path.relative_to(root).as_posix()
        if not LEFT_OUT.search(name):
            yield from of_text(name, path.read_text(encoding="utf-8"))


def of_text(name, text):
    """Every mutant of a file whose text is found once in it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        for what, find, replace in _of_lines(name, lines, number, line):
            mutant = Mutant(f"{name}:{number + 1} {what}", name, find, replace)
            if not mutant.wrong(text):
                yield mutant


def _of_lines(name, lines, number, line):
    code = line.split("--" if not name.endswith(".cpp") else "//")[0]
    if not code.strip() or "#include" in code or _WITHOUT_EFFECT.search(code):
        return
    pattern = _SQL_COMPARISON if name.endswith(".sql") else _COMPARISON
    for match in pattern.finditer(code):
        flipped = {"<>": "="}.get(match[1]) or _FLIPPED[match[1]]
        if name.endswith((".lua", ".sql")) and flipped == "!=":
            flipped = "~=" if name.endswith(".lua") else "<>"
        yield ("comparison flipped", line,
               line[:match.start()] + flipped + line[match.end():])
    if _is_statement(name, lines, number):
        yield "statement deleted", f"{line}\n", f"{_nothing(name, line)}\n"
        after = number + 1
        if after < len(lines) and _is_statement(name, lines, after) \
                and _indent(line) == _indent(lines[after]) and line != lines[after] \
                and not _independent(line, lines[after]):
            yield ("statements swapped", f"{line}\n{lines[after]}\n",
                   f"{lines[after]}\n{line}\n")


def _is_statement(name, lines, number):
    """Whether the line is a whole statement: begins after one, and ends itself."""
    code = lines[number].strip()
    if _NO_STATEMENT.search(code) or _WITHOUT_EFFECT.search(code):
        return False
    if code.startswith("--") and not name.endswith(".cpp"):
        return False
    before = lines[number - 1].strip() if number else ""
    if name.endswith(".lua"):
        whole = re.match(r"^[\w.\[\]]+( = .+|\(.*\))$", code) and code.count("(") == code.count(")")
        return bool(whole) and not re.search(r"[,=(]$|\b(and|or)$", before)
    if not code.endswith(";"):
        return False  # goes on
    if name.endswith(".cpp") and _DECLARATION.match(code):
        return False
    return before == "" or before.endswith((";", "{", "}", ":")) or before.startswith("//") \
        or (name.endswith(".sql") and re.search(r"(THEN|BEGIN|ELSE|DO)$", before) is not None)


def _independent(one, other):
    """Two assignments that do nothing else, neither of what the other reads or writes."""
    first, second = _ASSIGNMENT.match(one), _ASSIGNMENT.match(other)
    return bool(first and second) and not any(
        re.search(rf"(?<![\w.]){re.escape(target)}(?!\w)", text)
        for target, text in ((first[1] or first[2], other), (second[1] or second[2], one)))


def _nothing(name, line):
    """In place of a statement: something that an `if` without braces may stand before."""
    return f"{_indent(line)};" if name.endswith(".cpp") else ""


def _indent(line):
    return line[:len(line) - len(line.lstrip())]
