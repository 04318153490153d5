"""What has to hold before any library is loaded. Each check is cheap and changes nothing.

The order of `CHECKS` is the order in which activation makes them: the first that fails is the one
that the user reads, so the causes come before their consequences.
"""

from __future__ import annotations

import csv
import dataclasses
import importlib.metadata
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from torch_cuda._build import DISTRIBUTION, BuildInfo, reinstall_command
from torch_cuda._errors import ActivationError

ENTRY_POINT_GROUP = "torch.backends"


@dataclasses.dataclass(frozen=True)
class Installation:
    """What the checks look at.

    Attributes:
      build: the constants of the build.
      package: folder of the installed package.
      torch: the module `torch`, possibly still being imported. Not typed as a module, because
        tests pass fakes with just the attributes that are read.
    """

    build: BuildInfo
    package: pathlib.Path
    torch: Any


def python_tag() -> str:
    """The tag of the running Python as wheels write it, such as "cp313" (PEP 425)."""
    prefix = {"cpython": "cp", "pypy": "pp"}.get(sys.implementation.name, sys.implementation.name)
    return f"{prefix}{sys.version_info.major}{sys.version_info.minor}{sys.abiflags.strip('dm')}"


def public_version(version: str) -> str:
    """The version without its local part: "2.6.0" for "2.6.0+cpu" (PEP 440)."""
    return version.partition("+")[0]


def check_python(installation: Installation) -> None:
    """Raises ActivationError unless this Python is the one that the wheel was built for."""
    build = installation.build
    found = python_tag()
    if found != build.python_tag:
        raise ActivationError(
            found=f"Python {found} ({sys.executable})",
            needed=f"Python {build.python_tag}, for which torch_cuda {build.version} was built",
            fix=f"install a torch_cuda that was built for {found}, or use Python "
            f"{build.python_tag}",
        )


def _cpu_only_torch(build: BuildInfo) -> str:
    """What pip installs the torch with that the wheel was built for: its version, and its C++ ABI.

    Up to 2.6 PyTorch's CPU-only wheels have the old ABI, and those with the new one an index of
    their own; later ones all have the new one.
    """
    version = public_version(build.torch_version)
    major, minor = (int(part) for part in version.split(".")[:2])
    index = "cpu-cxx11-abi" if build.cxx11_abi and (major, minor) < (2, 7) else "cpu"
    return f'"torch=={version}" --index-url https://download.pytorch.org/whl/{index}'


def check_torch_version(installation: Installation) -> None:
    """Raises ActivationError unless torch is of the version that the wheel was built for."""
    build = installation.build
    found = str(installation.torch.__version__)
    if public_version(found) != public_version(build.torch_version):
        needed = public_version(build.torch_version)
        raise ActivationError(
            found=f"torch {found}",
            needed=f"torch {needed}, for which torch_cuda {build.version} was built",
            fix=f"python -m pip install {_cpu_only_torch(build)}\n"
            f"or install the torch_cuda that belongs to torch {public_version(found)}",
        )


def check_cxx11_abi(installation: Installation) -> None:
    """Raises ActivationError unless torch uses the C++ ABI that the wheel was built with."""
    build = installation.build
    found = bool(installation.torch._C._GLIBCXX_USE_CXX11_ABI)
    if found != build.cxx11_abi:
        raise ActivationError(
            found=f"a torch with _GLIBCXX_USE_CXX11_ABI={int(found)}",
            needed=f"one with _GLIBCXX_USE_CXX11_ABI={int(build.cxx11_abi)}, as torch_cuda "
            f"{build.version} was built",
            fix=f"python -m pip install --force-reinstall {_cpu_only_torch(build)}\n"
            "or install a torch_cuda that was built against this torch (build it yourself with "
            f"--repo_env=TORCH_CUDA_PYTHON={sys.executable})",
        )


def check_torch_is_cpu_only(installation: Installation) -> None:
    """Raises ActivationError when torch has CUDA or ROCm of its own."""
    torch = installation.torch
    own = next(
        (
            f"{name} {version}"
            for name, version in (("CUDA", torch.version.cuda), ("ROCm", torch.version.hip))
            if version is not None
        ),
        "CUDA bindings" if hasattr(torch._C, "_cuda_getDeviceCount") else None,
    )
    if own is not None:
        raise ActivationError(
            found=f"torch {torch.__version__}, which already has {own} of its own",
            needed="a CPU-only torch",
            fix=f"python -m pip uninstall {DISTRIBUTION}\n"
            "or install the CPU-only torch: python -m pip install --force-reinstall "
            f"{_cpu_only_torch(installation.build)}",
        )


def check_only_plugin(installation: Installation) -> None:
    """Raises ActivationError when something else, or a second torch_cuda, provides CUDA."""
    others = sorted(set(_other_plugins(installation)))
    if others:
        names = " and ".join(others)
        raise ActivationError(
            found=f"{len(others) + 1} plugins for CUDA: {names} beside torch_cuda "
            f"{installation.build.version} in {installation.package.parent}",
            needed="exactly one",
            fix=f"python -m pip uninstall {DISTRIBUTION}, or uninstall the other; run it again "
            "until `python -m torch_cuda doctor` finds one",
        )


def _other_plugins(installation: Installation) -> Iterator[str]:
    bindings = getattr(installation.torch.cuda, "_CUDAC", None)
    if bindings is not None and bindings.__name__ != "torch_cuda._CUDAC":
        yield f"{bindings.__name__} (already active)"
    ours = installation.package.parent.resolve()
    # One folder can be on sys.path under several names (lib64 -> lib).
    for distribution in importlib.metadata.distributions(name=DISTRIBUTION):
        folder = pathlib.Path(str(distribution.locate_file(""))).resolve()
        if folder != ours:
            yield f"{DISTRIBUTION} {distribution.version} in {folder}"
    for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        owner = entry.dist.name if entry.dist is not None else "an unnamed package"
        if _normalized(owner) != _normalized(DISTRIBUTION) and _claims_cuda(entry):
            yield f"{owner} (entry point {entry.name} = {entry.value})"


def _claims_cuda(entry: importlib.metadata.EntryPoint) -> bool:
    return entry.module.partition(".")[0] == DISTRIBUTION or _normalized(entry.name) in {
        "cuda",
        _normalized(DISTRIBUTION),
    }


def _normalized(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


@dataclasses.dataclass(frozen=True)
class RecordedFile:
    """One line of a wheel's RECORD.

    Attributes:
      path: where the file should be.
      digest: "sha256=<urlsafe base64 without padding>", or empty.
      size: in bytes, or None where RECORD has none.
    """

    path: pathlib.Path
    digest: str
    size: int | None


def recorded_files(package: pathlib.Path) -> list[RecordedFile]:
    """Reads which files pip put into the package.

    Args:
      package: folder of the installed package, which has the name of its wheel.

    Returns:
      The files of RECORD that lie in the package, without byte code; empty where there is no RECORD
      (a source tree).
    """
    site = package.parent
    records = sorted(site.glob(f"{package.name}-*.dist-info/RECORD"))
    if not records:
        return []
    files = []
    with records[0].open(encoding="utf-8", newline="") as lines:
        for name, digest, size in csv.reader(lines):
            if name.startswith(f"{package.name}/") and not name.endswith(".pyc"):
                files.append(RecordedFile(site / name, digest, int(size) if size else None))
    return files


def wrong_files(package: pathlib.Path) -> list[str]:
    """Compares an installed package with its wheel's RECORD.

    Contents are not read: `python -m torch_cuda doctor` compares the hashes.

    Args:
      package: folder of the installed package, which has the name of its wheel.

    Returns:
      What is missing or of another size, in words.
    """
    wrong = []
    for file in recorded_files(package):
        try:
            size = file.path.stat().st_size
        except OSError:
            wrong.append(f"{file.path} (missing)")
            continue
        if file.size is not None and size != file.size:
            wrong.append(f"{file.path} ({size} bytes instead of {file.size})")
    return wrong


def listed(wrong: list[str]) -> str:
    """The first three of a list in words, and how many more there are."""
    return ", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")


def check_files(installation: Installation) -> None:
    """Raises ActivationError when files of the wheel are missing or of another size."""
    wrong = wrong_files(installation.package)
    if not any(
        path.suffix in (".so", ".py") for path in installation.package.glob("_CUDAC.*")
    ) and not any("_CUDAC" in path for path in wrong):
        wrong.append(f"{installation.package / '_CUDAC'}.*.so (missing)")
    if wrong:
        raise ActivationError(
            found=f"a damaged wheel: {listed(wrong)}",
            needed=f"the files that torch_cuda {installation.build.version} was installed with",
            fix=reinstall_command(installation.build.version),
        )


CHECKS: tuple[tuple[str, Callable[[Installation], None]], ...] = (
    ("Python", check_python),
    ("torch version", check_torch_version),
    ("C++ ABI", check_cxx11_abi),
    ("torch is CPU-only", check_torch_is_cpu_only),
    ("only CUDA plugin", check_only_plugin),
    ("files of the wheel", check_files),
)
"""Title and function of every check, in order."""
