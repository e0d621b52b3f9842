"""docs/mutants.md, from what `make mutants` found."""

import re

HEAD = """# Mutants

`make mutants` replaces one exact text of the production code, builds, and runs the tests that should notice. A build failure
or a timeout is no kill. `make test` checks that each mutant by hand still applies exactly once (`tests/unit/mutants_test.py`).
Written by `tests/mutants/run.py --page`.
"""
DRAWN = """A seed draws a comparison to be flipped, a statement to be deleted or two neighbours to be swapped (`tests/mutants/operators.py`).
Not drawn: assertions, reservations of room, and neighbours that set two things apart. What does not build is replaced by the
next of the seed's order. Each survivor has its reason in `tests/mutants/answers.py`.
"""


def written(rows):
    by_hand = [row for row in rows if row["origin"] == "by hand"]
    drawn = [row for row in rows if row["origin"] != "by hand"]
    lines = [HEAD, "## By hand", "", _counted(by_hand), "", "| mutant | file | killed by |",
             "|---|---|---|"]
    lines += [f"| {row['name']} | `{row['file']}` | {_end(row)} |" for row in by_hand]
    lines += ["", f"## Drawn by {drawn[0]['origin'] if drawn else 'no seed'}", "",
              DRAWN + _counted(drawn), "",
              "| file | from | to | killed by, or why it is equivalent |", "|---|---|---|---|"]
    lines += [f"| `{row['file']}` | {_code(row['find'])} | {_code(row['replace'])} | {_end(row)} |"
              for row in sorted(drawn, key=lambda row: (row["file"], row["find"]))]
    return "\n".join(lines) + "\n"


_ROW = re.compile(r"^\| (.+?) \| `([^`]+)` \| (.+) \|$", re.M)
_EARLIER = ", an earlier tree"
_NEVER = "not run yet"


def of_known(text, by_hand, known):
    """The page `text`, with each mutant by hand as it is known now: killed in a tree whose file is
    today's, killed when its file was another, or not run yet. The drawn ones are left as they are:
    only a whole run draws. `known`: of a mutant, its outcome or None."""
    begin, drawn = text.split("## Drawn by", 1)
    found = {(name, file): end for name, file, end in _ROW.findall(begin)}
    ends = {}
    for mutant in by_hand:
        outcome = known(mutant)
        before = found.get((mutant.name, mutant.file), _NEVER)
        if outcome and outcome.killed:
            ends[mutant] = f"`{outcome.by}`"
        else:
            ends[mutant] = before if before.endswith((_EARLIER, _NEVER)) else before + _EARLIER
    of_today = sum(not end.endswith((_EARLIER, _NEVER)) for end in ends.values())
    earlier = sum(end.endswith(_EARLIER) for end in ends.values())
    lines = [HEAD, "## By hand", "",
             f"{len(ends)}: {of_today} killed as their files are today, {earlier} as they were in an "
             f"earlier tree, {len(ends) - of_today - earlier} not run yet.", "",
             "| mutant | file | killed by |", "|---|---|---|"]
    lines += [f"| {mutant.name} | `{mutant.file}` | {end} |"
              for mutant, end in sorted(ends.items(), key=lambda each: each[0].name)]
    return "\n".join(lines) + "\n\n## Drawn by" + drawn


def _counted(rows):
    killed = sum(row["result"] == "killed" for row in rows)
    answered = f", {len(rows) - killed} equivalent" if killed < len(rows) else ""
    return f"{len(rows)}: {killed} killed{answered}."


def _end(row):
    if row["result"] == "killed":
        return f"`{row['by']}`"
    return row["answer"] or row["result"]


def _code(text):
    shown = " ".join(text.split()).replace("|", "\\|")
    return f"`{shown}`" if shown else ""
