#!/usr/bin/python3
"""Writes what is made of something else in helm/fanline: values.schema.json of the programs' --help,
README.md of values.yaml. `make chart` runs it after one changed. (Rules and dashboards are links to prometheus/.)"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "helm" / "fanline"
TOOLS = ROOT / "build" / "tools" / "bin"

sys.path.insert(0, str(ROOT))
from helm.options import options_of  # noqa: E402  (a script finds its siblings by the root)
from helm.schema import schema  # noqa: E402


def programs():
    return Path(os.environ.get("FANLINE_BIN", ROOT / "build" / "release" / "bin")).resolve()


def schema_text():
    return json.dumps(schema(programs()), indent=1, ensure_ascii=False) + "\n"


def readme(chart):
    """helm-docs reads the chart's folder and writes to where it is told."""
    return subprocess.run([TOOLS / "helm-docs", "--dry-run", "--log-level", "error", "--sort-values-order", "file",
                           "--chart-search-root", chart], capture_output=True, text=True, check=True).stdout


def generated():
    """Path within the chart -> what belongs there."""
    return {"values.schema.json": schema_text(), "README.md": readme(CHART)}


def main():
    for path, text in generated().items():
        (CHART / path).write_text(text, encoding="utf-8")
        print(f"wrote helm/fanline/{path}")


if __name__ == "__main__":
    main()
