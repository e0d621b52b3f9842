"""The site builds in strict mode, and what alerts link to is there."""

import re
import subprocess
import unittest

from tests.pages.links_test import ROOT, navigation

HTML = ROOT / "build" / "site" / "html"


def build(*words):
    return subprocess.run([ROOT / "pages" / "site", *words], capture_output=True, text=True, check=False)


class Site(unittest.TestCase):
    def test_it_builds_and_has_what_alerts_link_to(self):
        built = build()
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        for page in navigation():
            folder = page.removesuffix(".md").removesuffix("index")
            self.assertTrue((HTML / folder / "index.html").is_file(), page)
        self.assertIn("<code>debug|info|warn|error</code>", (HTML / "configuration" / "index.html").read_text(encoding="utf-8"))
        links = {match for file in (ROOT / "prometheus" / "rules").glob("*.yaml")
                 for match in re.findall(r"runbook_url: https://fanline\.example/(\S+)/#(\S+)", file.read_text())}
        self.assertGreater(len(links), 10)
        for page, anchor in links:
            self.assertIn(f'id="{anchor}"', (HTML / page / "index.html").read_text(encoding="utf-8"))

    def test_mkdocs_ends_with_what_it_warns_about(self):
        subprocess.run(["/usr/bin/python3", ROOT / "pages" / "gather.py"], check=True)
        with open(ROOT / "build" / "site" / "pages" / "glossary.md", "a", encoding="utf-8") as page:
            page.write("\n[x](metrics.md#nowhere)\n")
        built = build("--gathered")
        self.assertNotEqual(built.returncode, 0)
        self.assertIn("'#nowhere'", built.stderr)
