"""What the simulated device has, and what its tests reach, as the build and the tests say it."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Instructions that a warp executes itself have no handler, so their names come from the
# tests' records.
SCHEDULER = "control"


class CoverageError(Exception):
    """A test fails, or a file is not what it should be; the text says which."""


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


@dataclass
class Library:
    """One drop-in library.

    Attributes:
        soname: such as `libcudart.so.12`.
        functions: those that are implemented, with the tests that call them, sorted.
        missing: how many more functions NVIDIA's library exports, which answer "not supported".
    """

    soname: str
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: int = 0


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
        record: lines "has TAB family TAB key" for each handler, and "checked TAB key TAB test"
            for each check; keys that are checked and in no family are the scheduler's.
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


def called(objects: Iterable[pathlib.Path]) -> set[str]:
    """The functions that object files or archives refer to and do not define.

    Raises:
        CoverageError: nm cannot read one.
    """
    names: set[str] = set()
    for path in objects:
        done = subprocess.run(
            ["nm", "--undefined-only", "--format=posix", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise CoverageError(f"nm cannot read {path}: {done.stderr.strip()}")
        names |= {line.split()[0] for line in done.stdout.splitlines() if " U" in line}
    return names


def library(
    soname: str, version_script: str, stubs: str, calls: Mapping[str, Iterable[str]]
) -> Library:
    """What a drop-in library has, from the two files that cudasim/dropin writes for it.

    Args:
        soname: of the library.
        version_script: names everything that it exports.
        stubs: C code with a function for each name that is missing.
        calls: the functions that each test calls.
    """
    exported = set(re.findall(r"^    (\w+);$", version_script, re.MULTILINE))
    missing = set(re.findall(r"^(?:int|const char\*) (\w+)\(", stubs, re.MULTILINE))
    users: dict[str, list[str]] = {name: [] for name in exported - missing}
    for test, names in calls.items():
        for name in names:
            if name in users:
                users[name].append(test)
    functions = {name: tuple(sorted(users[name])) for name in sorted(users)}
    return Library(soname, functions, len(exported & missing))
