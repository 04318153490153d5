"""What the simulated device has, and what its tests check, as the build and the tests say it."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cudasim.coverage.mutants import answers

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
        section: the chapter of the PTX ISA.
        operands: what its row says they are (engine/instructions/family.h), one for each row.
    """

    family: str
    key: str
    tests: tuple[str, ...]
    section: str = ""
    operands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """One function of a drop-in library.

    Attributes:
        name: of the function.
        effect: labels of the tests that fail when it does nothing and says that it went well.
        status: labels of those that fail when it says that it failed.
    """

    name: str
    effect: tuple[str, ...] = ()
    status: tuple[str, ...] = ()


@dataclass
class Library:
    """One drop-in library.

    Attributes:
        soname: such as `libcudart.so.12`.
        functions: those that are implemented, sorted.
        missing: how many more functions NVIDIA's library exports, which answer "not supported".
    """

    soname: str
    functions: Sequence[Function] = ()
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
        record: lines "has TAB family TAB key TAB section TAB operands" for each row, and
            "checked TAB key TAB test" for each check; keys that are checked and in no family are
            the scheduler's.
    """
    families: dict[str, str] = {}
    sections: dict[str, str] = {}
    operands: dict[str, dict[str, None]] = defaultdict(dict)
    tests: dict[str, set[str]] = defaultdict(set)
    for line in record:
        kind, first, second, *row = line.split("\t")
        if kind == "has":
            families.setdefault(second, first)
            sections[second] = row[0]
            operands[second][row[1]] = None
        else:
            tests[first].add(second)
    for key in sorted(tests):
        families.setdefault(key, SCHEDULER)
    return [
        Instruction(
            family,
            key,
            tuple(sorted(tests.get(key, ()))),
            sections.get(key, ""),
            tuple(operands.get(key, ())),
        )
        for key, family in families.items()
    ]


def library(soname: str, version_script: str, stubs: str, found: answers.Answers) -> Library:
    """What a drop-in library has, from the two files that accelerator/runtime/dropin writes for it.

    Args:
        soname: of the library.
        version_script: names everything that it exports.
        stubs: C code with a function for each name that is missing.
        found: what tests notice (mutants/measure.py).
    """
    exported = set(re.findall(r"^    (\w+);$", version_script, re.MULTILINE))
    # A second name for profilers, as NCCL has them, is no second function.
    exported -= {f"p{name}" for name in exported}
    # Nor is what one of these libraries has for another.
    exported -= {name for name in exported if name.startswith("accel_")}
    missing = set(re.findall(r"^(?:int|const char\*) (\w+)\(", stubs, re.MULTILINE))
    functions = [
        Function(
            name,
            tuple(answers.noticing(found, name, answers.NOTHING)),
            tuple(answers.noticing(found, name, answers.ERROR)),
        )
        for name in sorted(exported - missing)
    ]
    return Library(soname, functions, len(exported & missing))


def hold_against(found: answers.Answers, calls: Mapping[str, Iterable[str]]) -> None:
    """Holds what was measured against what tests call.

    Args:
        found: what tests notice.
        calls: the functions that the objects of each test call.

    Raises:
        CoverageError: a test is not there any more, or calls a function no more.
    """
    called_by = {test: set(functions) for test, functions in calls.items()}
    for function, tests in found.items():
        for test in tests:
            if function not in called_by.get(test, ()):
                raise CoverageError(
                    f"functions.json says that {test} calls {function}, which it does not; "
                    "type: ./bazelw run //cudasim/coverage/mutants:measure"
                )
