"""No message changes for those who know it already."""

import shutil
import tempfile
import unittest
from pathlib import Path

from tests.upgrades import schemas

HINT = "schemas/proto/hint.proto"


class Schemas(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def image(self, root=schemas.ROOT):
        image = self.folder / "image.binpb"
        schemas.compile_to(image, root)
        return image

    def changed(self, find, replace):
        root = self.folder / "changed"
        shutil.copytree(schemas.ROOT / "schemas" / "proto", root / "schemas" / "proto")
        text = (root / HINT).read_text(encoding="utf-8")
        self.assertIn(find, text)
        (root / HINT).write_text(text.replace(find, replace), encoding="utf-8")
        found = schemas.broken(self.image(root), schemas.RECORDED)
        shutil.rmtree(root)
        return found

    def test_today_breaks_nothing_since_the_first_version(self):
        self.assertEqual(schemas.broken(self.image(), schemas.FIRST), [])

    def test_today_is_recorded_and_breaks_nothing_recorded(self):
        image = self.image()
        self.assertEqual(schemas.broken(image, schemas.RECORDED), [])
        self.assertEqual(schemas.broken(schemas.RECORDED, image), [], "something is new; run: make reference")

    def test_changes_that_readers_of_before_would_not_understand_are_named(self):
        for find, replace, named in [("uint64 post_id = 2;", "string post_id = 2;", "post_id"),
                                     ("uint64 post_id = 2;", "uint64 post_id = 9;", '"2"'),
                                     ("  uint64 post_id = 2;\n", "", "post_id"),
                                     ("uint64 followers = 4;", "uint64 readers = 4;", "readers")]:
            with self.subTest(replace):
                self.assertTrue(any(named in line for line in self.changed(find, replace)))

    def test_a_field_more_breaks_nothing(self):
        self.assertEqual(self.changed("message SyncHint {", "message SyncHint {\n  uint64 more = 9;"), [])


if __name__ == "__main__":
    unittest.main()
