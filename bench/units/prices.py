"""What the kernel files outside the profile core cost, and what they would make run.

    ./bazelw run //bench/units:prices                            the table
    ./bazelw run //bench/units:prices -- --records FOLDER        with the tests of PyTorch that ask for them

A row is a set of files that an operator outside core needs and core does not compile. `--records` names what
`./bazelw run //upstream/tests:run -- --slice --record FOLDER` has written on a wheel of core: tests that fail for an
operator count as often as there are tests for each one of the slice.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aten_cuda.codegen.closure import needed_files
from aten_cuda.codegen.operators import Operators
from aten_cuda.codegen.reach import Sources
from aten_cuda.codegen.selection import Profile, Selection
from aten_cuda.codegen.source_index import SourceIndex
from upstream.full import costs
from upstream.tests import selection

_LACK = re.compile(r"Could not run '([^']+)' with arguments from the 'CUDA' backend")


def family(operator: str) -> str:
    """The name that the overloads and the in-place form of an operator have in common.

    Args:
        operator: such as "aten::mish_.out".
    """
    name = operator.removeprefix("aten::").partition(".")[0]
    return name if name.startswith("__") else name.removesuffix("_")


@dataclass
class Row:
    """A set of files that some operators need.

    Attributes:
        files: below aten/src/ATen, sorted.
        operators: families that need exactly these.
        in_models: whether the profile models has all of them.
        programs: of //tests/programs that call one of the operators.
        tests: of PyTorch's that fail for one of them, about.
    """

    files: tuple[str, ...]
    operators: set[str] = field(default_factory=set)
    in_models: bool = False
    programs: set[str] = field(default_factory=set)
    tests: int = 0

    def seconds(self, known: Mapping[str, float]) -> float | None:
        """CPU seconds that the files take, or none where one was not measured."""
        prices = [known.get(costs.name_of(f"aten/src/ATen/{file}")) for file in self.files]
        return None if None in prices else sum(price for price in prices if price is not None)


def lacking(folders: Iterable[Path]) -> dict[str, int]:
    """How many of PyTorch's tests fail for each family of operators, by records of slices.

    Args:
        folders: with records, whose names are those of selection.record.
    """
    parts = {selection.record(name): part for name, part in selection.PARTS.items()}
    found: dict[str, int] = defaultdict(int)
    for folder in folders:
        for record in sorted(folder.glob("*.jsonl")):
            for line in record.read_text(encoding="utf-8").splitlines():
                if lack := _LACK.search(json.loads(line).get("reason", "")):
                    found[family(lack[1])] += parts.get(record.name, 1)
    return found


def callers(text: str) -> dict[str, set[str]]:
    """The programs that call each family of operators.

    Args:
        text: of tests/programs/operators.txt.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for line in text.splitlines():
        operator, _, programs = line.partition(": ")
        found[family(operator)].update(programs.split())
    return found


def rows(
    sources: Sources,
    missing: Iterable[str],
    core: Profile,
    models: Profile,
    programs: Mapping[str, set[str]],
    tests: Mapping[str, int],
) -> list[Row]:
    """The rows of the table.

    Args:
        sources: PyTorch's.
        missing: families that full registers and core does not.
        core: the profile.
        models: the larger profile.
        programs: that call each family.
        tests: that fail for each family.
    """
    have = core.kernels | core.runtime_kernels
    found: dict[tuple[str, ...], Row] = {}
    for name in sorted(missing):
        profile = Profile(name=name, selections=(Selection(name, (name,)),))
        files = tuple(
            file
            for file in needed_files(sources, profile)
            if file not in have and not file.startswith("cuda/")
        )
        if not files:
            # Made of others, or served by files that core has.
            continue
        row = found.setdefault(files, Row(files))
        row.operators.add(name)
        row.in_models = set(files) <= models.kernels
        row.programs |= programs.get(name, set())
        row.tests += tests.get(name, 0)
    return list(found.values())


def table(found: Iterable[Row], known: Mapping[str, float]) -> list[str]:
    """The lines of the table, those of the greatest use first."""
    lines = [
        "| files | CPU s | profile | operators | programs | tests |",
        "|---|---|---|---|---|---|",
    ]

    def use(row: Row) -> tuple[float, ...]:
        gain = len(row.programs) * 50 + row.tests
        return (-gain / ((row.seconds(known) or 1e3) + 1), len(row.files))

    for row in sorted(found, key=use):
        seconds = row.seconds(known)
        names = sorted(row.operators)
        shown = ", ".join(f"`{name}`" for name in names[:4])
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        cells = (
            ", ".join(f"`{Path(file).name}`" for file in row.files),
            "not measured" if seconds is None else f"{seconds:.0f}",
            "models" if row.in_models else "full",
            shown + more,
            str(len(row.programs)),
            str(row.tests),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", type=Path, required=True, help="PyTorch's version.txt")
    parser.add_argument("--index", type=Path, nargs="+", required=True)
    for name in ("core", "models", "full-registrations", "core-registrations", "operators"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--costs", type=Path, default=costs.TABLE, help="default: costs.tsv")
    parser.add_argument("--records", type=Path, action="append", default=[])
    options = parser.parse_args(argv)
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))

    def registered(path: Path) -> set[str]:
        return {family(name) for name in json.loads(path.read_text(encoding="utf-8"))["CUDA"]}

    missing = registered(options.full_registrations) - registered(options.core_registrations)
    found = rows(
        Sources(Operators(options.version.resolve().parent), SourceIndex.read(options.index)),
        missing,
        Profile.load(str(options.core)),
        Profile.load(str(options.models)),
        callers(options.operators.read_text(encoding="utf-8")),
        lacking(here / folder for folder in options.records),
    )
    print("\n".join(table(found, costs.known_seconds(here / options.costs))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
