#!/usr/bin/python3
"""Puts the figures of build/bench/report.json, all of one run, into docs/benchmarks.md, between two marks."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: written by bench/page.py -->", "<!-- end of figures -->"


def main():
    rows = json.loads((ROOT / "build" / "bench" / report.REPORT_NAME).read_text())
    PAGE.write_text(filled(PAGE.read_text(), rows))


def filled(page, rows):
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{figures(rows)}\n{END}{rest.partition(END)[2]}"


def figures(rows):
    machines = {row["machine"] for row in rows}
    if len(machines) > 1:
        raise SystemExit("the report holds rows of several runs, and the page shows one: run make bench")
    lines = [*machines, "", "| row | value | beside | ratio | least..most of rounds |",
             "|---|---|---|---|---|"]
    lines += [f"| `{row['name']}` | {report.number(row['value'])} {row['unit']} | "
              f"{report.number(row['beside_value'])} {row['beside']} | {report.ratio(row)} | "
              f"{report.spread(row)} |" for row in rows]
    said = list(statements(rows))
    if said:
        lines += ["", *said]
    detailed = [row for row in rows if "posts_per_zadd" in row]
    if detailed:
        lines += ["", *processor_time(detailed)]
    return "\n".join(lines)


def statements(rows):
    """What else rows say: the statements on the other side, and what their commits survive."""
    for row in rows:
        if "said" in row:
            yield f"- `{row['name']}`: {row['said']}"
        if "statement" in row:
            yield f"- `{row['name']}` beside `{row['statement']}`; {row['durability']}"


def processor_time(rows):
    """CPU microseconds per delivery by process: a busy machine disturbs them least."""
    roles = list(rows[0]["cpu_us_per_delivery"])
    yield ("| row | posts per ZADD | timelines per batch | followers/s | from lists | "
           + " | ".join(f"{role} us" for role in roles) + " | Redis us of a plain ZADD |")
    yield "|---" * (6 + len(roles)) + "|"
    for row in rows:
        cpu = row["cpu_us_per_delivery"]
        cells = [f"`{row['name']}`", f"{row['posts_per_zadd']:.2f}",
                 report.number(row["timelines_per_batch"]),
                 report.number(row["probes_per_second"]), f"{row['listed']:.2f}",
                 *(f"{cpu.get(role, 0):.2f}" for role in roles),
                 f"{row['beside_redis_cpu_us']:.2f}"]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
