"""Devices that installed distributions bring, in the words of activation.

Where they are found, and how the runtime and Triton are told of them, is torch_cuda_runtime's to know,
which a stock torch with CUDA uses without torch_cuda. It is optional here, and imported only where
devices are asked for.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from torch_cuda import _runtime
from torch_cuda._errors import ActivationError

if TYPE_CHECKING:
    from torch_cuda_runtime._devices import Device


def found(environ: Mapping[str, str] = os.environ) -> list[Device]:
    """The devices that are asked for and that installed distributions bring.

    A device is asked for by its name, or by the path of the library that its distribution brings, as
    `python -m torch_cuda_runtime` has it for programs.

    Args:
      environ: environment variables.

    Returns:
      Them, in the order of `TORCH_CUDA_DEVICES`.

    Raises:
      ActivationError: torch_cuda_runtime is not installed, or a distribution does not say where its
        libraries are, or two bring a device of one name, or `TORCH_CUDA_SIM` asks for a device that
        none brings.
    """
    if _runtime.requested_by(environ) is None:
        return []
    try:
        devices: list[Device] = _shared("_devices", environ).found(environ)
    except _shared("_errors", environ).Unusable as error:
        raise ActivationError(found=error.found, needed=error.needed, fix=error.fix) from error
    return devices


def announce(devices: list[Device]) -> None:
    """Tells the runtime where the libraries are; before CUDA is used.

    Args:
      devices: what `found` returned.
    """
    if devices:
        _shared("_devices").announce(devices)


def offer_to_triton(devices: list[Device], environ: MutableMapping[str, str] = os.environ) -> None:
    """Lets Triton, and torch.compile with it, find the driver and an assembler of the devices.

    Args:
      devices: what `found` returned.
      environ: environment variables, which Triton reads when it compiles first.
    """
    if devices:
        _shared("_devices").offer_to_triton(devices, environ)


def _shared(name: str, environ: Mapping[str, str] = os.environ) -> Any:
    """A module of torch_cuda_runtime."""
    try:
        return importlib.import_module(f"{_runtime.PACKAGE}.{name}")
    except ImportError as error:
        _runtime.library_folder(environ)  # raises where it is not installed at all
        raise ActivationError(
            found=f"a {_runtime.PACKAGE} of another version: {error}",
            needed=f"the {_runtime.PACKAGE} that was built with this torch_cuda",
            fix=f"python -m pip install --force-reinstall --no-deps {_runtime.PACKAGE}",
        ) from error
