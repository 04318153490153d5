"""What is tested: levels, each with the ones before it, and their subjects, each a process of its own."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from upstream.tests import selection

MINIMAL = "minimal"
TRAINING = "training"
DISTRIBUTED = "distributed"
FULL = "full"

LEVELS = {
    MINIMAL: "the contract of the device ABI, without torch",
    TRAINING: "torch.cuda's topics, models, and operators in float32 (PyTorch built from source: "
    "a slice of its own tests)",
    DISTRIBUTED: "collectives and training of two processes with a device each",
    FULL: "operators in five more types (PyTorch built from source: all of its tests that are "
    "selected)",
}
"""The levels, from below, and what each is about."""

TOPICS = (
    "device",
    "streams",
    "events",
    "memory",
    "storage",
    "random",
    "operators",
    "autograd",
    "autocast",
    "profiler",
    "models",
    "programs",
)
"""The files of training/, without `_test.py`."""

PASS_RATE = 0.95
"""The share of a file of PyTorch's own tests that has to pass: some launch CUDA code of their own."""

OTHER_TYPES = ("float64", "bfloat16", "float16", "complex64", "int64")
"""What level `full` has of an installed PyTorch's operators, beside float32."""

# What level `training` has of PyTorch's tests.
_SLICED = ("test_torch.py", "test_view_ops.py", "test_indexing.py", "test_autograd.py")

_HERE = pathlib.Path(__file__).parent
_HOUR = 3600
# In the place of these a command gets the XML to write, and a folder to keep its own records in.
JUNIT = "{junit}"
RECORDS = "{records}"


@dataclass(frozen=True)
class Subject:
    """Some tests that are run by one process, which writes JUnit's XML.

    Attributes:
        level: one of LEVELS.
        name: unlike those of all others.
        command: of the process; JUNIT and RECORDS stand for paths.
        seconds: until it is given up.
        rate: the share of its tests that has to pass; skipped ones do not count.
        devices: how many it needs.
        variables: of its environment.
    """

    level: str
    name: str
    command: tuple[str, ...]
    seconds: int = _HOUR
    rate: float = 1.0
    devices: int = 1
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Level and name."""
        return f"{self.level}.{self.name}"


def up_to(level: str) -> tuple[str, ...]:
    """A level and those before it."""
    names = tuple(LEVELS)
    return names[: names.index(level) + 1]


def contract(program: Sequence[str], suites: Sequence[str]) -> Iterator[Subject]:
    """The subjects of level `minimal`: each suite alone, so that a crash takes no other one along.

    Args:
        program: the contract tests with their flags.
        suites: theirs.
    """
    for suite in suites:
        command = (*program, f"--gtest_filter={suite}.*", f"--gtest_output=xml:{JUNIT}")
        yield Subject(MINIMAL, suite, command)


def topics(programs: int, python: str = sys.executable) -> Iterator[Subject]:
    """The subjects of level `training` that are this repository's own.

    Args:
        programs: how many random programs are run.
        python: what runs them.
    """
    variables = {"CONFORMANCE_PROGRAMS": str(programs)}
    for name in TOPICS:
        file = _HERE / "training" / f"{name}_test.py"
        yield Subject(TRAINING, name, _absltest(file, python), variables=variables)


def collectives(python: str = sys.executable) -> Iterator[Subject]:
    """The subjects of level `distributed`.

    Args:
        python: what runs them.
    """
    folder = _HERE.parent.parent / "tests" / "distributed"
    for name, test in (
        ("collectives", "CollectivesTest.test_every_collective_of_two"),
        ("parallel", "TrainingTest.test_data_parallel_fully_sharded_and_pipeline_of_two"),
    ):
        file = folder / ("collectives_test.py" if name == "collectives" else "training_test.py")
        yield Subject(
            DISTRIBUTED,
            name,
            (*_absltest(file, python), test),
            devices=2,
        )


def upstream(level: str, arguments: Sequence[str]) -> Iterator[Subject]:
    """PyTorch's own tests: slices for level `training`, files for level `full`.

    Args:
        level: TRAINING or FULL.
        arguments: that say where the tests lie (pytorch_tests.py).
    """
    program = (sys.executable, "-P", str(_HERE / "pytorch_tests.py"), *arguments)
    for file in selection.SELECTED:
        if level == TRAINING and file not in _SLICED:
            continue
        rest = ("--file", file, "--junit", JUNIT, "--record", RECORDS)
        yield Subject(
            level,
            file,
            (*program, *rest, *(("--slice",) if level == TRAINING else ())),
            seconds=6 * _HOUR,
            rate=PASS_RATE,
            devices=2 if file == "test_cuda_multigpu.py" else 1,
        )


def installed(level: str, python: str) -> Iterator[Subject]:
    """The operators of an installed PyTorch of PyPI, in the place of its own tests, which it does not bring.

    Args:
        level: TRAINING, which has those of float32, or FULL, which has other types.
        python: of the environment with that PyTorch.
    """
    program = (python, "-P", str(_HERE / "installed_operators.py"), "--junit", JUNIT)
    for dtype in ("float32",) if level == TRAINING else OTHER_TYPES:
        yield Subject(level, f"operators_{dtype}", (*program, "--type", dtype), seconds=3 * _HOUR)


def _absltest(file: pathlib.Path, python: str) -> tuple[str, ...]:
    return (python, "-P", "-X", "faulthandler", str(file), f"--xml_output_file={JUNIT}")
