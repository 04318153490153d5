"""CUDA's libraries over any device: in the place of NVIDIA's, with the device "fake".

Nothing happens by importing this. With the wheel installed, ``TORCH_CUDA_DEVICES`` in the environment
gives the torch that is imported the devices that the variable names: PyPI's CUDA builds by themselves,
a CPU-only torch with torch_cuda beside it. Other programs get the libraries through `environment`, or
start by ``python -m torch_cuda_runtime PROGRAM``. ``python -m torch_cuda_runtime doctor`` says what is
chosen, and why.
"""

from __future__ import annotations

import os

from torch_cuda_runtime import _asked

# Interpreters start with this module where devices are asked for, so what costs time is imported by the
# functions that need it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping
    from typing import Any

    from torch_cuda_runtime._errors import DeviceError, DeviceWarning

__all__ = [
    "GROUP",
    "DeviceError",
    "DeviceWarning",
    "environment",
    "library_folder",
    "library_folders",
    "served_by",
]

GROUP = "torch_cuda.devices"
"""Entry points by which distributions bring devices: docs/devices.md."""

_PATH = "LD_LIBRARY_PATH"
_PRELOAD = "LD_PRELOAD"


def __getattr__(name: str) -> Any:
    """Imports the errors on first use (PEP 562)."""
    if name in ("DeviceError", "DeviceWarning"):
        from torch_cuda_runtime import _errors

        return getattr(_errors, name)
    raise AttributeError(f"module 'torch_cuda_runtime' has no attribute {name!r}")


def library_folder() -> pathlib.Path:
    """The folder with ``libcuda.so.1``, ``libnccl.so.2`` and what else all CUDA majors share."""
    from torch_cuda_runtime import _libraries

    return _libraries.root()


def library_folders(major: int) -> list[pathlib.Path]:
    """The folders with the libraries of a CUDA major.

    Args:
        major: 12 or 13.

    Returns:
        The folder of that major first, then `library_folder`; nothing where there are none for it.
    """
    from torch_cuda_runtime import _libraries

    return _libraries.folders(major)


def environment(
    devices: str | None = None,
    environ: Mapping[str, str] = os.environ,
    preload: int | None = None,
) -> dict[str, str]:
    """What a program's environment needs so that it runs on other devices than NVIDIA's.

    Args:
        devices: as in ``TORCH_CUDA_DEVICES``: names or paths of devices, each perhaps with a colon and
            options. None: what that variable says, or "sim" where ``TORCH_CUDA_SIM=1`` alone is set.
        environ: the environment of now.
        preload: a CUDA major, 12 or 13, whose libraries the loader takes before all others, also for
            programs with a DT_RPATH that leads to NVIDIA's.

    Returns:
        ``LD_LIBRARY_PATH`` with these libraries first, and ``TORCH_CUDA_DEVICES`` with the paths of
        the devices that installed distributions bring; with ``preload`` the libraries of that major
        come before the other's, and ``LD_PRELOAD`` has them, too.

    Raises:
        DeviceError: no device is named, or no distribution brings one of that name, or there are no
            libraries of that major.
    """
    from torch_cuda_runtime import _libraries
    from torch_cuda_runtime._errors import DeviceError

    asked = devices or environ.get(_asked.DEVICES_VARIABLE, "")
    if not asked and _asked.simulated(environ):
        asked = _asked.SIM
    if not asked:
        raise DeviceError(
            f"found no devices; set {_asked.DEVICES_VARIABLE} to the name of a device or the path of its "
            f"library, such as {_asked.DEVICES_VARIABLE}=fake"
        )
    entries = [_with_path(*entry.partition(":")) for entry in asked.split(",") if entry]
    majors = _libraries.majors()
    # Programs that search a folder for the name without its number take the first that they find.
    ordered = sorted(majors, key=lambda one: one != preload)
    folders = [folder for one in ordered for folder in _libraries.folders(one)[:-1]]
    folders.append(_libraries.root())
    settings = {
        _PATH: _joined(folders, environ.get(_PATH, "")),
        _asked.DEVICES_VARIABLE: ",".join(entries),
    }
    if preload is not None:
        libraries = _libraries.of(preload)
        if not libraries:
            raise DeviceError(
                f"found no libraries for CUDA {preload}; needed a CUDA major of this wheel: "
                + " or ".join(str(major) for major in majors)
            )
        settings[_PRELOAD] = _joined(libraries, environ.get(_PRELOAD, ""))
    return settings


def served_by(operator: str, device: int | None = None) -> str:
    """Who serves an operator of CUDA tensors, in a PyPI torch on these devices.

    Args:
        operator: such as "aten::add.Tensor".
        device: a CUDA device's index; default: the current one.

    Returns:
        The name of a device library whose vendor has a kernel, "host" for the CPU's kernel on the same
        memory, "upstream" for a CUDA kernel that runs as it is, "composite" for what is made of other
        operators, "none" for CUDA code that the device does not run.

    Raises:
        DeviceError: this process's torch does not run on these devices.
        ValueError: PyTorch has no such operator.
    """
    from torch_cuda_runtime import _router, _stock
    from torch_cuda_runtime._errors import DeviceError

    choice = _stock.state.choice
    if choice is None or _stock.state.problem is not None:
        raise DeviceError(
            "the torch of this process does not run on devices of torch_cuda_runtime; "
            "python -m torch_cuda_runtime doctor says why"
        )
    return _router.served_by(choice.router, operator, device)


def _joined(paths: list[pathlib.Path], behind: str) -> str:
    """Paths, then those that a variable has already."""
    return os.pathsep.join(part for part in (*map(str, paths), *behind.split(os.pathsep)) if part)


def _with_path(name: str, colon: str, options: str) -> str:
    """An entry of ``TORCH_CUDA_DEVICES`` with the path of the library in the place of its name."""
    import pathlib

    from torch_cuda_runtime import _devices
    from torch_cuda_runtime._errors import DeviceError

    if "/" in name or (library_folder() / f"libaccel_{name}.so").is_file():
        return name + colon + options
    for entry in _devices.entry_points(name):
        return str(pathlib.Path(entry.load()()["library"]).absolute()) + colon + options
    raise DeviceError(
        f"found no installed distribution with a device {name}. Install the one that has it, or write "
        f"the path of its library into {_asked.DEVICES_VARIABLE}"
    )
