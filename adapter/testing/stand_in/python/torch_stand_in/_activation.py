"""What `import torch_stand_in` does to torch, and in which order."""

from __future__ import annotations

import ctypes
import pathlib
import sys

import torch
from torch.utils import backend_registration

NAME = "stand_in"
# PyTorch's own name of the device type, until somebody gives it one.
_UNNAMED = "privateuseone"
_LIBRARIES = pathlib.Path(__file__).parent / "lib"


def load() -> None:
    """Loads the libraries, which registers guard, hooks, allocator and operators with torch, for good.

    Raises:
      ImportError: another backend has the device type that PyTorch keeps for those outside of it.
    """
    taken = torch._C._get_privateuse1_backend_name()
    if taken not in (_UNNAMED, NAME):
        raise ImportError(
            "torch_stand_in needs PyTorch's device type for backends outside of it: found that it is "
            f"{taken!r} in this process. To fix it: import only one of the two"
        )
    # Extensions that are built against these find them loaded.
    for library in ("libstand_in.so", "libtorch_stand_in.so", "libstandjpeg.so"):
        ctypes.CDLL(str(_LIBRARIES / library), mode=ctypes.RTLD_GLOBAL)
    if taken == _UNNAMED:
        backend_registration.rename_privateuse1_backend(NAME)


def activate() -> None:
    """Makes the package `torch.stand_in`, gives tensors their methods, and tells torch's parts about the device."""
    torch._register_device_module(NAME, sys.modules["torch_stand_in"])
    for module in ("amp", "graphs"):
        sys.modules[f"torch.{NAME}.{module}"] = sys.modules[f"torch_stand_in.{module}"]
    if not hasattr(torch.Tensor, NAME):
        backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    from torch_stand_in import _compile, _distributed

    _compile.register()
    _distributed.register()
