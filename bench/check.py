#!/usr/bin/python3
"""Whether a row has become worse: `make bench-check` measures some rows anew, five rounds each, and compares
the medians of their ratios with recorded ones. One below 0.85 of its record, or a cost above its record by as
much, is measured once more, and fails the check if it is so again. With --short, as `make test` runs it, it takes
a minute on a small installation, and half of the record is enough: other machines have other ratios.

    bench/check.py --record build/bench/report.json  # writes bench/record.json from what `make bench` wrote
    bench/check.py --short --record                  # the same from a run of its own

Ratios depend on the number of cores: with another one than the record's nothing is compared.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.against import COSTS  # noqa: E402

RECORD = ROOT / "bench" / "record.json"
LEAST = {"full": 0.85, "short": 0.5}
ROUNDS = 5
ROWS = {
    "full": ("timeline_bytes_compact", "deliveries_live100_compact", "deliveries_live20_compact",
             "deliveries_live5_compact", "deliveries_live20_compact_cold", "deliveries_live5_compact_cold",
             "page_library", "page_http", "celebrity_live5", "follow_async", "follow_sync", "rebuild_200"),
    "short": ("timeline_bytes_compact", "deliveries_live100_compact", "deliveries_live5_compact", "page_library",
              "follow_async"),
}


def main():
    options = parse()
    form = "short" if options.short else "full"
    forms = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if options.record:
        rows = measured(form, ROWS[form]) if options.record is True else json.loads(options.record.read_text())
        forms[form] = recorded(rows, ROWS[form])
        RECORD.write_text(json.dumps(forms, indent=1) + "\n")
        return 0
    if form not in forms:
        raise SystemExit(f"there is no record of the {form} form: bench/check.py --record (see --help)")
    record = forms[form]
    if record["cores"] != os.cpu_count():
        print(f"nothing is compared: the record is of {record['cores']} cores, here are {os.cpu_count()}")
        return 0
    bad = ROWS[form]
    for _ in range(2):
        rows = worse(measured(form, bad), record["ratios"], LEAST[form])
        for row in rows:
            print(f"worse: {row['name']}: {ratio(row):.3g} where {record['ratios'][row['name']]:.3g} was recorded")
        bad = sorted({row["of"] for row in rows})
        if not bad:
            return 0
    return 1


def recorded(rows, wanted):
    """Of a report: the ratios of those rows, and the machine's cores."""
    rows = [row for row in rows if row["of"] in wanted]
    missing = set(wanted) - {row["of"] for row in rows}
    if missing:
        raise SystemExit(f"the report lacks {', '.join(sorted(missing))}")
    return {"machine": rows[0]["machine"], "cores": rows[0]["cores"],
            "ratios": {row["name"]: round(ratio(row), 4) for row in rows}}


def ratio(row):
    return row.get("ratio_median", row["ratio"])


def worse(rows, ratios, least):
    """Those far below their record."""
    return [row for row in rows if row["name"] in ratios and share_of(row, ratios[row["name"]]) < least]


def share_of(row, record):
    """Of the record; less is worse."""
    return record / ratio(row) if any(cost in row["unit"] for cost in COSTS) else ratio(row) / record


def measured(form, rows):
    folder = ROOT / "build" / f"bench-check-{form}"
    command = ["/usr/bin/python3", ROOT / "bench" / "run.py", "--rows", ",".join(rows), "--rounds", str(ROUNDS),
               "--out", folder, *["--short"] * (form == "short")]
    if subprocess.call(command) != 0:
        raise SystemExit("a row could not be measured")
    return [row for row in report.read(folder) if row["of"] in rows]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="few rows, on a small installation")
    parser.add_argument("--record", type=Path, nargs="?", const=True, metavar="REPORT",
                        help="only writes the record, of that report or of a run of its own")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
