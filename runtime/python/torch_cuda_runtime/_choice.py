"""Which libraries and which router belong to a stock torch."""

from __future__ import annotations

import dataclasses
import pathlib

from torch_cuda_runtime import _built, _libraries
from torch_cuda_runtime._errors import Unusable
from torch_cuda_runtime._torch import Torch

_ROUTER = "libtorch_cuda_operators-"

BUILD = "python -m torch_cuda_runtime build-operators"
"""Compiles a router on this machine."""


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


def routers() -> dict[tuple[str, int], pathlib.Path]:
    """The routers in this package, by the minor version of torch and its CUDA: {("2.15", 13): path}."""
    folder = pathlib.Path(__file__).parent / "routers"
    found = {}
    for path in folder.glob(f"cu*/{_ROUTER}*.so"):
        major = path.parent.name[len("cu") :]
        if major.isdigit():
            found[path.name[len(_ROUTER) : -len(".so")], int(major)] = path
    return dict(sorted(found.items(), key=lambda item: _numbers(item[0][0])))


def router(torch: Torch, major: int) -> pathlib.Path | None:
    """The router for a torch: one compiled on this machine, else that of this package.

    A minor version of torch keeps its ABI from its first release on, and not before.

    Args:
        torch: one with CUDA.
        major: of its CUDA.

    Returns:
        It, or None.
    """
    built = _built.find(torch)
    return built or (routers().get((torch.minor, major)) if torch.is_release else None)


def cuda_major(torch: Torch) -> int:
    """The CUDA of a torch, for which there are libraries.

    Args:
        torch: one with CUDA.

    Raises:
        Unusable: there are none.
    """
    major = torch.cuda_major
    if major is None or not _libraries.folders(major):
        raise Unusable(
            found=f"{_named(torch)}, which was built for CUDA {torch.cuda}",
            needed=f"a torch for CUDA {_either([str(one) for one in _libraries.majors()])}",
            fix="install the torch from PyPI: python -m pip install --force-reinstall --no-deps "
            f"torch=={torch.version.partition('+')[0]}",
        )
    return major


def choose(torch: Torch) -> Choice:
    """Chooses what belongs to a torch.

    Args:
        torch: one with CUDA.

    Returns:
        The choice.

    Raises:
        Unusable: there is none of what it needs.
    """
    major = cuda_major(torch)
    chosen = router(torch, major)
    if chosen is None:
        there = [f"{minor} (CUDA {of})" for minor, of in routers()]
        raise Unusable(
            found=_named(torch),
            needed=f"a release of torch {_either(there)}, which this torch_cuda_runtime has kernels for"
            if there
            else "a torch_cuda_runtime that has kernels for it; this one has them for no stock torch",
            fix=f"compile them for this torch, minutes with g++: {BUILD}\nor {install_another()}",
        )
    return Choice(torch, major, tuple(_libraries.of(major)), chosen)


def install_another() -> str:
    """What to type for a torch that there are kernels for."""
    newest = list(routers())[-1:]
    if newest:
        return f'python -m pip install "torch=={newest[0][0]}.*"'
    return (
        "python -m pip install --force-reinstall --no-deps torch_cuda_runtime (its wheel is "
        "//runtime:torch_cuda_runtime_wheel)"
    )


def without_cuda(torch: Torch) -> Unusable:
    """What to say of a torch without CUDA that has no torch_cuda beside it.

    Args:
        torch: that was found.
    """
    newest = list(routers())[-1:]
    version = f"torch=={newest[0][0]}.*" if newest else "torch"
    return Unusable(
        found=f"{_named(torch)}, which is without CUDA, and no torch_cuda",
        needed="a torch with CUDA, or torch_cuda beside this one",
        fix=f'python -m pip install --force-reinstall "{version}" from PyPI (the indexes of PyTorch whose '
        'names end in "cpu" have none with CUDA)',
    )


def _named(torch: Torch) -> str:
    return f"torch {torch.version} in {torch.folder.parent}"


def _numbers(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split(".") if part.isdigit())


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "none"
