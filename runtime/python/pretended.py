"""A pretended stock torch in a virtual environment, with this package beside it and tiny libraries.

Its library has NVIDIA's name in it and a DT_RPATH to NVIDIA's packages, as that of the real one has.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import torch_cuda_runtime

_DATA = pathlib.Path(__file__).parent / "testdata"
PACKAGE = pathlib.Path(torch_cuda_runtime.__file__).parent

_TORCH = '''"""Loads its library, then other backends, as torch does."""
import ctypes, importlib.metadata, os
from torch.version import __version__
import torch.version
from torch import cuda
class _C:
    @staticmethod
    def _cuda_sleep(cycles): raise AssertionError("launched a kernel")
    @staticmethod
    def _jit_override_can_fuse_on_gpu(can): fused.append(can)
fused = []
class _Ops:
    def load_library(self, path): return "loaded " + path
ops = _Ops()
if torch.version.cuda:
    _library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libtorch.so"))
    _library.whose_library_torch_has.restype = ctypes.c_char_p
    libraries = _library.whose_library_torch_has().decode()
else:
    libraries = "none"
if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    for entry in importlib.metadata.entry_points(group="torch.backends"):
        entry.load()()
'''
_CUDA = '''"""Calls what is queued when it is first used."""
queued = []
def _lazy_call(function): queued.append(function)
def init():
    while queued: queued.pop(0)()
def device_count(): return 1
def check_error(error): raise RuntimeError(error)
'''
_OPS = '''"""Looks operators up by their names."""
class _OpNamespace:
    def __getattr__(self, name): return "operator " + name
'''
ENTRY_POINTS = (
    "[jax_plugins]\ntorch_cuda_runtime = torch_cuda_runtime._jax_plugin\n"
    "[torch.backends]\ntorch_cuda_runtime = torch_cuda_runtime._stock:autoload\n"
)


class Environment:
    """A virtual environment.

    Args:
        folder: where to make it; there is nothing yet.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        base = [sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(base, check=True)
        self.python = folder / "bin" / "python3"
        self.site = pathlib.Path(
            self.run("import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
        )
        self._add_package()

    def _add_package(self) -> None:
        target = self.site / "torch_cuda_runtime"
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, target, ignore=ignore)
        shutil.copy(PACKAGE.parent / "torch_cuda_runtime.pth", self.site)
        for major in ("12", "13"):
            name = f"libcudart.so.{major}"
            self._copy(f"our_{major}/{name}", target / "lib" / f"cu{major}" / name)
        self._copy("libaccel_runtime.so", target / "lib" / "libaccel_runtime.so")
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            self._copy(f"our_driver/{name}", target / "lib" / name)
        (target / "lib" / "libaccel_fake.so").touch()
        for major, minor in (("12", "2.9"), ("13", "2.15")):
            router = f"cu{major}/libtorch_cuda_operators-{minor}.so"
            self._copy("router.so", target / "routers" / router)
        self.add_distribution("torch_cuda_runtime", ENTRY_POINTS)

    def add_distribution(self, name: str, entry_points: str, version: str = "1") -> None:
        """Adds metadata as pip leaves them."""
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(entry_points)

    def add_torch(self, version: str, cuda: str | None) -> None:
        """Adds a torch, and NVIDIA's package that belongs to it."""
        torch = self.site / "torch"
        torch.mkdir()
        (torch / "version.py").write_text(
            "from typing import Optional\n\n__all__ = ['__version__', 'cuda', 'hip']\n"
            f"__version__ = '{version}'\ndebug = False\n"
            f"cuda: Optional[str] = {cuda!r}\nhip: Optional[str] = None\n"
        )
        (torch / "__init__.py").write_text(_TORCH)
        (torch / "cuda.py").write_text(_CUDA)
        (torch / "_ops.py").write_text(_OPS)
        if cuda is not None:
            major = cuda.partition(".")[0]
            name = f"libcudart.so.{major}"
            self._copy(f"torch_{major}/libtorch.so", torch / "lib" / "libtorch.so")
            self._copy(f"nvidias/{name}", self.site / "nvidia" / "lib" / name)

    def add_module(
        self, name: str, text: str = "", distribution: str | None = None, version: str = "1"
    ) -> None:
        """Adds a package.

        Args:
            name: of its module.
            text: of its code.
            distribution: that brings it, if any.
            version: of the distribution.
        """
        folder = self.site.joinpath(*name.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(text)
        if distribution is not None:
            self.add_distribution(distribution, "", version)

    def add_program(self, kind: str, major: int) -> pathlib.Path:
        """Adds a program of C, and NVIDIA's libraries where it looks for them.

        Args:
            kind: "rpath" or "runpath".
            major: of the CUDA that it was compiled for.
        """
        name = f"libcudart.so.{major}"
        self._copy(f"nvidias/{name}", self.site / "nvidia" / "lib" / name)
        program = self.site / f"{kind}_{major}" / "program"
        self._copy(f"{kind}_{major}/program", program)
        return program

    def _copy(self, source: str, target: pathlib.Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_DATA / source, target)

    def run(
        self, *command: str, flags: str = "", **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs Python there, with code or with arguments that start with a dash or a path.

        Args:
            *command: code, if it is one; else arguments.
            flags: of the interpreter, with blanks between them.
            **environ: the environment, but for what a process needs.
        """
        arguments = ["-c", *command] if len(command) == 1 else list(command)
        return subprocess.run(
            [str(self.python), *flags.split(), *arguments],
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    def answers(self, code: str, **environ: str) -> Any:
        """What code leaves in `answer`; a failure is an AssertionError."""
        done = self.run(f"{code}\nimport json; print(json.dumps(answer))", **environ)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout.splitlines()[-1])
