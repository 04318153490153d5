"""The tables of a page that say what becomes of upstream's tests: one row a file, written by the runner."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from upstream.tests import selection
from upstream.tests.results import Verdict

ALL = "all tests"
SLICES = "slices"
"""The names of the tables, as a page's comments have them."""

_HEAD = (
    "| file | run | passed | order-dependent | not in the profile | failed as listed | upstream skips |",
    "|---|---|---|---|---|---|---|",
)


class TableError(Exception):
    """A page lacks a table; the text says which."""


def row(name: str, verdict: Verdict, parts: int = 1) -> str:
    """The row of one file without failures that are not listed.

    Args:
        name: of the file.
        verdict: what became of its tests.
        parts: one test of so many was run.
    """
    cells = (
        f"`{name}`",
        "all" if parts == 1 else f"1 of {parts}",
        verdict.passed,
        len(verdict.order_dependent),
        verdict.outside,
        verdict.known,
        verdict.skipped,
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def rows(page: str, name: str) -> dict[str, str]:
    """The rows of a table by their files.

    Args:
        page: its text.
        name: of the table.

    Raises:
        TableError: the page has no such table.
    """
    lines = _parts(page, name)[1].splitlines()
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def update(path: pathlib.Path, name: str, new: Mapping[str, str]) -> None:
    """Replaces rows of a table; those of files that are selected no more go.

    Args:
        path: of the page.
        name: of the table.
        new: rows by their files.

    Raises:
        TableError: the page has no such table.
    """
    page = path.read_text(encoding="utf-8")
    known = {**rows(page, name), **new}
    lines = [*_HEAD, *(known[file] for file in selection.EXPRESSIONS if file in known)]
    before, _, after = _parts(page, name)
    path.write_text(before + "\n".join(lines) + "\n" + after, encoding="utf-8")


def _parts(page: str, name: str) -> tuple[str, str, str]:
    """What is before a table, the table, and what is behind it."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    if begin not in page or end not in page:
        raise TableError(f"the page has no lines {begin.strip()!r} and {end!r}; add them")
    before, rest = page.split(begin, 1)
    table, after = rest.split(end, 1)
    return before + begin, table, end + after
