"""What CUDA's libraries have, and what their tests check, as the build and the tests say it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from runtime.coverage.mutants import answers


class CoverageError(Exception):
    """What was measured is not of the tests as they are; the text says which."""


@dataclass(frozen=True)
class Function:
    """One function of a drop-in library.

    Attributes:
        name: of the function.
        effect: labels of the tests that fail when it does nothing and says that it went well.
        status: labels of those that fail when it says that it failed.
        is_measured: no test calls it, or what was measured has it.
    """

    name: str
    effect: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    is_measured: bool = True


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


def library(
    soname: str,
    version_script: str,
    stubs: str,
    found: answers.Answers,
    called: Collection[str] = (),
) -> Library:
    """What a drop-in library has, from the two files that runtime/dropin writes for it.

    Args:
        soname: of the library.
        version_script: names everything that it exports.
        stubs: C code with a function for each name that is missing.
        found: what tests notice (mutants/measure.py).
        called: the functions that tests call.
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
            name in found or name not in called,
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
                    "type: ./bazelw run //runtime/coverage/mutants:measure"
                )
