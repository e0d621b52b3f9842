"""Draws the folders of the product and their arrows from the includes, as ARCHITECTURE.md shows them.

Run with --write after an include from one folder into another came or went:
    python3 -m tests.unit.folders --write
An arrow is an include. What an arrow's end leads to anyway is left out. The wiring files of a
service (tidy.WIRING) may include everything, and are left out too.
"""

import re
import sys
from pathlib import Path

from tests.unit import tidy

PAGE = "ARCHITECTURE.md"
PICTURE = re.compile(r"(?<=```mermaid\n)graph TD\n.*?(?=```)", re.S)


def arrows(tree):
    """(folder, folder it includes from), by the folders of tidy.MAY_INCLUDE and schemas/."""
    found = set()
    for path in tree.ending(".cpp", ".h"):
        zone = tidy.zone_of(path)
        if zone is None or (zone in tidy.SERVICES and tidy.WIRING.match(Path(path).name)):
            continue
        for _, ours, header in tidy.includes(tree, path):
            target = tidy.zone_of(header) or ("schemas" if header.startswith("schemas/") else None)
            if ours and target not in (None, zone):
                found.add((zone, target))
    return found


def beyond(found, start):
    """Every folder that `start` leads to."""
    seen, open_ends = set(), [start]
    while open_ends:
        here = open_ends.pop()
        for zone, target in found:
            if zone == here and target not in seen:
                seen.add(target)
                open_ends.append(target)
    return seen


def picture(tree):
    found = arrows(tree)
    lines = ["graph TD"]
    for zone, target in sorted(found):
        others = {each for start, each in found if start == zone and each != target}
        if not any(target in beyond(found, other) for other in others):
            lines.append(f"  {zone} --> {target}")
    return "\n".join(lines) + "\n"


def main():
    root = Path(__file__).resolve().parents[2]
    page = root / PAGE
    drawn = picture(tidy.Tree(root))
    if "--write" in sys.argv[1:]:
        page.write_text(PICTURE.sub(lambda _: drawn, page.read_text(encoding="utf-8")),
                        encoding="utf-8")
    else:
        print(drawn, end="")


if __name__ == "__main__":
    main()
