"""The table of what upstream's units cost: costs.tsv, which `build --costs` writes."""

import csv
from collections.abc import Mapping
from pathlib import Path

from upstream.full.compilers import Cost

TABLE = Path(__file__).with_name("costs.tsv")
_FIELDS = ("unit", "cpu_seconds", "memory_mb")
# What ATen's folders are cut off from in the names of targets (//upstream:library.bzl).
_FOLDERS = ("aten/src/ATen/native/", "aten/src/ATen/", "torch/csrc/")


def unit_of(label: str) -> str:
    """Returns the name under which the table has a unit.

    Args:
      label: the unit's label, such as `//aten_cuda/native:cuda/AbsKernel.cu.nvcc`; CUDA units are compiled by a target of
        that ending.
    """
    return label.rpartition(":")[2].removesuffix(".nvcc")


def name_of(path: str) -> str:
    """Returns the name of the target that compiles a unit, given its path in PyTorch's source tree."""
    for folder in _FOLDERS:
        if path.startswith(folder):
            return path.removeprefix(folder)
    return path


def _read(table: Path) -> dict[str, dict[str, str]]:
    """Reads the rows of a table by unit; none where there is no table."""
    if not table.exists():
        return {}
    if not table.is_file():
        raise ValueError(f"{table} is no file")
    with table.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        if tuple(reader.fieldnames or _FIELDS) != _FIELDS:
            raise ValueError(
                f"{table} is no table of costs: it has no columns {', '.join(_FIELDS)}"
            )
        return {row["unit"]: row for row in reader}


def known_seconds(table: Path = TABLE) -> dict[str, float]:
    """Reads CPU seconds by unit; empty where there is no table."""
    return {unit: float(row["cpu_seconds"]) for unit, row in _read(table).items()}


def write(table: Path, measured: Mapping[str, Cost]) -> None:
    """Writes a table; units that it had and that were not measured now stay in it.

    Args:
      table: the file, which need not exist.
      measured: costs by path in PyTorch's source tree.

    Raises:
      OSError: it cannot be written; what was there is still there.
      ValueError: the file is something else.
    """
    # A link is followed: it is its target that is replaced.
    table = table.resolve()
    rows = _read(table)
    for path, cost in measured.items():
        unit = name_of(path)
        rows[unit] = {
            "unit": unit,
            "cpu_seconds": f"{cost.cpu:.1f}",
            "memory_mb": f"{cost.memory / 1e6:.0f}",
        }
    # Whole or not at all: a disk may be full, and a build may be interrupted at any time.
    unfinished = table.with_name(table.name + ".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[unit] for unit in sorted(rows))
    unfinished.replace(table)
