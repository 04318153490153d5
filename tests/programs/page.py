"""The page that says which programs run."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Collection, Mapping

from tests.programs import results

_HEAD = """# Programs that others wrote

Models and tools of Python's package index and of Debian, at the versions of
[requirements.txt](../../third_party/programs/requirements.txt) and [extension.bzl](../../third_party/programs/extension.bzl), run on the CPU and on the simulated device with
the wheels of this tree, through their own public interfaces: each program ([tests/programs/catalogue](../../tests/programs/catalogue)) trains a small model with random weights for some steps, or uses a
tool, in float64 and in float32. What is compared are losses, outputs, gradients, parameters and whatever else it computes. The numbers say the largest difference, of the largest number that was
compared with it; allowed are 1e-9 in float64 and 1e-3 in float32, or what the program says and why (`TOLERANCES`). A type is left out where the program works in the other one only (`TYPES`).

```
./bazelw run --//config:ops=models //tests/programs:run                            # all, and writes this page
./bazelw run --//config:ops=models //tests/programs:run -- vision 'language.b*'    # a folder, a pattern
./bazelw run --//config:ops=models //tests/programs:run -- --record /tmp/records   # all, and goes on where it stopped
./bazelw run //tests/programs:run -- --operators                                   # which operators they call: tests/programs/operators.txt
```

A failure that is not listed in [known.toml](../../tests/programs/known.toml), or one that is listed and does not happen, fails the run. `./bazelw test //...` runs what needs small packages only
(`//tests/programs:tools_test`). torchvision and torchaudio are Debian's packages, built for Debian's torch: beside another torch they cannot be loaded.
torchvision's kernels for CUDA, which Debian does not build, are compiled from its source by `torch.utils.cpp_extension.load`.

"""


def _line(cells: Collection[str]) -> str:
    return f"| {' | '.join(cells)} |"


def about(file: pathlib.Path) -> str:
    """The first line of a program's docstring.

    Args:
        file: the program.
    """
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def render(
    outcomes: Mapping[str, results.Outcome],
    known: Mapping[str, results.Known],
    folder: pathlib.Path,
    profile: str,
) -> str:
    """The page's text.

    Args:
        outcomes: of all programs, by name.
        known: those that are known to fail.
        folder: where the programs lie.
        profile: the name of the op profile that they ran on.
    """
    passed = sum(not outcome.reasons for outcome in outcomes.values())
    lines = [
        f"With the operators of `{profile}` {passed} of {len(outcomes)} pass.",
        "",
        "| program | what it does | packages | float64 | float32 | result |",
        "|---" * 6 + "|",
    ]
    for name, outcome in outcomes.items():
        cells = [
            results.worst(outcome.errors[dtype]) if dtype in outcome.errors else "–"
            for dtype in ("float64", "float32")
        ]
        passes = "; ".join(["passes", *outcome.exceptions])
        result = f"fails: {known[name].because}" if outcome.reasons else passes
        file = folder / f"{name.replace('.', '/')}.py"
        lines.append(_line([f"`{name}`", about(file), ", ".join(outcome.packages), *cells, result]))
    return _HEAD + "\n".join(lines) + "\n"
