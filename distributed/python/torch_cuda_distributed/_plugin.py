"""The plugin: what torch_cuda asks for, loads and swaps in (docs/plugins.md in torch_cuda's sources)."""

from __future__ import annotations

import ctypes
import importlib
from types import ModuleType

from torch_cuda import ActivationError, _build, _libraries
from torch_cuda._swap import Swap

from torch_cuda_distributed import _swap

DISTRIBUTION = "torch_cuda_distributed"
NCCL = "libnccl.so.2"


class Plugin:
    """torch_cuda_distributed, as `torch_cuda._plugins` sees it."""

    def __init__(self) -> None:
        self._build = _build.build_info(DISTRIBUTION)

    @property
    def version(self) -> str:
        """Version of the wheel."""
        return self._build.version

    def load(self) -> Swap:
        """Loads NCCL and the bindings, and computes what they change in torch.

        Returns:
          The swap.

        Raises:
          ActivationError: torch has no torch.distributed, NCCL is missing or too old, or the
            bindings do not load.
        """
        distributed = importlib.import_module("torch.distributed")
        if not distributed.is_available():
            raise ActivationError(
                found="a torch that was built without torch.distributed",
                needed="one with it (USE_DISTRIBUTED=1)",
                fix=f"python -m pip uninstall {DISTRIBUTION}, or install another CPU-only torch",
            )
        self._check_nccl(_libraries.preload(self._build)[-1])
        return _swap.plan(self._load_bindings())

    def _load_bindings(self) -> ModuleType:
        try:
            return importlib.import_module(f"{DISTRIBUTION}._CUDAC_distributed")
        except ImportError as error:
            raise ActivationError(
                found=f"bindings of NCCL that do not load: {error}",
                needed=f"the torch that {DISTRIBUTION} {self.version} was built against, and an "
                "undamaged wheel",
                fix=_build.reinstall_command(self.version, DISTRIBUTION),
            ) from error

    def _check_nccl(self, nccl: _libraries.Library) -> None:
        """Raises ActivationError where NCCL is of an older minor version than at build time."""
        built = importlib.import_module(f"{DISTRIBUTION}._build_info").NCCL_VERSION
        found = nccl_version(nccl.handle)
        if found[:2] < tuple(int(part) for part in built.split("."))[:2]:
            place = nccl.path or nccl.origin
            raise ActivationError(
                found=f"NCCL {'.'.join(map(str, found))} ({nccl.soname}, {place})",
                needed=f"NCCL {built} or newer, of the same major version",
                fix="python -m pip install --upgrade "
                f'"{self._build.cuda_libraries[NCCL]}>={built}"\n'
                f"or set {_libraries.PATH_VARIABLE} to the folder of a newer one",
            )


def nccl_version(nccl: ctypes.CDLL) -> tuple[int, int, int]:
    """Asks NCCL for its version; needs neither a GPU nor a driver.

    Args:
      nccl: the loaded library.

    Returns:
      Major, minor and patch version (from nccl.h's NCCL_VERSION_CODE, such as 22203).
    """
    code = ctypes.c_int(0)
    nccl.ncclGetVersion(ctypes.byref(code))
    major, rest = divmod(code.value, 10000)
    return major, *divmod(rest, 100)


def plugin() -> Plugin:
    """The entry point of group `torch_cuda.plugins`."""
    return Plugin()
