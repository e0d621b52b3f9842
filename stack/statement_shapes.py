"""Which statements the programs sent to the servers of MariaDB or MySQL, reduced to shapes: the same of both.

With FANLINE_STATEMENT_SHAPES=FOLDER in the environment every shard keeps its general log, and a
stack that stops leaves the shapes in a file of that folder: one JSON object, a shape to one of the
statements that had it. A shape is the statement with `?` for each literal; lists, rows and
sub-selects that repeat stand once, with a `+`. What a procedure does is in the log too.

Not counted: what the harness asks as admin, and connections that say FIXTURE first: tests that
write rows or look at them.
"""

import json
import os
import re

FOLDER = "FANLINE_STATEMENT_SHAPES"
FIXTURE = "SET @fixture = 1"

# MariaDB leaves a second out that the line before has; MySQL writes the time as in ISO 8601.
_ENTRY = re.compile(
    r"^(?:\d{6} +\d+:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]+Z)?\t+ *(\d+) (\w+(?: \w+)?)\t(.*)", re.DOTALL)
_STARTED = "started with:"
_MOST_TEXT = 4000  # of an example

_SIGNED = (1 << 63) - 1
_LIST = re.compile(r"\bIN \(((?:0x[0-9a-f]+|\d+)(?:,(?:0x[0-9a-f]+|\d+))*)\)")
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\b0x[0-9a-fA-F]+\b|(?<![\w`@.])\d+(?:\.\d+)?\b|(?<=[,(])NULL(?=[,)])")
_DEFINITION = re.compile(r"\s*CREATE (?:/\*M! OR REPLACE \*/ )?((?:TABLE IF NOT EXISTS|PROCEDURE) \w+)")
_BOUNDED = re.compile(r"^SET STATEMENT \w+ = [\d.]+ FOR |/\*.*?\*/ ?")  # for one server alone, or a hint
_COMMENT = re.compile(r"--[^\n]*\n")
_ROWS = r"(\(\?(?:,\?)*\))(?:,\1)*"
_REWRITES = [(re.compile(pattern), by) for pattern, by in [
    (r"\s+", " "),
    (r"(?<=[(,])-\?|(?<== )-\?", "?"),
    (r", ?(?=\?)", ","),
    (rf"(?<=VALUES ){_ROWS}", r"\1+"),
    (rf"(?<=IN \(){_ROWS}", r"\1+"),
    (r"(\(`\w+` = \? AND `\w+` = \?\))(?: OR \1)*", r"\1+"),
    (r"(\(dst IN \(\?\+\) AND bucket BETWEEN \? AND \?\))(?: OR \1)*", r"\1+"),
]]


def shape_of(sql):
    if "--" in sql:
        sql = _COMMENT.sub("", sql)
    if definition := _DEFINITION.match(sql):
        return "CREATE " + definition[1]
    sql = _LIST.sub(_list, _BOUNDED.sub("", sql))
    sql = _LITERAL.sub("?", sql)
    for pattern, by in _REWRITES:
        sql = pattern.sub(by, sql)
    return " UNION ALL ".join(_once(sql.strip().split(" UNION ALL ")))


def _list(match):
    """A list with decimal literals of 2^63 and above, or with decimal and hexadecimal ones, is another
    shape: servers scan the table for one, and find neighbouring ids for the other (InList)."""
    literals = match.group(1).split(",")
    if len({each.startswith("0x") for each in literals}) > 1:
        return "IN (?MIXED)"
    above = not literals[0].startswith("0x") and any(int(each) > _SIGNED for each in literals)
    return "IN (?LARGE DECIMAL)" if above else "IN (?+)"


def _once(parts):
    parts = [part + "+" if part.startswith("(SELECT") else part for part in parts]
    return [part for i, part in enumerate(parts) if i == 0 or part != parts[i - 1]]


def counted(log, user):
    """The statements of `user` in a general log, but for fixtures."""
    users = {}
    for thread, command, text in _entries(log):
        if command == "Connect":
            users[thread] = text.split("@", 1)[0]
        elif command == _STARTED:
            users.clear()
        elif command in ("Query", "Execute") and users.get(thread) == user:
            if text == FIXTURE:
                users[thread] = None
            else:
                yield text


def _entries(log):
    entry = None
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            start = _ENTRY.match(line)
            if start or line.rstrip().endswith(_STARTED):
                if entry:
                    yield entry[0], entry[1], "".join(entry[2]).rstrip("\n")
                entry = start and (start.group(1), start.group(2), [start.group(3)])
                if not start:
                    yield None, _STARTED, ""
            elif entry:
                entry[2].append(line)
    if entry:
        yield entry[0], entry[1], "".join(entry[2]).rstrip("\n")


def wanted():
    return FOLDER in os.environ


def leave(name, logs, user):
    """Writes FOLDER/NAME.json from the general logs `logs`, as far as they are there."""
    shapes = {}
    for log in logs:
        if log.exists():
            for sql in counted(log, user):
                shapes.setdefault(shape_of(sql), sql[:_MOST_TEXT])
    folder = os.environ[FOLDER]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(shapes, file, indent=1, sort_keys=True)
