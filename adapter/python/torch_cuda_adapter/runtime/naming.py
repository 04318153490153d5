"""Lets the platform's device be called cuda.

c10 has two functions that read and write the names of devices, and PyTorch's libraries call them through
slots of theirs. `_native` rewrites the slots. So `torch.device("cuda")` is the platform's device, and
`str(device)`, `device.type`, error messages and saved files say cuda, at no cost to operators. The
platform's own packages and libraries are left with its own name.
"""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import torch

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal

try:
    from torch_cuda_adapter import _native
except ImportError as error:
    raise AdapterError(
        f"found no torch_cuda_adapter._native that this Python loads ({error}); the adapter's wheel has it "
        "for CPython from 3.11 on, on Linux"
    ) from error

_INDEX = 3


def begin(platform: Platform, journal: Journal) -> None:
    """Begins to call the platform's device cuda.

    Args:
        platform: its backend has to be imported.
        journal: puts the names back.

    Raises:
        AdapterError: this torch has not the functions, or keeps devices in another way.
    """
    own = platform.table("device")["type"]
    device = torch.device(f"{own}:{_INDEX}")
    number, index = _native.device_bytes(device)
    cuda, _ = _native.device_bytes(torch.device("cuda"))
    if (index, cuda) != (_INDEX, 1) or number == cuda:
        raise AdapterError(
            f"torch {torch.__version__} keeps devices in a form that is not known here: {own}:{_INDEX} "
            f"reads as {(number, index)}, cuda as {cuda}; the adapter does not work with it"
        )
    _native.begin(
        number,
        own,
        platform.table("device")["dispatch_key"],
        _packages(platform),
        _folders(platform),
    )
    journal.on_restore(_native.end)
    _check(own, device)


def refresh() -> None:
    """Does the same for libraries that were loaded since."""
    _native.refresh()


def change_tensors(journal: Journal) -> None:
    """Lets tensors of the platform's device be CUDA tensors to who asks: PyTorch decides that in C++ by CUDA's own type.

    Args:
        journal: puts `Tensor.is_cuda` and `Tensor.cuda` back.
    """
    is_cuda, cuda = _native.tensor_descriptors(torch)
    # torch.Tensor inherits both, so that the originals are there again when these are taken away.
    journal.set_attribute(torch.Tensor, "is_cuda", is_cuda)
    journal.set_attribute(torch.Tensor, "cuda", cuda)


def _packages(platform: Platform) -> tuple[str, ...]:
    device = platform.table("device")
    return (device["module"], *device.get("packages", ()))


def _folders(platform: Platform) -> tuple[str, ...]:
    folders: list[str] = []
    for package in _packages(platform):
        spec = importlib.util.find_spec(package)
        locations = spec.submodule_search_locations if spec is not None else None
        for folder in locations or ():
            # As Python has it, and as the loader has it.
            folders += [
                f"{path}/" for path in (pathlib.Path(folder), pathlib.Path(folder).resolve())
            ]
    return tuple(dict.fromkeys(folders))


def _check(own: str, device: torch.device) -> None:
    named: dict[str, Any] = {
        "torch.device('cuda:3')": torch.device(f"cuda:{_INDEX}") == device,
        "str(device)": str(device) == f"cuda:{_INDEX}",
        "device.type": device.type == "cuda",
        f"torch.device('{own}:3')": torch.device(f"{own}:{_INDEX}") == device,
    }
    wrong = [what for what, holds in named.items() if not holds]
    if wrong:
        raise AdapterError(
            f"torch {torch.__version__} names devices in a way that could not be changed ({', '.join(wrong)}); "
            "the adapter needs a torch whose libraries call libc10.so through its symbols, as those of PyPI and Debian do"
        )
