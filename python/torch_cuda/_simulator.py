"""The simulated CUDA device: where its libraries are when `TORCH_CUDA_SIM=1` asks for it.

They carry the names of NVIDIA's own (`libcudart.so.12` and the like) and come with the wheel
torch_cuda_sim. Nothing here runs unless the variable is set.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from collections.abc import Mapping

from torch_cuda._errors import ActivationError

VARIABLE = "TORCH_CUDA_SIM"
PACKAGE = "torch_cuda_sim"
DRIVER = "libcuda.so.1"
# Libraries beside the driver that programs open by name.
_OPENED_BY_NAME = ("libnvidia-ml.so.1",)

_FALSE = frozenset({"", "0", "false", "no", "off"})


def is_requested(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `TORCH_CUDA_SIM` asks for the simulated device.

    Args:
      environ: environment variables.

    Returns:
      True for any value but the empty one, "0", "false", "no" and "off".
    """
    return environ.get(VARIABLE, "").strip().lower() not in _FALSE


def library_folder(environ: Mapping[str, str] = os.environ) -> pathlib.Path | None:
    """The folder of the simulated device's libraries.

    Args:
      environ: environment variables.

    Returns:
      None where the simulated device is not asked for.

    Raises:
      ActivationError: it is asked for and not installed.
    """
    if not is_requested(environ):
        return None
    spec = importlib.util.find_spec(PACKAGE)
    locations = spec.submodule_search_locations if spec is not None else None
    for location in locations or ():
        folder = pathlib.Path(location) / "lib"
        if (folder / DRIVER).is_file():
            return folder
    raise ActivationError(
        found=f"{VARIABLE}={environ[VARIABLE]}, but no {PACKAGE} with libraries in this Python",
        needed=f"the wheel {PACKAGE}, which holds the simulated CUDA device",
        fix=f"python -m pip install {PACKAGE}, or unset {VARIABLE}",
    )


def load_driver(folder: pathlib.Path) -> None:
    """Loads the simulated driver, so that everybody who opens `libcuda.so.1` by name gets it.

    Args:
      folder: what `library_folder` returned.

    Raises:
      ActivationError: another driver is loaded already, or this one does not load.
    """
    path = folder / DRIVER
    needed = f"the simulated driver {path}"
    try:
        driver = ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL)
    except OSError as error:
        raise ActivationError(
            found=f"a simulated driver that does not load: {error}",
            needed=needed,
            fix=f"python -m pip install --force-reinstall --no-deps {PACKAGE}",
        ) from error
    if not hasattr(driver, "cudasimVersion"):
        # The loader takes a library that is there under this soname for the one asked for.
        raise ActivationError(
            found=f"another {DRIVER} loaded into this process before torch",
            needed=needed,
            fix=f"import torch first, or unset {VARIABLE}",
        )
    for name in _OPENED_BY_NAME:
        if (folder / name).is_file():
            ctypes.CDLL(str(folder / name), mode=os.RTLD_GLOBAL)
