"""PyPI's torch, unmodified, on the simulated GPU: `./bazelw run //examples:stock`.

Makes a virtual environment in the cache folder with torch from PyPI (540 MB; none of NVIDIA's packages), one above it
with the two wheels of this tree, and trains a small network on `cuda:0` there. The second time torch is there already.
`./bazelw run //examples:stock -- train.py ARGUMENTS` runs a program of yours; TORCH_CUDA_STOCK_WITH=triton adds packages
of PyPI, of Triton the version that this torch asks for. `TORCH_CUDA_STOCK=2.12.1 ./bazelw run //examples/stock:every_version`
takes another version of torch than 2.15.0, with a wheel whose compilation takes longer.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time
from collections.abc import Sequence

from tools.stock_torch import environments, triton

TORCH = os.environ.get("TORCH_CUDA_STOCK") or "2.15.0"


def prepare(
    wheels: Sequence[pathlib.Path],
    packages: Sequence[str] = (),
    run: environments.Run = environments.run,
) -> pathlib.Path:
    """Makes the environment, or what is missing of it.

    Args:
        wheels: to install beside torch.
        packages: of PyPI, without what they ask for; of Triton the version that torch asks for.
        run: runs a command.

    Returns:
        Its Python.

    Raises:
        PreparationError: it cannot be made.
    """
    torch = environments.with_torch(TORCH, run)
    folder = environments.cache_folder(TORCH)
    if packages:
        torch = environments.kept(
            torch,
            folder.with_name(f"{folder.name}-packages"),
            packages=triton.requirements(torch, packages),
            run=run,
        )
    return environments.kept(torch, folder.with_name(f"{folder.name}-wheels"), wheels, run=run)


def check_version(version: str, minors: Sequence[str]) -> None:
    """Ends the program where the runtime's wheel has no router for a torch.

    Args:
        version: torch's, such as "2.12.1".
        minors: those that the wheel serves, such as "2.15".
    """
    if version.rsplit(".", 1)[0] not in minors:
        sys.exit(
            f"stock: found TORCH_CUDA_STOCK={version}, needed: a torch of {' or '.join(minors)}, which these wheels "
            "were compiled for. Type ./bazelw run //examples/stock:every_version"
        )


def main() -> None:
    """Prepares the environment and becomes the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--minor", action="append", default=[])
    parser.add_argument("--train", type=pathlib.Path, required=True)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    check_version(TORCH, options.minor)
    begin = time.perf_counter()
    train = options.train.resolve()
    packages = (os.environ.get("TORCH_CUDA_STOCK_WITH") or "").split()
    try:
        python = prepare([wheel.resolve() for wheel in options.wheel], packages)
    except environments.PreparationError as error:
        sys.exit(f"stock: {error}")
    program = [argument for argument in options.program if argument != "--"] or [str(train)]
    variables = environments.clean(dict(os.environ))
    variables.setdefault("TORCH_CUDA_SIM", "1")
    seconds = time.perf_counter() - begin
    print(f"TORCH_CUDA_SIM=1 {python} {' '.join(program)}   (after {seconds:.0f} s)", flush=True)
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    os.execve(python, [str(python), *program], variables)


if __name__ == "__main__":
    main()
