"""Each shape of a statement that tests of this run sent has an entry in catalogue.py."""

import json
import os
import unittest
from pathlib import Path

from stack.statement_shapes import FOLDER
from tests.statements.catalogue import answer_to

HOW = """
A statement of a shape nobody has looked at: {shape}

  for example: {example}

Every shape is run on 100,000 rows with ids of every length, so that none scans a table unseen. Add to ENTRIES in
tests/statements/catalogue.py, beside its like:

    entry("... WHERE author_id IN ([]) ...", listed(owners(LIST))),    # [] is a list; plain text where there is none

then run `/usr/bin/python3 -m unittest -v tests.statements.cost_test`. What only a test says, or must read a whole table,
goes to EXCEPTIONS there with its reason. LARGE DECIMAL, MIXED: write the list with InList
(backends/mysql/sql/sql_text.h).
"""


class Seen(unittest.TestCase):
    def test_every_shape_has_an_entry(self):
        folder = os.environ.get(FOLDER)
        if not folder or not Path(folder).is_dir():
            self.skipTest("no test of this run kept its statements")
        seen = {}
        for file in sorted(Path(folder).glob("*.json")):
            seen.update(json.loads(file.read_text(encoding="utf-8")))
        for shape, example in sorted(seen.items()):
            with self.subTest(shape):
                self.assertIsNotNone(answer_to(shape), HOW.format(shape=shape, example=example))
