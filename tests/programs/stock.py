"""Runs the programs on PyPI's torch, unmodified, with the wheels of this tree.

    ./bazelw run //tests/programs:stock                        all, on the simulated device; writes docs/results/programs-stock.md
    … //tests/programs:stock -- vision 'language.b*'           run.py's arguments
    TORCH_CUDA_DEVICES=fake ./bazelw run //tests/programs:stock

Takes an environment as `//examples:stock` makes it, with the packages of stock_packages.txt.
TORCH_CUDA_STOCK=2.12.1 takes another version of torch than 2.15.0.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
from collections.abc import Mapping, Sequence

from examples.stock import stock

HERE = pathlib.Path(__file__).resolve().parent
PAGE = "docs/results/programs-stock.md"


def packages() -> list[str]:
    """What the programs use, as pip takes it.

    Their own requirements are in the list, too: pip would bring NVIDIA's packages for torch's.
    """
    lines = (HERE / "stock_packages.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables for a run.

    Args:
        variables: of this process.

    Returns:
        Those without Bazel's, with the simulated device where no other is named. Without the workspace
        the page on the programs is not written: it is about this version of torch on the simulated device.
    """
    left = {"RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "JAVA_RUNFILES"}
    if "TORCH_CUDA_DEVICES" in variables or "TORCH_CUDA_STOCK" in variables:
        left.add("BUILD_WORKSPACE_DIRECTORY")
    kept = {name: value for name, value in variables.items() if name not in left}
    kept["PYTHONPATH"] = str(HERE.parent.parent)
    if "TORCH_CUDA_DEVICES" not in kept:
        kept.setdefault("TORCH_CUDA_SIM", "1")
    return kept


def main(command_line: Sequence[str]) -> int:
    """Prepares the environment and runs the programs; returns the exit status.

    Args:
        command_line: the wheels, `--`, and arguments for run.py.
    """
    bar = command_line.index("--")
    wheels, arguments = command_line[:bar], command_line[bar + 1 :]
    python = stock.prepare([pathlib.Path(wheel).resolve() for wheel in wheels], packages())
    with tempfile.TemporaryDirectory() as temporary:
        # There is no list of what was built: all operators of PyTorch are there.
        built = pathlib.Path(temporary, "built.json")
        built.write_text("{}", encoding="utf-8")
        program = [str(python), "-m", "tests.programs.run", f"--built={built}"]
        options = [
            f"--profile=torch {stock.TORCH} from PyPI",
            "--known=stock_known.toml",
            f"--page={PAGE}",
        ]
        command = [*program, *options, *arguments]
        return os.spawnve(os.P_WAIT, python, command, environment(os.environ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
