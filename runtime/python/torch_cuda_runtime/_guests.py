"""What frameworks other than torch get before they are imported: our libraries, the devices, and what they have to be told.

A guest works as it comes from PyPI. Where it cannot work, there is one warning, and the program goes on without a GPU.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import mmap
import os
import pathlib
import re
from collections.abc import Callable, MutableMapping

from torch_cuda_runtime import _asked, _devices, _libraries, _stock, _torch
from torch_cuda_runtime._errors import Unusable, warn

_NEWEST = 13
# XLA ends the process for a flag that it does not know.
_OLDEST_JAX = (0, 5)
_PATH = "PATH"
_LIBRARY_PATH = "LD_LIBRARY_PATH"
_XLA_FLAGS = "XLA_FLAGS"
_CUDA_FOLDER = "--xla_gpu_cuda_data_dir"
_XLA_MEMORY = "XLA_PYTHON_CLIENT_PREALLOCATE"
# XLA's own compiler of PTX makes machine code. What autotuning tries is checked by kernels of machine code, and tells of
# the host's speed. Without it, XLA 0.12 gives products of 8-bit integers Triton tiles that count each term twice.
_FOR_XLA = {
    "--xla_gpu_enable_libnvptxcompiler": "false",
    "--xla_gpu_autotune_level": "0",
    "--xla_gpu_enable_triton_gemm": "false",
}


@dataclasses.dataclass(frozen=True)
class Guest:
    """A framework that uses CUDA without torch.

    Attributes:
        name: as its users write it.
        modules: those that are imported first.
        distributions: whose installation means that the framework is there.
        major: the CUDA whose libraries it needs; None: the driver and NVML alone.
        settings: sets environment variables that the user has not set, for devices that are asked for.
        obstacle: why it gets no devices, or None.
        trial: a program that prints, in its last line, which devices it has.
    """

    name: str
    modules: tuple[str, ...]
    distributions: tuple[str, ...]
    major: Callable[[], int | None]
    settings: Callable[[list[_devices.Device], MutableMapping[str, str]], None] | None = None
    obstacle: Callable[[], Unusable | None] | None = None
    trial: str | None = None

    def version(self) -> str | None:
        """The distribution that is installed with its version, or None."""
        for distribution in self.distributions:
            try:
                return f"{distribution} {importlib.metadata.version(distribution)}"
            except importlib.metadata.PackageNotFoundError:
                continue
        return None


def before(module: str) -> None:
    """Prepares a framework whose module is about to be imported. Never raises.

    Args:
        module: one of `_frameworks.MODULES`.
    """
    guest = _named(module)
    if guest.name in _served:
        return
    _served[guest.name] = False
    try:
        prepare(guest)
        _served[guest.name] = True
    except Unusable as error:
        warn(
            f"{_asked.requested_by()} is set, but {guest.version() or guest.name} gets no devices: {error}\n"
            "Everything that was looked at: python -m torch_cuda_runtime doctor"
        )


def prepare(guest: Guest, environ: MutableMapping[str, str] = os.environ) -> None:
    """Loads what a framework needs of ours, and sets what it has to be told.

    Args:
        guest: the framework.
        environ: environment variables, which it and its processes read.

    Raises:
        Unusable: it gets no devices.
    """
    obstacle = guest.obstacle() if guest.obstacle is not None else None
    if obstacle is not None:
        raise obstacle
    devices = _devices.found(environ)
    major = guest.major()
    libraries = _libraries.of_driver() if major is None else _libraries.of(major)
    if not libraries:
        raise Unusable(
            found=f"{guest.name} for CUDA {major}",
            needed="CUDA " + " or ".join(map(str, _libraries.majors())),
            fix=f"install {guest.name} for CUDA {_NEWEST}",
        )
    _libraries.preload(libraries, guest.name)
    _devices.announce(devices)
    _devices.offer_to_triton(devices, environ)
    # For who looks into the folders itself, and for programs that are started.
    folders = [_libraries.root()] if major is None else _libraries.folders(major)
    _put_first(_LIBRARY_PATH, folders, environ)
    if guest.settings is not None:
        guest.settings(devices, environ)


def installed() -> list[Guest]:
    """The frameworks that this Python has."""
    return [guest for guest in GUESTS if guest.version() is not None]


def has_devices(module: str) -> bool:
    """Whether a framework of this process got devices.

    Args:
        module: one of `_frameworks.MODULES`.
    """
    return _served.get(_named(module).name, False)


_served: dict[str, bool] = {}


def _named(module: str) -> Guest:
    return next(guest for guest in GUESTS if module in guest.modules)


def _put_first(
    variable: str, folders: list[pathlib.Path], environ: MutableMapping[str, str]
) -> None:
    names = [str(folder) for folder in folders]
    behind = [
        one for one in environ.get(variable, "").split(os.pathsep) if one and one not in names
    ]
    environ[variable] = os.pathsep.join([*names, *behind])


def _driver_only() -> int | None:
    return None


def _of_torch() -> int | None:
    """The CUDA of the torch that this process has or may import, so that both get the same libraries."""
    if _stock.state.choice is not None:
        return _stock.state.choice.major
    torch = _torch.find()
    return torch.cuda_major if torch is not None and torch.cuda is not None else None


def _of_cuda_python() -> int | None:
    try:
        major = importlib.metadata.version("cuda-bindings").partition(".")[0]
    except importlib.metadata.PackageNotFoundError:
        return _of_torch() or _NEWEST
    return int(major) if major.isdigit() else _NEWEST


def _of_jax() -> int | None:
    return next((major for major in (13, 12) if _jax_plugin(major)), _NEWEST)


def _of_onnxruntime() -> int | None:
    spec = importlib.util.find_spec("onnxruntime")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        provider = pathlib.Path(folder) / "capi" / "libonnxruntime_providers_cuda.so"
        if provider.is_file():
            with (
                provider.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as all_of_it,
            ):
                needed = re.search(rb"libcudart\.so\.(\d+)", all_of_it)
                return int(needed[1]) if needed else _NEWEST
    return None  # the package for CPUs


def _jax_plugin(major: int) -> bool:
    return importlib.util.find_spec(f"jax_cuda{major}_plugin") is not None


def _jax_obstacle() -> Unusable | None:
    version = importlib.metadata.version("jax")
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < _OLDEST_JAX:
        return Unusable(
            found=f"jax {version}",
            needed="jax 0.5 or newer, whose XLA knows the settings that it is given here",
            fix='python -m pip install --upgrade "jax[cuda13]"',
        )
    if _jax_plugin(13) or _jax_plugin(12):
        return None
    return Unusable(
        found=f"jax {version} without CUDA",
        needed=f"its plugin for CUDA {_NEWEST}",
        fix=f'python -m pip install "jax-cuda{_NEWEST}-plugin=={version}" "jax-cuda{_NEWEST}-pjrt=={version}"',
    )


def _static_runtime(name: str, distribution: str) -> Callable[[], Unusable | None]:
    def obstacle() -> Unusable | None:
        return Unusable(
            found=f"{name}, whose libraries have NVIDIA's CUDA runtime linked in (libcudart_static)",
            needed=f"a {distribution} that loads libcudart.so",
            fix=f"compile {distribution} with the shared CUDA runtime; the packages of PyPI run on NVIDIA's GPUs "
            "only",
        )

    return obstacle


def _libdevice_folder() -> pathlib.Path | None:
    """NVIDIA's package that has XLA's functions of mathematics, if it is installed."""
    spec = importlib.util.find_spec("nvidia")
    for site in (spec.submodule_search_locations or ()) if spec is not None else ():
        for package in ("cu13", "cuda_nvcc"):
            folder = pathlib.Path(site) / package
            if (folder / "nvvm" / "libdevice" / "libdevice.10.bc").is_file():
                return folder
    return None


def _xla_settings(devices: list[_devices.Device], environ: MutableMapping[str, str]) -> None:
    flags = environ.get(_XLA_FLAGS, "")
    for name, value in _FOR_XLA.items():
        if name not in flags:
            flags = f"{flags} {name}={value}".strip()
    if _CUDA_FOLDER not in flags:
        folder = _libdevice_folder()
        if folder is not None:
            flags = f"{flags} {_CUDA_FOLDER}={folder}"
        elif not any(pathlib.Path("/usr/local").glob("cuda*/nvvm")):
            warn(
                "found no libdevice.10.bc, which XLA needs for exp, tanh and their like; needed NVIDIA's package with it."
                f"\nTo fix it: python -m pip install nvidia-nvvm, or name CUDA's folder by XLA_FLAGS={_CUDA_FOLDER}=…"
            )
    environ[_XLA_FLAGS] = flags
    # What XLA asks where nvJitLink, which is ours, is turned off.
    ptxas = next((device.ptxas for device in devices if device.ptxas is not None), None)
    if ptxas is not None:
        _put_first(_PATH, [ptxas.parent], environ)
    # Three quarters of a GPU's memory are half of the host's.
    environ.setdefault(_XLA_MEMORY, "false")


GUESTS = (
    Guest(
        name="CUDA Python",
        modules=("cuda.bindings", "cuda.core", "cuda.pathfinder"),
        distributions=("cuda-core", "cuda-bindings"),
        major=_of_cuda_python,
    ),
    Guest(
        name="CuPy",
        modules=("cupy",),
        distributions=("cupy-cuda13x", "cupy-cuda12x", "cupy"),
        major=_of_torch,
        obstacle=_static_runtime("CuPy", "cupy"),
    ),
    Guest(
        name="JAX",
        modules=("jax", "jaxlib"),
        distributions=("jax",),
        major=_of_jax,
        settings=_xla_settings,
        obstacle=_jax_obstacle,
        trial="import jax\nprint(*(f'{one} is {one.device_kind}' for one in jax.devices('cuda')), sep=', ')",
    ),
    Guest(
        name="Numba",
        modules=("numba.cuda",),
        distributions=("numba-cuda",),
        major=_of_cuda_python,
        trial="from numba import cuda\nprint(*(f'{one.id} is {one.name}' for one in cuda.list_devices()), sep=', ')",
    ),
    Guest(
        name="NVML for Python",
        modules=("pynvml",),
        distributions=("nvidia-ml-py", "pynvml"),
        major=_driver_only,
    ),
    Guest(
        name="ONNX Runtime",
        modules=("onnxruntime",),
        distributions=("onnxruntime-gpu",),
        major=_of_onnxruntime,
    ),
    Guest(name="Taichi", modules=("taichi",), distributions=("taichi",), major=_driver_only),
    Guest(
        name="TensorFlow",
        modules=("tensorflow",),
        distributions=("tensorflow",),
        major=lambda: 12,
    ),
    Guest(name="tinygrad", modules=("tinygrad",), distributions=("tinygrad",), major=_driver_only),
    Guest(name="Triton", modules=("triton",), distributions=("triton",), major=_driver_only),
    Guest(
        name="Warp",
        modules=("warp",),
        distributions=("warp-lang",),
        major=_driver_only,
        obstacle=_static_runtime("Warp", "warp-lang"),
    ),
)
"""By the names that their users give them."""
