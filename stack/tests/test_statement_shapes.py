"""What a statement's shape is, and which statements of a general log count."""

import tempfile
import unittest
from pathlib import Path

from stack.statement_shapes import FIXTURE, counted, shape_of


class Shapes(unittest.TestCase):
    def test_lists_rows_and_sub_selects_stand_once(self):
        for sql, shape in [
                ("SELECT a FROM t WHERE a IN (0x1,0xfffffffffffffffe) LIMIT 10",
                 "SELECT a FROM t WHERE a IN (?+) LIMIT ?"),
                ("SELECT a FROM t WHERE (a, b) IN ((1,2),(3,4),(5,6)) FOR UPDATE",
                 "SELECT a FROM t WHERE (a, b) IN ((?,?)+) FOR UPDATE"),
                ("INSERT INTO t (a, b) VALUES (1,NULL),(-2,'it''s \\' (1)') ON DUPLICATE KEY UPDATE a = a + (-1)",
                 "INSERT INTO t (a, b) VALUES (?,?)+ ON DUPLICATE KEY UPDATE a = a + (?)"),
                ("(SELECT a FROM t WHERE b = 1) UNION ALL (SELECT a FROM t WHERE b = 2)",
                 "(SELECT a FROM t WHERE b = ?)+"),
                ("SELECT 0, a FROM t1\n UNION ALL\n SELECT 1, a FROM t2",
                 "SELECT ?, a FROM t1 UNION ALL SELECT ?, a FROM t2"),
                ("SELECT x FROM `t` WHERE (`a` = 1 AND `b` = 2) OR (`a` = 3 AND `b` = 4)",
                 "SELECT x FROM `t` WHERE (`a` = ? AND `b` = ?)+"),
                ("SET STATEMENT max_statement_time = 15.000000 FOR SELECT 1 FROM t", "SELECT ? FROM t"),
                ("/*M! SET STATEMENT max_statement_time = 15.000 FOR */ SELECT /*+ MAX_EXECUTION_TIME(15000) */ 1 FROM t",
                 "SELECT ? FROM t"),
                *[(f"CREATE {how}PROCEDURE p(a INT) SELECT a", "CREATE PROCEDURE p") for how in ("", "/*M! OR REPLACE */ ")],
                ("-- why\nCREATE TABLE IF NOT EXISTS t (a INT) -- it's\n",
                 "CREATE TABLE IF NOT EXISTS t")]:
            with self.subTest(sql):
                self.assertEqual(shape_of(sql), shape)

    def test_a_repetition_changes_nothing(self):
        rows = ",".join(["(1,2)"] * 3)
        for template in ("INSERT INTO t VALUES {}", "SELECT a FROM t WHERE (a, b) IN ({})"):
            self.assertEqual(shape_of(template.format(rows)), shape_of(template.format("(7,8)")))
        self.assertEqual(shape_of("(SELECT 1 FROM t)"), shape_of("(SELECT 1 FROM t) UNION ALL (SELECT 2 FROM t)"))

    def test_a_list_with_large_decimals_is_another_shape(self):
        large = shape_of("SELECT a FROM t WHERE a IN (1,9223372036854775808)")
        self.assertIn("LARGE DECIMAL", large)
        self.assertEqual(shape_of("SELECT a FROM t WHERE a IN (1,9223372036854775807)"),
                         shape_of("SELECT a FROM t WHERE a IN (7)"))
        self.assertNotIn("LARGE", shape_of("SELECT a FROM t WHERE a = 9223372036854775808"))

    def test_so_is_a_list_of_decimal_and_hexadecimal_literals(self):
        self.assertIn("MIXED", shape_of("SELECT a FROM t WHERE a IN (1,0x8000000000000000)"))


class Log(unittest.TestCase):
    def test_only_the_users_own_statements_count(self):
        for program, first, later in [
                ("mariadbd, Version: 10.11.", "261122  2:09:10\t", "\t\t"),
                ("mysqld, Version: 9.7.4-2 ((Debian)).", *["2026-11-22T02:09:10.123456Z\t"] * 2)]:
            lines = [
                f"/usr/sbin/{program} started with:",
                "Time\t\t    Id Command\tArgument",
                f"{first}     3 Connect\tfanline@127.0.0.1 on fanline using TCP/IP",
                f"{later}     3 Query\tSELECT 1",
                "  FROM t",
                f"{later}     4 Connect\tadmin@127.0.0.1 on fanline using SSL/TLS",
                f"{first}     4 Query\tSELECT 2",
                f"{later}     3 Quit\t",
                f"{later}     5 Connect\tfanline@127.0.0.1 on fanline using TCP/IP",
                f"{later}     5 Query\t{FIXTURE}",
                f"{later}     5 Query\tSELECT 3",
                f"/usr/sbin/{program} started with:",
                f"{later}     3 Connect\tadmin@127.0.0.1 on fanline using TCP/IP",
                f"{later}     3 Query\tSELECT 4"]
            with self.subTest(program), tempfile.NamedTemporaryFile("w", suffix=".statements") as log:
                log.write("\n".join(lines))
                log.flush()
                self.assertEqual(list(counted(Path(log.name), "fanline")), ["SELECT 1\n  FROM t"])
