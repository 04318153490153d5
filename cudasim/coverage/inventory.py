"""Which instructions the simulated device has, and which its tests check, as the tests say it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

# Instructions that a warp executes itself have no handler, so their names come from the
# tests' records.
SCHEDULER = "control"


class CoverageError(Exception):
    """A test fails, or records nothing; the text says which."""


@dataclass(frozen=True)
class Instruction:
    """One instruction with all its modifiers.

    Attributes:
        family: the source file that executes it, without its suffix.
        key: opcode and modifiers, in the order of `canonical_key` (engine/instructions/key.h).
        tests: sources of the tests that compared its results, sorted.
    """

    family: str
    key: str
    tests: tuple[str, ...]


def run_and_record(tests: Iterable[pathlib.Path]) -> list[str]:
    """Runs test programs and reads what they recorded.

    Args:
        tests: programs that write to the file in CUDASIM_COVERAGE
            (engine/testing/coverage_record.h).

    Returns:
        The lines of all records.

    Raises:
        CoverageError: a test fails, or records nothing.
    """
    lines: list[str] = []
    for program in tests:
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "record"
            done = subprocess.run(
                [program.resolve()],
                env={**os.environ, "CUDASIM_COVERAGE": str(record)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise CoverageError(
                    f"{program.name} fails; repair it first:\n{done.stdout[-2000:]}"
                )
            if not record.exists():
                raise CoverageError(f"{program.name} recorded no instruction it checked")
            lines += record.read_text(encoding="utf-8").splitlines()
    return lines


def instructions(record: Iterable[str]) -> list[Instruction]:
    """All instructions, each once, in the order of the families.

    Args:
        record: lines "has TAB family TAB key" for each row, and "checked TAB key TAB test" for each check; keys that are checked and in no family are
            the scheduler's.
    """
    families: dict[str, str] = {}
    tests: dict[str, set[str]] = defaultdict(set)
    for line in record:
        kind, first, second = line.split("\t")
        if kind == "has":
            families.setdefault(second, first)
        else:
            tests[first].add(second)
    for key in sorted(tests):
        families.setdefault(key, SCHEDULER)
    return [
        Instruction(family, key, tuple(sorted(tests.get(key, ()))))
        for key, family in families.items()
    ]
