"""What this wheel was built from and for, as the build wrote it into `_build_info.py`."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pathlib
from collections.abc import Mapping

from torch_cuda._errors import ActivationError

DISTRIBUTION = "torch_cuda"


@dataclasses.dataclass(frozen=True)
class BuildInfo:
    """The constants of the build.

    Attributes:
      version: version of the distribution, such as "2.6.0+cu124".
      torch_version: version of the torch it was built for, such as "2.6.0".
      python_tag: "cp313" and the like, with a trailing "t" for free-threaded Python.
      cxx11_abi: whether it was built with the C++11 ABI of libstdc++.
      cuda_version: version of the CUDA toolkit, such as "12.4".
      cuda_archs: architectures of the kernels, in TORCH_CUDA_ARCH_LIST syntax.
      ops: name of the op profile.
      cudnn: whether cuDNN is used.
      attention: which fused attention kernels are in, as the build's setting has it: "none", "flash-128".
      cuda_libraries: soname to the package on PyPI that carries it.
    """

    version: str
    torch_version: str
    python_tag: str
    cxx11_abi: bool
    cuda_version: str
    cuda_archs: tuple[str, ...]
    ops: str
    cudnn: bool
    attention: str
    cuda_libraries: Mapping[str, str]


def reinstall_command(version: str, distribution: str = DISTRIBUTION) -> str:
    """The command that puts a wheel of the given version back.

    Args:
      version: such as "2.6.0+cu124"; empty for the newest that pip finds.
      distribution: name of the wheel.

    Returns:
      A shell command.
    """
    pin = f"=={version}" if version else ""
    return f'python -m pip install --force-reinstall --no-deps "{distribution}{pin}"'


@functools.cache
def build_info(package: str = DISTRIBUTION) -> BuildInfo:
    """Reads the constants of the build.

    Args:
      package: name of the installed package, which is also that of its wheel.

    Returns:
      The constants; the same object each time.

    Raises:
      ActivationError: ``_build_info.py`` is missing or lacks a constant, so that this is no whole
        wheel (a source tree, or a damaged installation).
    """
    try:
        module = importlib.import_module(f"{package}._build_info")
        return BuildInfo(**{field.name: getattr(module, field.name.upper()) for field in _FIELDS})
    except (ImportError, AttributeError, SyntaxError) as error:
        raise ActivationError(
            found=f"no usable _build_info.py in {package_folder().parent / package} ({error})",
            needed="the one that the build puts into the wheel",
            fix=reinstall_command("", package),
        ) from error


_FIELDS = dataclasses.fields(BuildInfo)


def package_folder() -> pathlib.Path:
    """The folder of the installed package `torch_cuda`."""
    # Links are not followed: the wheel's metadata lies beside the name that Python imports.
    return pathlib.Path(__file__).absolute().parent
