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


def known_seconds(table: Path = TABLE) -> dict[str, float]:
    """Reads CPU seconds by unit; empty where there is no table."""
    if not table.exists():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        return {
            row["unit"]: float(row["cpu_seconds"]) for row in csv.DictReader(file, delimiter="\t")
        }


def write(table: Path, measured: Mapping[str, Cost]) -> None:
    """Writes a table; units that it had and that were not measured now stay in it.

    Args:
      table: the file, which need not exist.
      measured: costs by path in PyTorch's source tree.
    """
    rows: dict[str, dict[str, str]] = {}
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            rows = {row["unit"]: row for row in csv.DictReader(file, delimiter="\t")}
    for path, cost in measured.items():
        unit = name_of(path)
        rows[unit] = {
            "unit": unit,
            "cpu_seconds": f"{cost.cpu:.1f}",
            "memory_mb": f"{cost.memory / 1e6:.0f}",
        }
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[unit] for unit in sorted(rows))
