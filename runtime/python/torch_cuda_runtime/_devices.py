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
import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from torch_cuda_runtime import _asked, _libraries
from torch_cuda_runtime._errors import Unusable

GROUP = "torch_cuda.devices"
"""Entry points: the name is the device's, the value a function that returns a mapping: "library" is the
path of its libaccel_NAME.so, and "operators" and "ptxas", which may be missing, of its operators and of its
assembler. "triton_arch", which may be missing, is the GPU whose instructions Triton shall use: "sm80". "settings", which
may be missing, are environment variables that the device reads, for those that the user has not set; "about" is a line
that `doctor` prints."""

_SIM_PACKAGE = "torch_cuda_sim"


@dataclasses.dataclass(frozen=True)
class Device:
    """A device's library that a distribution brings.

    Attributes:
        name: as in `TORCH_CUDA_DEVICES`.
        library: path of the device library.
        operators: path of its operators, or None where they lie beside the library or are none.
        ptxas: path of a program that takes ptxas's arguments, for devices that run PTX, or None.
        triton_arch: the GPU whose instructions Triton shall use ("sm80"), or None: that of the device's
            capability.
        settings: environment variables for the device, each for when the user has not set it.
        about: a line for people: what was chosen and why; or None.
    """

    name: str
    library: pathlib.Path
    operators: pathlib.Path | None = None
    ptxas: pathlib.Path | None = None
    triton_arch: str | None = None
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    about: str | None = None


def entry_points(name: str | None = None) -> list[Any]:
    """The entry points that bring devices.

    Args:
        name: of a device; None: all.

    Returns:
        `importlib.metadata.EntryPoint`s.
    """
    # Python 3.9 returns a dict of all groups; what 3.10 and 3.11 return is one too, and warns of its use.
    found: Any = importlib.metadata.entry_points()
    group = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP) or ()
    return [entry for entry in group if name is None or entry.name == name]


def found(environ: Mapping[str, str] = os.environ) -> list[Device]:
    """The devices that are asked for and that installed distributions bring.

    A device is asked for by its name, or by the path of the library that its distribution brings, as
    `python -m torch_cuda_runtime` has it for programs.

    Args:
        environ: environment variables.

    Returns:
        Them, in the order of `TORCH_CUDA_DEVICES`.

    Raises:
        Unusable: a distribution does not say where its libraries are, or two bring a device of one
            name, or `TORCH_CUDA_SIM` asks for a device that none brings.
    """
    libraries = _asked.libraries(environ)
    entries = entry_points() if libraries else []
    if _asked.simulated(environ) and _asked.SIM in libraries:
        _check_that_sim_is_there(entries, environ)
    brought = [_brought(library, entries) for library in libraries]
    return [device for device in brought if device is not None]


def offer_to_triton(devices: list[Device], environ: MutableMapping[str, str] = os.environ) -> None:
    """Lets Triton, and torch.compile with it, find the driver and an assembler of the devices.

    They are called in processes of their own, too; so the environment says where they are. What it
    says already stays. Compilers look for the driver in the folders of LIBRARY_PATH (of GCC and clang).

    Args:
        devices: what `found` returned; the first one's assembler serves all. It lacks devices that no
            distribution brings, such as "fake", whose driver is ours, too.
        environ: environment variables, which Triton reads when it compiles first.
    """
    if not _asked.libraries(environ):
        return
    # Where no device runs code, too: torch.compile asks it for the CPU's programs as well, and it says
    # that no code runs when the first kernel is loaded.
    environ.setdefault("TRITON_LIBCUDA_PATH", str(_libraries.root()))
    device = next((device for device in devices if device.ptxas is not None), None)
    if device is not None:
        environ.setdefault("TRITON_PTXAS_PATH", str(device.ptxas))
        # Triton 3.9 has one of its own from capability 9.0 on.
        environ.setdefault("TRITON_PTXAS_BLACKWELL_PATH", str(device.ptxas))
        if device.triton_arch is not None:
            environ.setdefault("TRITON_OVERRIDE_ARCH", device.triton_arch)
        # AOTInductor links with -lcuda, which only a driver brings.
        folders = environ.get("LIBRARY_PATH", "").split(os.pathsep)
        if str(_libraries.root()) not in folders:
            environ["LIBRARY_PATH"] = os.pathsep.join(
                [*filter(None, folders), str(_libraries.root())]
            )


def announce(devices: list[Device], environ: MutableMapping[str, str] = os.environ) -> None:
    """Tells the runtime where the libraries are, and the libraries what they have not been told; before CUDA is used.

    Args:
        devices: what `found` returned.
        environ: environment variables, which the libraries read.
    """
    for device in devices:
        for variable, value in device.settings.items():
            if not environ.get(variable):
                environ[variable] = value
    if devices:
        runtime = ctypes.CDLL(_libraries.RUNTIME, mode=os.RTLD_NOLOAD)
        for device in devices:
            runtime.accelerator_announce_library(
                os.fsencode(device.name), os.fsencode(device.library)
            )


def _brought(library: str, entries: list[Any]) -> Device | None:
    """The device that is asked for by a name or a path, or None where no distribution brings it."""
    if "/" not in library:
        chosen = [entry for entry in entries if entry.name == library]
        return _device(library, chosen) if chosen else None
    file = re.fullmatch(r"libaccel_(.+)\.so", pathlib.Path(library).name)
    for entry in entries:
        if file is None or entry.name != file[1]:
            continue
        try:
            device = _device(entry.name, [entry])
        except Unusable:
            continue  # the path is enough
        if os.path.realpath(device.library) == os.path.realpath(library):
            return device
    return None


def _check_that_sim_is_there(entries: list[Any], environ: Mapping[str, str]) -> None:
    if any(entry.name == _asked.SIM for entry in entries):
        return
    if (_libraries.root() / f"libaccel_{_asked.SIM}.so").is_file():
        return
    variable = _asked.SIM_VARIABLE
    raise Unusable(
        found=f"{variable}={environ[variable]}, but no {_SIM_PACKAGE} in this Python",
        needed=f"the wheel {_SIM_PACKAGE}, which brings the simulated GPU",
        fix=f"python -m pip install {_SIM_PACKAGE} (its wheel is "
        f"//cudasim:{_SIM_PACKAGE}_wheel), or unset {variable}",
    )


def _device(name: str, entries: list[Any]) -> Device:
    def owner(entry: Any) -> str:
        distribution = getattr(entry, "dist", None)  # Python 3.9 has none
        return str(distribution.name) if distribution is not None else "an unnamed package"

    if len(entries) > 1:
        raise Unusable(
            found=f"{len(entries)} devices that are called {name}, from "
            + " and ".join(sorted(owner(entry) for entry in entries)),
            needed="one",
            fix="python -m pip uninstall the other, or write the path of its library into "
            f"{_asked.DEVICES_VARIABLE}",
        )
    (entry,) = entries
    needed = f"the paths of the libraries of device {name}, from {entry.value} of {owner(entry)}"
    fix = f"python -m pip install --force-reinstall --no-deps {owner(entry)}"
    try:
        paths = dict(entry.load()())
        library = pathlib.Path(paths["library"])
        operators, ptxas = (
            pathlib.Path(paths[key]).absolute() if paths.get(key) else None
            for key in ("operators", "ptxas")
        )
        arch, about = (
            str(paths[key]) if paths.get(key) else None for key in ("triton_arch", "about")
        )
        settings = dict(paths.get("settings") or {})
    except Exception as error:
        raise Unusable(
            found=f"an error, {type(error).__name__}: {error}", needed=needed, fix=fix
        ) from error
    for path in (library, operators, ptxas):
        if path is not None and not path.is_file():
            raise Unusable(found=f"no file {path}", needed=needed, fix=fix)
    return Device(name, library.absolute(), operators, ptxas, arch, settings, about)
