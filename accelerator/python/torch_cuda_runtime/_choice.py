"""Which libraries and which router belong to a stock torch."""

from __future__ import annotations

import dataclasses
import pathlib

from torch_cuda_runtime import _libraries
from torch_cuda_runtime._errors import Unusable
from torch_cuda_runtime._torch import Torch

_ROUTER = "libtorch_cuda_operators-"


@dataclasses.dataclass(frozen=True)
class Choice:
    """What a torch gets.

    Attributes:
        torch: that was found.
        major: of its CUDA; the set of libraries.
        libraries: of that set, in the order to load them.
        router: what has operators served on devices that do not run torch's kernels.
    """

    torch: Torch
    major: int
    libraries: tuple[pathlib.Path, ...]
    router: pathlib.Path


def routers() -> dict[str, pathlib.Path]:
    """The routers that there are, by the minor version of torch: {"2.15": path}."""
    folder = pathlib.Path(__file__).parent / "routers"
    found = {path.name[len(_ROUTER) : -len(".so")]: path for path in folder.glob(f"{_ROUTER}*.so")}
    return dict(sorted(found.items(), key=lambda item: _numbers(item[0])))


def choose(torch: Torch) -> Choice:
    """Chooses what belongs to a torch.

    Args:
        torch: one with CUDA.

    Returns:
        The choice.

    Raises:
        Unusable: there is none of what it needs.
    """
    there = routers()
    major = torch.cuda_major
    named = f"torch {torch.version} in {torch.folder.parent}"
    if torch.minor not in there:
        newest = list(there)[-1] if there else None
        raise Unusable(
            found=named,
            needed=f"a torch of {_either(list(there))}, which this torch_cuda_runtime has kernels for"
            if there
            else "a torch_cuda_runtime that has kernels for it; this one has them for no stock torch",
            fix=f'python -m pip install "torch=={newest}.*"'
            if newest
            else "python -m pip install --force-reinstall --no-deps torch_cuda_runtime (its wheel is "
            "//accelerator:torch_cuda_runtime_wheel)",
        )
    if major is None or not _libraries.folders(major):
        raise Unusable(
            found=f"{named}, which was built for CUDA {torch.cuda}",
            needed=f"a torch for CUDA {_either([str(one) for one in _libraries.majors()])}",
            fix="install the torch from PyPI: python -m pip install --force-reinstall --no-deps "
            f"torch=={torch.version.partition('+')[0]}",
        )
    return Choice(torch, major, tuple(_libraries.of(major)), there[torch.minor])


def without_cuda(torch: Torch) -> Unusable:
    """What to say of a torch without CUDA that has no torch_cuda beside it.

    Args:
        torch: that was found.
    """
    there = routers()
    version = f"torch=={list(there)[-1]}.*" if there else "torch"
    return Unusable(
        found=f"torch {torch.version} in {torch.folder.parent}, which is without CUDA, and no torch_cuda",
        needed="a torch with CUDA, or torch_cuda beside this one",
        fix=f'python -m pip install --force-reinstall "{version}" from PyPI (the indexes of PyTorch whose '
        'names end in "cpu" have none with CUDA)',
    )


def _numbers(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split(".") if part.isdigit())


def _either(names: list[str]) -> str:
    return names[-1] if len(names) < 2 else f"{', '.join(names[:-1])} or {names[-1]}"
