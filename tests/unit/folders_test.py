"""The picture of the folders in ARCHITECTURE.md is the one that the includes draw."""

import tempfile
import unittest
from pathlib import Path

from tests.unit import folders, tidy

ROOT = Path(__file__).resolve().parents[2]


class Picture(unittest.TestCase):
    def test_is_what_the_includes_draw(self):
        shown = folders.PICTURE.findall((ROOT / folders.PAGE).read_text(encoding="utf-8"))
        self.assertEqual(shown, [folders.picture(tidy.Tree(ROOT))],
                         "run: python3 -m tests.unit.folders --write")

    def drawn(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, header in files.items():
                file = Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f'#include "{header}"\n')
            return folders.picture(tidy.Tree(root)).splitlines()[1:]

    def test_an_include_is_an_arrow_and_one_within_a_folder_is_none(self):
        self.assertEqual(self.drawn({"pusher/a.h": "fanline/model/item.h", "pusher/b.h": "pusher/a.h"}),
                         ["  pusher --> fanline/model"])

    def test_what_another_arrow_leads_to_is_left_out(self):
        self.assertEqual(self.drawn({"daemon/a.h": "http/server.h", "daemon/b.h": "fanline/base/time.h",
                                     "http/server.h": "fanline/base/time.h"}),
                         ["  daemon --> http", "  http --> fanline/base"])

    def test_wiring_draws_none(self):
        self.assertEqual(self.drawn({"pusher/main.cpp": "backends/redis/keys.h"}), [])
