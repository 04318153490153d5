"""Runs a CUDA program on a platform's device: `python -m torch_cuda_adapter train.py --epochs 3`."""

from __future__ import annotations

import argparse
import os
import pathlib
import runpy
import sys
from collections.abc import Sequence

from torch_cuda_adapter.errors import AdapterError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m torch_cuda_adapter",
        description="Runs a CUDA program on a device that has a PyTorch backend of its own.",
    )
    parser.add_argument(
        "--platform",
        help="musa, npu, mlu, or a file that ends in .toml; by default the one that is installed",
    )
    parser.add_argument(
        "--torchada",
        action="store_true",
        help="`import torchada` gets the adapter, where torchada is not installed",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="run a module, as python -m does"
    )
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a program; returns 2 if the adapter cannot be activated.

    Args:
        arguments: the command line without the program's name; sys.argv by default.
    """
    given = _parser().parse_args(arguments)
    # After the parser: --help needs no torch.
    from torch_cuda_adapter.runtime import activate, alias
    from torch_cuda_adapter.runtime.activation import VARIABLE

    try:
        platform = activate(given.platform)
        if given.torchada:
            alias.install()
            alias.install_for_processes()
    except AdapterError as error:
        print(f"torch_cuda_adapter: {error}", file=sys.stderr)
        return 2
    # For the processes that the program starts.
    os.environ.setdefault(VARIABLE, str(platform.path))
    sys.argv = [given.program, *given.arguments]
    program = pathlib.Path(os.path.normpath(pathlib.Path(given.program).absolute()))
    folder = pathlib.Path.cwd() if given.module else program.parent
    # With PYTHONSAFEPATH the first is no folder of the program's, and shall not be.
    if not sys.flags.safe_path:
        sys.path[0] = str(folder)
    if given.module:
        runpy.run_module(given.program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(given.program, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
