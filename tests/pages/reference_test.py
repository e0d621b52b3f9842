"""The pages that are made of something else tell all of it."""

import unittest

from pages import configuration, reference, schemas
from helm.options import options_of
from tests.pages.links_test import ROOT


class Reference(unittest.TestCase):
    def test_every_option_of_every_daemon_is_in_the_part_of_its_daemons(self):
        text = configuration.text(reference.programs())
        parts = {part.splitlines()[0]: part for part in text.split("\n## ")}
        for daemon in configuration.DAEMONS:
            options = options_of(reference.programs() / f"fanline-{daemon}")
            self.assertGreater(len(options), 20)
            for name in options:
                rows = [line for title in ("Every daemon", "Several daemons", f"fanline-{daemon}")
                        for line in parts[title].splitlines()
                        if line.startswith(f"| `--{name}` ")
                        and (title != "Several daemons" or daemon in line.rsplit("|", 2)[1])]
                self.assertEqual(len(rows), 1, f"{daemon} --{name}")


class Schemas(unittest.TestCase):
    def test_every_field_and_every_column_is_there(self):
        for path in (ROOT / "schemas" / "proto").glob("*.proto"):
            text = path.read_text(encoding="utf-8")
            fields = sum(len(group.rows) for group in schemas.messages(text)[1])
            self.assertEqual(fields, sum(" = " in line.split("//")[0] and "syntax" not in line
                                         for line in text.splitlines()), path)
        sql = (ROOT / "schemas" / "sql" / "shard.sql").read_text(encoding="utf-8")
        tables = schemas.tables(sql)[1]
        self.assertEqual(len(tables), sql.count("CREATE TABLE"))
        self.assertTrue(all(group.rows and group.keys for group in tables))

    def test_comments_stay_with_what_they_are_about(self):
        about, (first, second) = schemas.messages(
            "// The file.\nsyntax = \"proto3\";\n\n// One.\nmessage A {\n  // Above,\n  // two lines.\n"
            "  uint64 a = 1;  // and beside\n  oneof b {\n    B c = 2;\n  }\n}\nmessage B {\n  repeated string d = 3;\n}\n")
        self.assertEqual(about, ["The file."])
        self.assertEqual((first.name, first.about, first.rows[0]),
                         ("A", ["One."], schemas.Row("a", "uint64", ["Above,", "two lines.", "and beside"], "1")))
        self.assertEqual((first.rows[1].about, second.rows[0].kind), ([], "repeated string"))
        deep = " " * schemas.DEEP
        about, (table,) = schemas.tables(
            f"-- The file.\n\n-- A table.\nCREATE TABLE IF NOT EXISTS t (\n  a  INT NOT NULL,{deep} -- beside,\n{deep} -- on\n"
            "  -- above\n  b  INT\n  DEFAULT 1,\n  PRIMARY KEY (a),\n  KEY k (b, a)\n) ENGINE = InnoDB;\nALTER TABLE t ADD c INT;\n")
        self.assertEqual((about, table.about), (["The file."], ["A table."]))
        self.assertEqual(table.rows, [schemas.Row("a", "INT NOT NULL", ["beside,", "on"]),
                                      schemas.Row("b", "INT DEFAULT 1", ["above"])])
        self.assertEqual(table.keys, ["PRIMARY KEY (a)", "KEY k (b, a)"])
