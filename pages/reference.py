#!/usr/bin/python3
"""Writes the pages that are made of something else: configuration.md of the daemons' --help, schemas.md of schemas/.
`make reference` runs it after one of these changed; tests/pages says when that was forgotten."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT))
from pages import configuration, schemas  # noqa: E402  (a script finds its siblings by the root)


def programs():
    return Path(os.environ.get("FANLINE_BIN", ROOT / "build" / "release" / "bin")).resolve()


def generated():
    """Path in the repository -> what belongs there."""
    return {"docs/configuration.md": configuration.text(programs()), "docs/schemas.md": schemas.text(ROOT)}


def main():
    for path, text in generated().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
