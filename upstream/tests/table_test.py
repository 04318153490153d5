"""Rows are written into a page's table, and read from it."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from upstream.tests import results, table
from upstream.tests.outside import Outside

PAGE = "# A page\n\n<!-- slices: begin -->\n<!-- slices: end -->\n\nMore.\n"


def verdict(*outcomes: str) -> results.Verdict:
    found = [results.Result(f"T.{number}", outcome) for number, outcome in enumerate(outcomes)]
    return results.judge(found, [], Outside(), complete=False)


class TableTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.page = pathlib.Path(self.create_tempfile(content=PAGE).full_path)

    def rows(self) -> dict[str, str]:
        return table.rows(self.page.read_text(encoding="utf-8"), table.SLICES)

    def test_a_row_has_every_outcome(self) -> None:
        self.assertEqual(
            table.row(
                "test_nn.py",
                verdict("passed", "passed", results.ORDER_DEPENDENT, "skipped"),
                parts=60,
            ),
            "| `test_nn.py` | 1 of 60 | 2 | 1 | 0 | 0 | 1 |",
        )

    def test_rows_are_written_in_the_order_of_the_selection(self) -> None:
        rows = {name: table.row(name, verdict("passed")) for name in ("test_nn.py", "test_ops.py")}
        table.update(self.page, table.SLICES, rows)
        self.assertEqual(list(self.rows().items()), sorted(rows.items(), reverse=True))

    def test_other_rows_and_the_text_around_stay(self) -> None:
        first = table.row("test_nn.py", verdict("passed"))
        table.update(self.page, table.SLICES, {"test_nn.py": first})
        table.update(self.page, table.SLICES, {"test_ops.py": table.row("test_ops.py", verdict())})
        self.assertEqual(self.rows()["test_nn.py"], first)
        text = self.page.read_text(encoding="utf-8")
        self.assertStartsWith(text, "# A page\n\n")
        self.assertEndsWith(text, "<!-- slices: end -->\n\nMore.\n")

    def test_a_page_without_the_table_is_an_error(self) -> None:
        with self.assertRaisesRegex(table.TableError, "all tests: begin"):
            table.update(self.page, table.ALL, {})


if __name__ == "__main__":
    absltest.main()
