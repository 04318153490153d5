"""Describes the torch that this interpreter has installed, as JSON on standard output.

Run by the repository rule of @torch with the interpreter that the wheel is for. Anything that makes that torch
unusable as the CPU half ends it with exit code 1 and one message.
"""

import argparse
import json
import mmap
import pathlib
import platform
import sys
import sysconfig

HEADER_FOLDERS = ("ATen", "c10", "caffe2", "torch")
# Third-party headers that the headers above include; a pip torch brings them, a distribution has packages for them.
BUNDLED_HEADERS = ("pybind11", "fmt", "kineto")
LIBRARIES = ("c10", "torch_cpu", "torch_python", "torch")


class ProbeError(Exception):
    """The installed torch cannot be built against; the message says why and what to do."""


def require_cpu_torch(version: str, cuda: str | None, source_version: str) -> None:
    """Checks that an installed torch is the CPU half of the source that is to be built.

    Args:
        version: `torch.__version__`, with or without a local part such as `+cpu`.
        cuda: `torch.version.cuda`, None for a CPU-only build.
        source_version: the version of @pytorch.

    Raises:
        ProbeError: it is another version, or it already has CUDA.
    """
    if version.split("+")[0] != source_version:
        raise ProbeError(
            f"torch {version} is installed for {sys.executable}, but the CUDA sources in @pytorch are "
            f"{source_version}. Install torch=={source_version} (CPU-only) for that Python, or name another one "
            "with --repo_env=TORCH_CUDA_PYTHON=PYTHON."
        )
    if cuda is not None:
        raise ProbeError(
            f"torch {version} of {sys.executable} already has CUDA {cuda}; the plugin built from @pytorch "
            f"{source_version} needs a CPU-only torch. Name a Python with one with "
            "--repo_env=TORCH_CUDA_PYTHON=PYTHON."
        )


def find_includes(package: pathlib.Path) -> dict[str, str]:
    """Returns the folders of torch's headers by the name under which they are included.

    Args:
        package: the folder of the installed `torch` package.

    Raises:
        ProbeError: no complete set of headers is installed.
    """
    for root in (
        package / "include",
        pathlib.Path(sys.prefix) / "include",
        pathlib.Path("/usr/include"),
    ):
        if all((root / name).is_dir() for name in HEADER_FOLDERS):
            found = [name for name in (*HEADER_FOLDERS, *BUNDLED_HEADERS) if (root / name).is_dir()]
            return {name: str(root / name) for name in found}
    raise ProbeError(
        f"torch in {package} has no C++ headers. Install them (Debian: libtorch-dev), or use pip's torch."
    )


def find_libraries(package: pathlib.Path) -> dict[str, str]:
    """Returns the files of torch's shared libraries by their link name.

    Args:
        package: the folder of the installed `torch` package.

    Raises:
        ProbeError: a library is missing.
    """
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    folders = (package / "lib", pathlib.Path("/usr/lib") / multiarch, pathlib.Path("/usr/lib"))
    found = {}
    for name in (f"lib{library}.so" for library in LIBRARIES):
        paths = [folder / name for folder in folders if (folder / name).exists()]
        if not paths:
            raise ProbeError(
                f"torch in {package} has no {name}. Install the whole of torch (Debian: libtorch-dev)."
            )
        found[name] = str(paths[0].resolve())
    return found


def cpu_definitions(libtorch_cpu: pathlib.Path) -> list[str]:
    """Returns the macros that say for which CPUs torch has kernels: they are part of the signature of dispatch stubs.

    Args:
        libtorch_cpu: the library, whose symbols tell.
    """
    lookup = b"_ZN2at6native16DispatchStubImpl12get_call_ptrEN3c1010DeviceTypeEPv"
    for symbol, definitions in (
        (lookup + b"S4_S4_\0", ["HAVE_AVX2_CPU_DEFINITION", "HAVE_AVX512_CPU_DEFINITION"]),
        (lookup + b"S4_\0", ["HAVE_AVX2_CPU_DEFINITION"]),
    ):
        with (
            libtorch_cpu.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            if content.find(symbol) >= 0:
                return definitions
    return []


def describe(source_version: str) -> dict[str, object]:
    """Returns everything that the build needs to know of the installed torch.

    Args:
        source_version: the version of @pytorch, which the torch must have.

    Raises:
        ProbeError: there is no torch, or it is not the CPU half of that source.
    """
    try:
        import torch
    except ImportError as error:
        raise ProbeError(
            f"{sys.executable} has no usable torch ({error}). Install torch=={source_version} (CPU-only) for it, or "
            "name another one with --repo_env=TORCH_CUDA_PYTHON=PYTHON."
        ) from None
    require_cpu_torch(torch.__version__, torch.version.cuda, source_version)
    package = pathlib.Path(torch.__file__).parent
    libraries = find_libraries(package)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return {
        "version": torch.__version__,
        "public_version": torch.__version__.split("+")[0],
        "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI),
        # pybind11 shares its types among modules of one tag; torch's may come from another compiler than ours.
        "pybind11_build_abi": torch._C._PYBIND11_BUILD_ABI,  # type: ignore[attr-defined]
        "python": sys.executable,
        "python_version": platform.python_version(),
        "python_tag": tag,
        "abi_tag": tag + getattr(sys, "abiflags", ""),
        "extension_suffix": sysconfig.get_config_var("EXT_SUFFIX"),
        "platform": sysconfig.get_platform().replace("-", "_").replace(".", "_"),
        "includes": find_includes(package),
        "libraries": libraries,
        "cpu_definitions": cpu_definitions(pathlib.Path(libraries["libtorch_cpu.so"])),
        "python_include": sysconfig.get_path("include"),
    }


def main(arguments: list[str]) -> int:
    """Prints the description; returns the exit code."""
    parser = argparse.ArgumentParser(description="Describe the installed torch.")
    parser.add_argument("--source-version", required=True)
    options = parser.parse_args(arguments)
    try:
        print(json.dumps(describe(options.source_version)))
    except ProbeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
