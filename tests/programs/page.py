"""The page that says which programs run."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Collection, Mapping

from tests.programs import results

_HEAD = """# Programs that others wrote, on the simulated GPU

Models and tools from PyPI and Debian run on the CPU and on the simulated GPU, and the results are compared. The
versions are in [requirements.txt](../../third_party/programs/requirements.txt) and
[extension.bzl](../../third_party/programs/extension.bzl), the programs in
[tests/programs/catalogue](../../tests/programs/catalogue). A program trains a small model with random weights for
some steps, or uses a tool, through the package's public interface, in float64 and in float32.

```
./bazelw run --//config:ops=models //tests/programs:run                            # all, and writes this page
./bazelw run --//config:ops=models //tests/programs:run -- vision 'language.b*'    # a folder, a pattern
./bazelw run --//config:ops=models //tests/programs:run -- --record /tmp/records   # all, and goes on where it stopped
./bazelw run //tests/programs:run -- --operators                                   # writes tests/programs/operators.txt
```

- The columns `float64` and `float32` have the largest difference from the CPU, relative to the largest number
  compared. Losses, outputs, gradients, parameters and whatever else a program computes are compared.
- The limits are 1e-9 in float64 and 1e-3 in float32. A program with other limits says why (`TOLERANCES`).
- A type has `–` if the program works in the other type only (`TYPES`).
- A failure without an entry in [known.toml](../../tests/programs/known.toml) fails the run. So does an entry for a
  program that passes.
- `//tests/programs:tools_test`, part of `./bazelw test //...`, runs the programs that need small packages only.
- torchvision and torchaudio are Debian's packages. They are built for Debian's torch and cannot be loaded beside
  another torch. Debian does not build torchvision's CUDA kernels: `torch.utils.cpp_extension.load` compiles them.

`./bazelw run //tests/programs:stock` runs the same programs on PyPI's torch: [programs-stock.md](programs-stock.md).

"""

_STOCK_HEAD = """# Programs that others wrote, on PyPI's torch and the simulated GPU

The [programs](programs.md) run on the CPU and on the simulated GPU of an unmodified torch ([stock.md](../stock.md)),
and the results are compared. torch and the packages are PyPI's
([stock_packages.txt](../../tests/programs/stock_packages.txt)); columns and limits are those of
[programs.md](programs.md).

```
./bazelw run //tests/programs:stock                            # all, and writes this page
./bazelw run //tests/programs:stock -- vision 'language.b*'    # a folder, a pattern
```

- A failure without an entry in [stock_known.toml](../../tests/programs/stock_known.toml) fails the run. So does an
  entry for a program that passes.

"""

# The pages on all programs, by where they lie in the tree.
HEADS = {"docs/results/programs.md": _HEAD, "docs/results/programs-stock.md": _STOCK_HEAD}


def _line(cells: Collection[str]) -> str:
    return f"| {' | '.join(cells)} |"


def about(file: pathlib.Path) -> str:
    """The first line of a program's docstring.

    Args:
        file: the program.
    """
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def table(
    outcomes: Mapping[str, results.Outcome],
    known: Mapping[str, results.Known],
    folder: pathlib.Path,
) -> str:
    """What became of each program, as a table.

    Args:
        outcomes: by name.
        known: those that are known to fail.
        folder: where the programs lie.
    """
    lines = [
        "| program | what it does | packages | float64 | float32 | result |",
        "|---" * 6 + "|",
    ]
    for name, outcome in outcomes.items():
        cells = [
            results.worst(outcome.errors[dtype]) if dtype in outcome.errors else "–"
            for dtype in ("float64", "float32")
        ]
        passes = "; ".join(["passes", *outcome.exceptions])
        result = f"fails: {_because(outcome, known.get(name))}" if outcome.reasons else passes
        file = folder / f"{name.replace('.', '/')}.py"
        lines.append(_line([f"`{name}`", about(file), ", ".join(outcome.packages), *cells, result]))
    return "\n".join(lines) + "\n"


def _because(outcome: results.Outcome, known: results.Known | None) -> str:
    return known.because if known else "; ".join(outcome.reasons)


def render(
    outcomes: Mapping[str, results.Outcome],
    known: Mapping[str, results.Known],
    folder: pathlib.Path,
    profile: str,
    file: str,
) -> str:
    """The page's text.

    Args:
        outcomes: of all programs, by name.
        known: those that are known to fail.
        folder: where the programs lie.
        profile: the name of the op profile that they ran on.
        file: the page, one of HEADS.
    """
    passed = sum(not outcome.reasons for outcome in outcomes.values())
    summary = f"With the operators of `{profile}` {passed} of {len(outcomes)} pass."
    return f"{HEADS[file]}{summary}\n\n{table(outcomes, known, folder)}"
