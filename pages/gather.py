#!/usr/bin/python3
"""Gathers the pages of the site for mkdocs.yml: those of docs/, what lies elsewhere under a name of its own, and what
is made of the built programs and of schemas/. Links between files of the repository become links between pages.
`make site` builds what it wrote."""

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "site" / "pages"

sys.path.insert(0, str(ROOT))
from pages import reference  # noqa: E402  (a script finds its siblings by the root)
from pages.markdown import CODE, with_links  # noqa: E402

# Repository -> site, of what is not below docs/.
ELSEWHERE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "helm/fanline/README.md": "chart.md",
    "schemas/redis/README.md": "redis.md",
    "schemas/sql/README.md": "sql.md",
    "api/openapi.yaml": "openapi.yaml",
}
DECISIONS = "decisions/index.md"
# What a link leads to in the repository -> the page that stands for it here.
INSTEAD = {
    "docs/decisions": DECISIONS,
    "schemas/proto": reference.SCHEMAS,
    "schemas/sql/shard.sql": reference.SCHEMAS,
}
MADE = {*INSTEAD.values(), reference.CONFIGURATION}


def places(paths):
    """Path in the repository -> in the site, of those of `paths` that belong to it."""
    inside = {path: path.removeprefix("docs/") for path in paths if path.startswith("docs/")}
    return inside | {path: ELSEWHERE[path] for path in paths if path in ELSEWHERE}


def page(path, text, where):
    """A page of the repository as the site shows it; `where`: what places() said."""
    here = posixpath.dirname(path)

    def other(target):
        file, mark, anchor = target.partition("#")
        if ":" in file or not file:
            return target
        full = posixpath.normpath(posixpath.join(here, file))
        place = INSTEAD.get(full) or where.get(full)
        if place is None:
            return None  # of the repository alone, such as a folder of sources
        return posixpath.relpath(place, posixpath.dirname(where[path]) or ".") + mark + anchor

    return plain_pipes(with_links(text, other))


def plain_pipes(text):
    """GitHub wants a pipe in code in a table behind a backslash, mkdocs shows that backslash."""
    return re.sub(r"^\|.*$", lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text, flags=re.M)


def decisions(texts):
    """The page that names them all; `texts`: file name -> text."""
    lines = ["# Decisions", "", "Each is argued on a page: what, why, what else was considered, which test holds it.", ""]
    for name in sorted(texts):
        number, _, title = texts[name].splitlines()[0].removeprefix("# ").partition(". ")
        lines.append(f"- **{number}** [{title}]({name})")
    return "\n".join(lines) + "\n"


def tracked(root):
    """Files of the repository, without what is made or thrown away."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for path in listed if (root / path).is_file()]


def main():
    where = places(tracked(ROOT))
    shutil.rmtree(OUT, ignore_errors=True)
    for path, place in where.items():
        target = OUT / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            target.write_text(page(path, (ROOT / path).read_text(encoding="utf-8"), where), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / path, target)
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "decisions").glob("*.md")}
    (OUT / DECISIONS).write_text(decisions(texts), encoding="utf-8")
    for place, text in reference.generated().items():
        made = f"docs/{place}"  # its links are those of a page that lies there
        (OUT / place).write_text(page(made, text, where | {made: place}), encoding="utf-8")


if __name__ == "__main__":
    main()
