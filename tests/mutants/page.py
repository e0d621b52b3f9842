"""docs/mutants.md, from what `make mutants` found."""

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
