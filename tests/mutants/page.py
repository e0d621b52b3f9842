"""docs/mutants.md, from what `make mutants` found."""

HEAD = """# Mutants

`make mutants` replaces one exact text of the production code, builds, and runs the tests that should notice. A build failure
or a timeout is no kill. `make test` checks that each mutant by hand still applies exactly once (`tests/unit/mutants_test.py`).
Written by `tests/mutants/run.py --page`.
"""


def written(rows):
    by_hand = [row for row in rows if row["origin"] == "by hand"]
    drawn = [row for row in rows if row["origin"] != "by hand"]
    lines = [HEAD, "## By hand", "", "| mutant | file | killed by |", "|---|---|---|"]
    lines += [f"| {row['name']} | `{row['file']}` | {_end(row)} |" for row in by_hand]
    lines += ["", f"## Drawn by {drawn[0]['origin'] if drawn else 'no seed'}", "",
              "| mutant | from | to | killed by, or why it is none |", "|---|---|---|---|"]
    lines += [f"| {row['name']} | {_code(row['find'])} | {_code(row['replace'])} | {_end(row)} |"
              for row in drawn]
    return "\n".join(lines) + "\n"


def _end(row):
    if row["result"] == "killed":
        return f"`{row['by']}`"
    return row["answer"] or row["result"]


def _code(text):
    shown = " ".join(text.split()).replace("|", "\\|")
    return f"`{shown}`" if shown else ""
