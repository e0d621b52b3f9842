"""The site's schemas.md, of schemas/proto and schemas/sql/shard.sql: every message and every table in their order, with the
comments that stand there."""

import re
from typing import NamedTuple

HEAD = """# Messages and tables

What Fanline writes to Kafka and keeps in its shards: `make site` makes this page of `schemas/proto` and
`schemas/sql/shard.sql`. [Servers of the truth](../schemas/sql/README.md) and [keys in Redis](../schemas/redis/README.md)
have pages of their own. [Upgrades](upgrades.md) says how all of it changes from version to version.
"""

# File -> its topic, and who writes it, in the order of a post's way.
TOPICS = {
    "feed_event": "Topic `feed-events`, written by applications ([producers.md](producers.md)).",
    "hint": "Topic `fanout-tasks`, internal.",
    "relation_event": "Topic `relation-events`, written by applications ([producers.md](producers.md#relation-events)).",
    "relation_log": "Topic `relation-log`, internal, or written by an application with tables of its own "
                    "([relations-contract.md](relations-contract.md)).",
    "relation_retry": "Topic `relation-log.retry`, internal.",
}

FIELD = re.compile(r"(?:(repeated|optional) )?([\w.]+) (\w+) = (\d+);$")
TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+) \($")
KEY = re.compile(r"(PRIMARY KEY|UNIQUE KEY|KEY|CHECK)\b")
DEEP = 40  # a comment that begins further right goes on with the one beside the line above


class Row(NamedTuple):
    name: str
    kind: str
    about: list
    number: str = ""


class Group(NamedTuple):
    """A message, an enum, or a table and its keys."""
    name: str
    about: list
    rows: list
    keys: list


def lines_of(text, mark):
    """(code, comment or None, column of the comment) of each line."""
    for line in text.splitlines():
        code, found, comment = line.partition(mark)
        yield code.strip(), comment.removeprefix(" ").rstrip() if found else None, len(code)


def messages(text):
    """What the file is about, its messages and enums."""
    about, above, found, open_blocks = [], [], [], []
    for code, comment, _ in lines_of(text, "//"):
        if not code:
            above = [*above, comment] if comment is not None else above
            continue
        beside = [comment] if comment is not None else []
        if code.startswith("syntax"):
            about = above
        elif started := re.match(r"(message|oneof|enum) (\w+) \{$", code):
            open_blocks.append(started[1])
            if started[1] != "oneof":
                found.append(Group(started[2], above, [], []))
        elif code == "}":
            open_blocks.pop()
        elif open_blocks[-1:] == ["enum"]:
            name, number = re.match(r"(\w+) = (\d+);$", code).groups()
            found[-1].rows.append(Row(name, "value", above + beside, number))
        elif open_blocks:
            field = FIELD.match(code)
            assert field, f"not understood: {code}"
            label, kind, name, number = field.groups()
            found[-1].rows.append(Row(name, f"{label} {kind}" if label else kind, above + beside, number))
        above = []
    return about, found


def tables(text):
    """What the file is about, and its tables."""
    about, above, found, inside = None, [], [], False
    for code, comment, column in lines_of(text, "--"):
        if not code and comment is None:
            about = above if about is None else about
            above = above if about is None else []
        elif not code and inside and column >= DEEP and found[-1].rows:
            found[-1].rows[-1].about.append(comment)
        elif not code:
            above.append(comment)
        elif started := TABLE.match(code):
            found.append(Group(started[1], above, [], []))
            above, inside = [], True
        elif inside and code.startswith(")"):
            above, inside = [], False
        elif inside and KEY.match(code):
            found[-1].keys.append(code.rstrip(","))
            above = []
        elif inside:
            # A definition may go on in the next line.
            name, _, kind = code.rstrip(",").partition(" ")
            if name.isupper():
                last = found[-1].rows[-1]
                found[-1].rows[-1] = last._replace(kind=f"{last.kind} {code.rstrip(',')}")
            else:
                found[-1].rows.append(Row(name, re.sub(r"\s+", " ", kind.strip()), [*above, *([comment] if comment else [])]))
            above = []
        elif code.endswith(";"):
            above = []
    return about, found


def prose(lines):
    """Comments as paragraphs; what is indented stays as it is."""
    out, plain = [], False
    for line in lines:
        if line.startswith("  ") and not plain:
            out.append("```text")
        if not line.startswith("  ") and plain:
            out.append("```")
        plain = line.startswith("  ")
        out.append(line if plain else line.replace("<", "&lt;"))
    return "\n".join([*out, "```"] if plain else out)


def cell(words):
    return " ".join(words).replace("|", "\\|").replace("<", "&lt;")


def message(group):
    yield f"### {group.name}\n"
    if group.about:
        yield prose(group.about) + "\n"
    yield "| number | field | type | meaning |\n|---|---|---|---|"
    yield from (f"| {row.number} | `{row.name}` | {row.kind} | {cell(row.about)} |" for row in group.rows)
    yield ""


def table(group):
    yield f"### {group.name}\n"
    if group.about:
        yield prose(group.about) + "\n"
    yield "| column | type | meaning |\n|---|---|---|"
    yield from (f"| `{row.name}` | {row.kind} | {cell(row.about)} |" for row in group.rows)
    yield "\nKeys: " + ", ".join(f"`{key}`" for key in group.keys) + ".\n"


def text(root):
    """`root`: the repository."""
    parts = [HEAD]
    protos = {path.stem: path for path in (root / "schemas" / "proto").glob("*.proto")}
    assert set(protos) == set(TOPICS), f"whose topics are these? {set(protos) ^ set(TOPICS)}"
    for name, topic in TOPICS.items():
        about, groups = messages(protos[name].read_text(encoding="utf-8"))
        parts += [f"## {name}.proto\n", f"{topic}\n", prose(about) + "\n"]
        parts += [line for group in groups for line in message(group)]
    about, groups = tables((root / "schemas" / "sql" / "shard.sql").read_text(encoding="utf-8"))
    parts += ["## Tables of a shard\n", prose(about) + "\n"]
    parts += [line for group in groups for line in table(group)]
    return "\n".join(parts)
