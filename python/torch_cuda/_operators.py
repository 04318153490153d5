"""Kernels for CUDA tensors on devices that run no CUDA code: the CPU's, on the same memory.

They come with `lib/libtorch_cuda_operators.so` (accelerator/operators), which registers them when CUDA
is first used, and only if a device needs them. Until then nothing is loaded: importing torch stays
cheap, and a process may fork.
"""

from __future__ import annotations

import ctypes
import os
import pathlib

LIBRARY = "libtorch_cuda_operators.so"
# The runtime whose devices may run no CUDA code; NVIDIA's all do.
RUNTIME = "libaccel_runtime.so"
_MESSAGE = 4096  # bytes


def route(package: pathlib.Path) -> int:
    """Has operators served by the CPU's kernels on the devices of this process that need it.

    Asks the runtime about its devices, so CUDA has to be initialised.

    Args:
      package: folder of the installed package `torch_cuda`.

    Returns:
      How many operators are served that way; 0 where all devices run CUDA code.

    Raises:
      RuntimeError: a device cannot be served; says which, and what to do.
      OSError: the library does not load.
    """
    if not _is_loaded(RUNTIME) and _has_kernels():
        return 0
    library = ctypes.CDLL(str(package / "lib" / LIBRARY))
    library.torch_cuda_route_operators.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.torch_cuda_route_operators.restype = ctypes.c_int
    message = ctypes.create_string_buffer(_MESSAGE)
    routed = int(library.torch_cuda_route_operators(message, len(message)))
    if routed < 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    return routed


def _is_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _has_kernels() -> bool:
    """Whether the build has upstream's kernels, which --//config:ops=runtime leaves out."""
    import torch

    return torch._C._dispatch_has_kernel_for_dispatch_key("aten::empty.memory_format", "CUDA")
