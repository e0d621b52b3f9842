#!/usr/bin/python3
"""Whether feedctl capacity is within a quarter of what is measured at another scale. Wants a machine
with nothing else running."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = "timeline_bytes_compact,event_cost,latency,capacity"
OFF = 0.25
ROWS = 7  # memory, and cores, p50 and p99 of two kinds of authors


def main():
    with tempfile.TemporaryDirectory() as folder:
        code = subprocess.call(["/usr/bin/python3", ROOT / "bench" / "run.py", "--rows", NEEDED,
                                "--out", folder], cwd=ROOT)
        if code != 0:
            return code
        rows = json.loads((Path(folder) / "report.json").read_text())
    checked = [row for row in rows if row["name"].startswith("capacity_")]
    wrong = [row for row in checked if not 1 - OFF <= row["ratio"] <= 1 + OFF]
    for row in checked:
        print(f"{row['name']}: {row['ratio']:.2f}" + ("  OUTSIDE" if row in wrong else ""))
    print(f"{len(checked) - len(wrong)} of {len(checked)} within {OFF:.0%}")
    return int(bool(wrong) or len(checked) != ROWS)


if __name__ == "__main__":
    sys.exit(main())
