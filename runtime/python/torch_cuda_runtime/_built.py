"""Routers that were compiled on this machine, for a torch that the wheel has none for."""

from __future__ import annotations

import hashlib
import os
import pathlib

from torch_cuda_runtime._torch import Torch

CACHE_VARIABLE = "TORCH_CUDA_CACHE"
SOURCES = "sources.zip"


def name(torch: Torch) -> str:
    """The file name of the router of a torch."""
    return f"libtorch_cuda_operators-{torch.minor}.so"


def sources() -> pathlib.Path:
    """The archive of the router's sources in this package."""
    return pathlib.Path(__file__).parent / "routers" / SOURCES


def cache() -> pathlib.Path:
    """The user's folder for what torch_cuda_runtime makes: TORCH_CUDA_CACHE, else torch_cuda in XDG's."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return pathlib.Path(chosen)
    # Path's own fails for a user without a home, as containers have them.
    home = os.path.expanduser("~")  # noqa: PTH111
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path(home, ".cache")
    return pathlib.Path(caches) / "torch_cuda"


def path(torch: Torch) -> pathlib.Path | None:
    """Where the router of a torch lies once it is compiled.

    The folder's name has the whole version of torch, its CUDA, and which sources these are, so that
    neither another torch nor another torch_cuda_runtime takes it for its own.

    Args:
        torch: one with CUDA.

    Returns:
        It, or None where this package has no sources.
    """
    try:
        content = sources().read_bytes()
    except OSError:
        return None
    key = f"torch-{torch.version}-cuda-{torch.cuda}-{hashlib.sha256(content).hexdigest()[:16]}"
    return cache() / "operators" / key / name(torch)


def find(torch: Torch) -> pathlib.Path | None:
    """The router that was compiled for a torch, or None."""
    there = path(torch)
    return there if there is not None and there.is_file() else None
