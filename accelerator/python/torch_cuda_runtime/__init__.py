"""CUDA's libraries over any device: in the place of NVIDIA's, with the device "fake".

Nothing happens by importing this. With the wheel installed beside torch_cuda, ``TORCH_CUDA_DEVICES``
in the environment makes torch use it with the devices that the variable names. Other programs get
the libraries through `environment`, or start by ``python -m torch_cuda_runtime PROGRAM``.
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
from typing import Dict, Mapping, Optional  # noqa: UP035 - Python 3.9 evaluates some of them

GROUP = "torch_cuda.devices"
"""Entry points by which distributions bring devices: docs/devices.md."""

_DEVICES = "TORCH_CUDA_DEVICES"
_SIM = "TORCH_CUDA_SIM"
_PATH = "LD_LIBRARY_PATH"


class DeviceError(Exception):
    """The devices that are asked for are not there; the text says what to do."""


def library_folder() -> pathlib.Path:
    """The folder with ``libcudart.so.12``, ``libcuda.so.1``, ``libcublas.so.12`` and the others."""
    return pathlib.Path(__file__).parent / "lib"


def environment(
    devices: Optional[str] = None,  # noqa: UP045 - Python 3.9
    environ: Mapping[str, str] = os.environ,
) -> Dict[str, str]:  # noqa: UP006
    """What a program's environment needs so that it runs on other devices than NVIDIA's.

    Args:
        devices: as in ``TORCH_CUDA_DEVICES``: names or paths of devices, each perhaps with a colon and
            options. None: what that variable says, or "sim" where ``TORCH_CUDA_SIM=1`` alone is set.
        environ: the environment of now.

    Returns:
        ``LD_LIBRARY_PATH`` with these libraries first, and ``TORCH_CUDA_DEVICES`` with the paths of
        the devices that installed distributions bring.

    Raises:
        DeviceError: no device is named, or no distribution brings one of that name.
    """
    asked = devices or environ.get(_DEVICES, "")
    if not asked and environ.get(_SIM, "").strip().lower() not in ("", "0", "false", "no", "off"):
        asked = "sim"
    if not asked:
        raise DeviceError(
            f"nothing says which devices there are; set {_DEVICES} to the name of a device or the "
            f"path of its library, such as {_DEVICES}=fake"
        )
    entries = [_with_path(*entry.partition(":")) for entry in asked.split(",") if entry]
    folders = [str(library_folder()), *environ.get(_PATH, "").split(os.pathsep)]
    return {
        _PATH: os.pathsep.join(folder for folder in folders if folder),
        _DEVICES: ",".join(entries),
    }


def _with_path(name: str, colon: str, options: str) -> str:
    """An entry of ``TORCH_CUDA_DEVICES`` with the path of the library in the place of its name."""
    if "/" in name or (library_folder() / f"libaccel_{name}.so").is_file():
        return name + colon + options
    # Python 3.9 returns a dict of all groups; what 3.10 and 3.11 return is one too, and warns of its use.
    found = importlib.metadata.entry_points()
    group = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP) or ()
    for entry in group:
        if entry.name == name:
            return str(pathlib.Path(entry.load()()["library"]).absolute()) + colon + options
    raise DeviceError(
        f"no installed distribution brings a device {name}; install the one that does, or write the "
        f"path of its library into {_DEVICES}"
    )
