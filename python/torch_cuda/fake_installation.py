"""Test helper: torch_cuda installed into a folder of its own, with fakes of what is compiled.

The Python sources are the real ones and so is torch; `_CUDAC` is a Python module whose classes
have, like the real ones, a memory layout of their own. Not part of the wheel.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping

from tools.testing import paused_import
from torch_cuda import _build, _checks
from torch_cuda._build import BuildInfo

_SOURCES = pathlib.Path(__file__).absolute().parent

BUILD = BuildInfo(
    version="2.6.0+cu124",
    torch_version="2.6.0",
    python_tag=_checks.python_tag(),
    cxx11_abi=True,
    cuda_version="12.4",
    cuda_archs=("compute_80",),
    ops="core",
    cudnn=False,
    attention="none",
    cuda_libraries={},
)
"""Constants of a build that fits the running Python."""

BINDINGS = """
import torch
class _CudaStreamBase(torch.Stream):
    def __new__(cls, priority=0, **kwargs):
        self = super().__new__(cls, device="cpu")
        self.made_by = "real base"
        return self
class _CudaEventBase(torch.Event):
    pass
class _CUDAGraph:
    __slots__ = ("handle",)
class _MemPool:
    __slots__ = ("handle",)
class _MemPoolContext:
    __slots__ = ("handle",)
class _cuda_CUDAAllocator:
    __slots__ = ("handle",)
class _CudaDeviceProperties:
    name = "real"
class _cudart:
    pass
class _nvtx:
    pass
_has_cuda, _has_cudnn, _has_magma = True, False, False
def _cuda_init(): raise RuntimeError("No CUDA GPUs are available")
def _cuda_getDeviceCount(): return 0
def _cuda_isInBadFork(): return False
def _cuda_exchangeDevice(index): return ("exchanged", index)
def _cuda_maybeExchangeDevice(index): return ("maybe exchanged", index)
def _cuda_getCurrentRawStream(index): return 7
def _cuda_isCurrentStreamCapturing(): return False
def _cuda_beginAllocateToPool(device, pool): pass
def _cuda_endAllocateCurrentStreamToPool(device, pool): pass
def _cuda_releasePool(device, pool): pass
def _graph_pool_handle(): return (0, 1)
def _torch_cuda_complete(torch_c): assert torch_c._has_cuda
def _torch_cuda_route_on_first_use(library, announced): pass
def _torch_cuda_routed_operators(): return 0
"""


@dataclasses.dataclass(frozen=True)
class Run:
    """What a Python process with the fake installation did.

    Attributes:
      code: exit code.
      out: standard output, stripped.
      err: standard error, stripped.
    """

    code: int
    out: str
    err: str

    @property
    def warnings(self) -> int:
        """How many warnings it printed."""
        return self.err.count("Warning: ")


class FakeInstallation:
    """A folder that holds an installed torch_cuda.

    Args:
      site: an empty folder, to be put on `PYTHONPATH`.
      bindings: source of the module `torch_cuda._CUDAC`.
      constants: replace constants of `_build_info.py`; by default they fit the running Python and
        its torch, and no CUDA library is needed.
    """

    def __init__(self, site: pathlib.Path, bindings: str = BINDINGS, **constants: object) -> None:
        import torch

        self.site = site
        self.package = site / "torch_cuda"
        shutil.copytree(
            _SOURCES,
            self.package,
            ignore=shutil.ignore_patterns("*_test.py", "fake_*", "__pycache__", "_build_info.py"),
        )
        values = {
            **{name.upper(): value for name, value in dataclasses.asdict(BUILD).items()},
            "CXX11_ABI": torch._C._GLIBCXX_USE_CXX11_ABI,
            **constants,
        }
        lines = [f"{name} = {value!r}\n" for name, value in values.items()]
        (self.package / "_build_info.py").write_text("".join(lines), encoding="utf-8")
        (self.package / "_CUDAC.py").write_text(bindings, encoding="utf-8")
        add_distribution(site, _build.DISTRIBUTION, BUILD.version, "torch_cuda:_autoload")
        self._record(site / f"torch_cuda-{BUILD.version}.dist-info")

    def _record(self, dist_info: pathlib.Path) -> None:
        lines = []
        for path in sorted(self.package.rglob("*")):
            if path.is_file():
                contents = path.read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=")
                name = path.relative_to(self.site)
                lines.append(f"{name},sha256={digest.decode()},{len(contents)}\n")
        (dist_info / "RECORD").write_text("".join(lines), encoding="utf-8")

    def python(self, *arguments: str, environ: Mapping[str, str] | None = None) -> Run:
        """Runs the Python of the tests with this installation.

        Args:
          arguments: of the interpreter.
          environ: environment variables to add.

        Returns:
          What it did.
        """
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**_inherited(), "PYTHONPATH": str(self.site), **(environ or {})},
            cwd=self.site,
            capture_output=True,
            text=True,
            check=False,
        )
        return Run(done.returncode, done.stdout.strip(), done.stderr.strip())

    def run(self, code: str, environ: Mapping[str, str] | None = None) -> Run:
        """Runs Python code with this installation; see `python`. What imports torch first shares most of the import."""
        if "PYTHONPATH" in (environ or {}):
            return self.python("-c", code, environ=environ)
        done = paused_import.run(
            sys.executable,
            code,
            environ=_inherited(),
            changes=environ,
            path=[str(self.site)],
            folder=self.site,
        )
        return Run(done.returncode, done.stdout.strip(), done.stderr.strip())


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def add_distribution(
    site: pathlib.Path, name: str, version: str, entry_point: str, group: str = "torch.backends"
) -> None:
    """Adds the metadata of a package that torch loads as a backend, or torch_cuda as a plugin.

    Args:
      site: folder on `PYTHONPATH`.
      name: of the distribution, and of its entry point.
      version: of the distribution.
      entry_point: "module:function".
      group: the entry point's group.
    """
    dist_info = site / f"{name}-{version}.dist-info"
    dist_info.mkdir(parents=True)
    (dist_info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    (dist_info / "entry_points.txt").write_text(
        f"[{group}]\n{name} = {entry_point}\n", encoding="utf-8"
    )


PLUGIN = """
import torch
from torch_cuda._plan import Plan
from torch_cuda._swap import Swap
class Plugin:
    version = {version!r}
    def load(self):
        plan = Plan()
        plan.set_item(vars(torch.cuda), "order", [*getattr(torch.cuda, "order", ()), {name!r}])
        return Swap(plan, lambda: None)
def plugin():
    return Plugin()
"""
"""A plugin that appends its name to `torch.cuda.order`."""


def add_plugin(
    site: pathlib.Path, name: str, version: str = BUILD.version, source: str = PLUGIN
) -> pathlib.Path:
    """Adds an installed plugin of torch_cuda.

    Args:
      site: folder on `PYTHONPATH`.
      name: of its distribution and package.
      version: of the distribution, and what `{version!r}` stands for.
      source: of the package; it has a function `plugin`. `{name!r}` stands for the name.

    Returns:
      The package's source file.
    """
    add_distribution(site, name, version, f"{name}:plugin", "torch_cuda.plugins")
    package = site / name
    package.mkdir()
    module = package / "__init__.py"
    text = source.replace("{version!r}", repr(version)).replace("{name!r}", repr(name))
    module.write_text(text, encoding="utf-8")
    record = f"{name}/__init__.py,,{len(text.encode())}\n"
    (site / f"{name}-{version}.dist-info" / "RECORD").write_text(record, encoding="utf-8")
    return module
