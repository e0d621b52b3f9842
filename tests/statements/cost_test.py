"""Each entry of catalogue.py reads little more than it returns, from tables of 100,000 rows."""

import unittest

from stack.local_stack import LocalStack
from tests.statements import dataset
from tests.statements.catalogue import ENTRIES

SLACK = 50


class Cost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = LocalStack(shards=1).start()
        cls.addClassCleanup(stack.stop)
        cls.client = stack.mysql[0].client()
        cls.addClassCleanup(cls.client.close)
        dataset.fill(cls.client)
        for table, in cls.client.query("SHOW TABLES"):  # MySQL reads what a table is when it first opens it
            cls.client.query(f"SELECT 1 FROM {table} LIMIT 1")

    def test_tables_are_large(self):
        for table in dataset.TABLES:
            (rows,), = self.client.query(f"SELECT COUNT(*) FROM {table}")
            self.assertGreaterEqual(int(rows), dataset.ROWS * 0.99, table)

    def test_each_statement_reads_little_more_than_it_returns(self):
        for each in [*ENTRIES, *(entry.of_one for entry in ENTRIES if entry.of_one)]:
            with self.subTest(each.shape, elements=each.elements):
                returned, reads = self.run_once(each.sql)
                most = 2 * (returned + each.elements) + SLACK + each.more
                self.assertLessEqual(reads, most, f"{returned} rows, {each.elements} elements")

    def run_once(self, sql):
        self.client.query("START TRANSACTION")
        before = self.reads()
        result = self.client.query(sql)
        reads = self.reads() - before
        self.client.query("ROLLBACK")
        return len(result) if isinstance(result, list) else 0, reads

    def reads(self):
        return sum(int(value) for _, value in
                   self.client.query("SHOW SESSION STATUS LIKE 'Handler_read%'"))
