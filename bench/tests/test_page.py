import unittest

from bench.measure import row
from bench.page import BEGIN, END, filled

_PAGE = f"before\n{BEGIN}\nold figures\n{END}\nafter\n"


class Page(unittest.TestCase):
    def test_puts_the_figures_between_the_marks_and_leaves_the_rest(self):
        page = filled(_PAGE, [{**row("deliveries", [20], "x/s", "other", [10]), "machine": "m"}])

        self.assertTrue(page.startswith(f"before\n{BEGIN}\n") and page.endswith(f"{END}\nafter\n"))
        self.assertIn("| `deliveries` | 20 x/s | 10 other | 2.00 |", page)
        self.assertNotIn("old figures", page)

    def test_refuses_rows_of_several_runs(self):
        rows = [{**row(name, [20], "x/s", "other", [10]), "machine": name} for name in ("a", "b")]
        with self.assertRaisesRegex(SystemExit, "rows of several runs"):
            filled(_PAGE, rows)

    def test_doing_it_again_changes_nothing(self):
        rows = [{**row("deliveries", [20], "x/s", "other", [10]), "machine": "m"}]
        once = filled(_PAGE, rows)
        self.assertEqual(filled(once, rows), once)
