"""Every link of a page leads to a file and a heading that are there, every page is in the site's navigation,
and pages are gathered for the site as mkdocs.yml expects them. `make site` has mkdocs itself judge them."""

import posixpath
import re
import unittest
from pathlib import Path

import yaml

from pages import gather, markdown

ROOT = Path(__file__).resolve().parents[2]


def documents(root=ROOT):
    """Path -> text of every page that a reader may be led to."""
    found = {path: (root / path).read_text(encoding="utf-8") for path in gather.tracked(root)
             if path.endswith(".md") and not path.startswith("tests/")}
    return found


def broken(texts, exists):
    """"page:line: what" of each link that leads nowhere."""
    for path, text in texts.items():
        for line, target in markdown.links(text):
            file, _, anchor = target.partition("#")
            if ":" in file:
                continue
            full = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            if not exists(full):
                yield f"{path}:{line}: {target}: no such file"
            elif anchor and full in texts and anchor not in markdown.anchors(texts[full]):
                yield f"{path}:{line}: {target}: no such heading"


class Loader(yaml.SafeLoader):
    """mkdocs.yml names functions of Python, which are nothing to us."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


def navigation():
    """The pages that mkdocs.yml lists, by their paths in the site."""
    def pages_of(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for each in (entry.values() if isinstance(entry, dict) else entry) for page in pages_of(each)]

    return pages_of(yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"])


class Repository(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        texts = documents()
        self.assertGreater(sum(len(list(markdown.links(text))) for text in texts.values()), 100)
        self.assertEqual(list(broken(texts, lambda path: (ROOT / path).exists())), [])

    def test_every_page_is_in_the_navigation_once(self):
        where = gather.places(gather.tracked(ROOT))
        there = {place for place in where.values() if place.endswith(".md")}
        listed = navigation()
        self.assertEqual(len(listed), len(set(listed)))
        decisions = {place for place in there if place.startswith("decisions/")}
        self.assertGreater(len(decisions), 20)  # their own page names them
        self.assertEqual(set(listed) ^ (there - decisions), gather.MADE)

    def test_no_gathered_link_is_lost_within_the_site(self):
        texts = documents()
        where = gather.places(gather.tracked(ROOT))
        gathered = {place: gather.page(path, texts[path], where) for path, place in where.items() if path in texts}
        files = {*where.values(), *gather.MADE}
        self.assertEqual(list(broken(gathered, files.__contains__)), [])
        kept = sum(":" not in target for text in gathered.values() for _, target in markdown.links(text))
        local = sum(":" not in target for path in where if path in texts
                    for _, target in markdown.links(texts[path]))
        self.assertGreater(kept, local - 10)  # folders of sources, and the like

    def test_lines_of_prose_are_at_most_120_wide(self):
        wide = [f"{path}:{number}" for path, text in documents().items() if path == "README.md" or path.startswith("docs/")
                for number, line in markdown.prose(re.sub(r"(?<=<!-- figures).*?(?=<!-- end)", "", text, flags=re.S))
                if len(line.rstrip("\n")) > 120 and not line.startswith("|")]
        self.assertEqual(wide, [])

    def test_runbooks_have_the_addresses_that_alerts_name(self):
        where = set(gather.places(gather.tracked(ROOT)).values())
        named = {re.search(r"example/(runbooks/\w+)/#", line)[1] for file in (ROOT / "prometheus" / "rules").glob("*.yaml")
                 for line in file.read_text(encoding="utf-8").splitlines() if "runbook_url:" in line}
        self.assertTrue(named)
        self.assertLessEqual({f"{page}.md" for page in named}, where)


class Rules(unittest.TestCase):
    def check(self, texts, *found):
        self.assertEqual([line.split(": ", 1)[1] for line in broken(texts, {*texts, "a/c.py"}.__contains__)], list(found))

    def test_links_to_files_and_headings_that_are_not_there_are_named(self):
        self.check({"a.md": "[x](a/b.md) [y](#two-words) [z](a/c.py#L7)\n# Two words\n", "a/b.md": "[up](../a.md#two-words)\n"})
        self.check({"a.md": "[x](b.md)\n"}, "b.md: no such file")
        self.check({"a.md": "[x](a/b.md#there)\n", "a/b.md": "# Here\n"}, "a/b.md#there: no such heading")
        self.check({"a/b.md": "![p](../c.png)\n"}, "../c.png: no such file")
        self.check({"a.md": "[![p](c.png)](a.md)\n"}, "c.png: no such file")

    def test_code_holds_no_links_and_no_headings(self):
        self.check({"a.md": "`[x](b.md)` and\n```\n[x](b.md)\n# No\n```\n"})
        self.check({"a.md": "```\n# No\n```\n[x](#no)\n"}, "#no: no such heading")

    def test_anchors_are_those_of_github(self):
        self.assertEqual(markdown.anchors("## `feedctl` delete, hide: a_b\n### It's - so\n## [A](b.md) c\n"),
                         {"feedctl-delete-hide-a_b", "its---so", "a-c"})

    def test_a_gathered_page_links_to_pages_of_the_site(self):
        where = gather.places(["README.md", "docs/a.md", "docs/sub/b.md", "helm/fanline/README.md", "stack/setup"])
        self.assertEqual(where, {"README.md": "index.md", "docs/a.md": "a.md", "docs/sub/b.md": "sub/b.md",
                                 "helm/fanline/README.md": "chart.md"})
        self.assertEqual(gather.page("docs/sub/b.md", "[r](../../README.md#x) [a](../a.md) [s](../../stack/setup) `[a](b)`\n",
                                     where), "[r](../index.md#x) [a](../a.md) s `[a](b)`\n")
        self.assertEqual(gather.page("README.md", "[d](docs/decisions/) [b](docs/sub/b.md) [u](https://a.b/c)\n", where),
                         "[d](decisions/index.md) [b](sub/b.md) [u](https://a.b/c)\n")
        self.assertEqual(gather.page("helm/fanline/README.md", "[ci](ci) [b](../../docs/sub/b.md)\n", where),
                         "ci [b](sub/b.md)\n")

    def test_a_pipe_in_code_in_a_table_is_shown_without_its_backslash(self):
        where = {"docs/a.md": "a.md"}
        self.assertEqual(gather.page("docs/a.md", "| `a\\|b` | c \\| d |\n`x\\|y`\n", where), "| `a|b` | c \\| d |\n`x\\|y`\n")

    def test_the_page_of_decisions_names_them_by_number(self):
        self.assertEqual(gather.decisions({"0002-b.md": "# 2. Two\n", "0001-a.md": "# 1. One: first\n"}).splitlines()[-2:],
                         ["- **1** [One: first](0001-a.md)", "- **2** [Two](0002-b.md)"])
