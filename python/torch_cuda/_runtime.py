"""CUDA's libraries over other devices than NVIDIA's, which `TORCH_CUDA_DEVICES` asks for.

They carry the names of NVIDIA's own (`libcudart.so.12` and the like) and come with the wheel
torch_cuda_runtime. `TORCH_CUDA_SIM=1` asks for them too: it is short for
`TORCH_CUDA_DEVICES=sim`. Nothing here runs unless one of the variables is set.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from collections.abc import Mapping

from torch_cuda._errors import ActivationError

SIM_VARIABLE = "TORCH_CUDA_SIM"
DEVICES_VARIABLE = "TORCH_CUDA_DEVICES"
PACKAGE = "torch_cuda_runtime"
# Brings the device of TORCH_CUDA_SIM, and needs PACKAGE.
_SIM_PACKAGE = "torch_cuda_sim"
DRIVER = "libcuda.so.1"
# Below the folder of what serves each major version of CUDA, the folder of torch_cuda's.
_MAJOR = "cu12"
# What knows the devices, below the driver and the runtime.
RUNTIME = "libaccel_runtime.so"
# Tells this driver from NVIDIA's (runtime/api/driver/version_api.cpp).
_MARKER = "accelerator_driver_version"
# Libraries beside the driver that programs open by name.
_OPENED_BY_NAME = ("libnvidia-ml.so.1",)

_FALSE = frozenset({"", "0", "false", "no", "off"})


def requested_by(environ: Mapping[str, str] = os.environ) -> str | None:
    """The environment variable that asks for these libraries.

    Args:
      environ: environment variables.

    Returns:
      `TORCH_CUDA_SIM` for any value but the empty one, "0", "false", "no" and "off"; without it
      `TORCH_CUDA_DEVICES` for any but the empty one. None when nothing asks for them.
    """
    value = environ.get(SIM_VARIABLE, "").strip().lower()
    if value not in _FALSE:
        return SIM_VARIABLE
    if value == "" and environ.get(DEVICES_VARIABLE, "").strip():
        return DEVICES_VARIABLE
    return None


def library_folder(environ: Mapping[str, str] = os.environ) -> pathlib.Path | None:
    """The folder of these libraries.

    Args:
      environ: environment variables.

    Returns:
      None where neither variable asks for it.

    Raises:
      ActivationError: it is asked for and not installed.
    """
    variable = requested_by(environ)
    if variable is None:
        return None
    spec = importlib.util.find_spec(PACKAGE)
    locations = spec.submodule_search_locations if spec is not None else None
    for location in locations or ():
        folder = pathlib.Path(location) / "lib"
        if (folder / DRIVER).is_file():
            return folder
    if spec is None and _only_sim_is_wanted(environ) and not importlib.util.find_spec(_SIM_PACKAGE):
        raise ActivationError(
            found=f"{variable}={environ[variable]}, but no {_SIM_PACKAGE} in this Python",
            needed=f"the wheel {_SIM_PACKAGE}, which brings the simulated GPU, and {PACKAGE}, which it needs",
            fix=f"python -m pip install {_SIM_PACKAGE} (the wheels are //cudasim:{_SIM_PACKAGE}_wheel and "
            f"//runtime:{PACKAGE}_wheel), or unset {variable}",
        )
    raise ActivationError(
        found=f"{variable}={environ[variable]}, but no {PACKAGE} with libraries in this Python",
        needed=f"the wheel {PACKAGE}, which holds CUDA's libraries over any device",
        fix=f"python -m pip install {PACKAGE} (its wheel is //runtime:{PACKAGE}_wheel), "
        f"or unset {variable}",
    )


def _only_sim_is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the simulated GPU is asked for and no device is named."""
    return requested_by(environ) == SIM_VARIABLE and not environ.get(DEVICES_VARIABLE, "").strip()


def library_folders(environ: Mapping[str, str] = os.environ) -> list[pathlib.Path]:
    """The folders that these libraries lie in, those of torch_cuda's major version of CUDA first.

    Args:
      environ: environment variables.

    Returns:
      None of them where neither variable asks for it.

    Raises:
      ActivationError: it is asked for and not installed.
    """
    folder = library_folder(environ)
    return [] if folder is None else [folder / _MAJOR, folder]


def load_driver(folder: pathlib.Path) -> None:
    """Loads the driver, so that everybody who opens `libcuda.so.1` by name gets it.

    Args:
      folder: what `library_folder` returned.

    Raises:
      ActivationError: another driver is loaded already, or this one does not load.
    """
    path = folder / DRIVER
    needed = f"the driver {path}"
    try:
        driver = ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL)
    except OSError as error:
        raise ActivationError(
            found=f"a driver that does not load: {error}",
            needed=needed,
            fix=f"python -m pip install --force-reinstall --no-deps {PACKAGE}",
        ) from error
    if not hasattr(driver, _MARKER):
        # The loader takes a library that is there under this soname for the one asked for.
        raise ActivationError(
            found=f"another {DRIVER} loaded into this process before torch",
            needed=needed,
            fix=f"import torch first, or unset {SIM_VARIABLE} and {DEVICES_VARIABLE}",
        )
    for name in _OPENED_BY_NAME:
        if (folder / name).is_file():
            ctypes.CDLL(str(folder / name), mode=os.RTLD_GLOBAL)
