"""Devices that installed distributions bring: the entry points of group `torch_cuda.devices`.

The name of an entry point is the one that `TORCH_CUDA_DEVICES` asks for. Behind it is a function
that returns where the device's libraries are. It is called in processes that ask for the device.
"""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.metadata
import os
import pathlib
from collections.abc import Mapping

from torch_cuda import _simulator
from torch_cuda._errors import ActivationError

GROUP = "torch_cuda.devices"
"""Entry points: the name is the device's, the value a function that returns a mapping: "library" is the
path of its libaccel_NAME.so, and "operators", which may be missing, of its operators."""


@dataclasses.dataclass(frozen=True)
class Device:
    """A device's library that a distribution brings.

    Attributes:
      name: as in `TORCH_CUDA_DEVICES`.
      library: path of the device library.
      operators: path of its operators, or None where they lie beside the library or are none.
    """

    name: str
    library: pathlib.Path
    operators: pathlib.Path | None


def asked_for(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The devices that `TORCH_CUDA_DEVICES` asks for by name; those asked for by path are left out.

    Args:
      environ: environment variables.

    Returns:
      Their names, in order.
    """
    entries = environ.get(_simulator.DEVICES_VARIABLE, "").split(",")
    libraries = [entry.partition(":")[0] for entry in entries]
    return [library for library in libraries if library and "/" not in library]


def found(environ: Mapping[str, str] = os.environ) -> list[Device]:
    """The devices that are asked for and that installed distributions bring.

    Args:
      environ: environment variables.

    Returns:
      Them, in the order of `TORCH_CUDA_DEVICES`.

    Raises:
      ActivationError: a distribution does not say where its libraries are, or two bring a device of
        one name.
    """
    names = asked_for(environ)
    if not names or _simulator.requested_by(environ) is None:
        return []
    entries = importlib.metadata.entry_points(group=GROUP)
    return [
        _device(name, tuple(entries.select(name=name)))
        for name in names
        if entries.select(name=name)
    ]


def announce(devices: list[Device]) -> None:
    """Tells the runtime where the libraries are; before CUDA is used.

    Args:
      devices: what `found` returned.
    """
    if devices:
        runtime = ctypes.CDLL(_simulator.RUNTIME, mode=os.RTLD_NOLOAD)
        for device in devices:
            runtime.accelerator_announce_library(
                os.fsencode(device.name), os.fsencode(device.library)
            )


def _device(name: str, entries: tuple[importlib.metadata.EntryPoint, ...]) -> Device:
    def owner(entry: importlib.metadata.EntryPoint) -> str:
        return entry.dist.name if entry.dist is not None else "an unnamed package"

    if len(entries) > 1:
        raise ActivationError(
            found=f"{len(entries)} devices that are called {name}, from "
            + " and ".join(sorted(owner(entry) for entry in entries)),
            needed="one",
            fix="python -m pip uninstall the other, or write the path of its library into "
            f"{_simulator.DEVICES_VARIABLE}",
        )
    (entry,) = entries
    needed = f"the paths of the libraries of device {name}, from {entry.value} of {owner(entry)}"
    fix = f"python -m pip install --force-reinstall --no-deps {owner(entry)}"
    try:
        paths = dict(entry.load()())
        library = pathlib.Path(paths["library"])
        operators = pathlib.Path(paths["operators"]) if paths.get("operators") else None
    except Exception as error:
        raise ActivationError(
            found=f"an error, {type(error).__name__}: {error}", needed=needed, fix=fix
        ) from error
    for path in (library, operators):
        if path is not None and not path.is_file():
            raise ActivationError(found=f"no file {path}", needed=needed, fix=fix)
    return Device(name, library.absolute(), operators and operators.absolute())
