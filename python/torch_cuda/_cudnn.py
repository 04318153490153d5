"""cuDNN in a build that has it, on a device whose libraries do not serve it.

NVIDIA's devices are not asked: their cuDNN loads most of itself at the first question. Libraries of
other devices (`_runtime.py`) may have cuDNN's names without its work, for libtorch_cuda links to
them. PyTorch then has to choose its own kernels, as a build without cuDNN does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from torch_cuda import _libraries, _runtime
from torch_cuda._plan import Plan

# runtime/unsupported has it.
_MARKER = "accelerator_no_cudnn"


def is_served(
    libraries: Iterable[_libraries.Library], environ: Mapping[str, str] = os.environ
) -> bool:
    """Whether cuDNN's functions work on the devices of this process, as far as it is known.

    The library itself says so, by a symbol of its own.

    Args:
      libraries: what `_libraries.preload` returned.
      environ: environment variables, which say whether other libraries than NVIDIA's are asked for.

    Returns:
      False where a library was found with nothing behind its names.
    """
    if _runtime.requested_by(environ) is None:
        return True
    for library in libraries:
        if _libraries.stem(library.soname) == "libcudnn":
            return not hasattr(library.handle, _MARKER)
    return True


def without(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that bindings would have without cuDNN.

    Args:
      names: those of a build that may have it.

    Returns:
      A copy.
    """
    return {name: value for name, value in names.items() if name != "_cudnn"} | {
        "_has_cudnn": False
    }


def plan_switch(torch_c: ModuleType, cudnn: type, result: Plan) -> None:
    """Plans that programs cannot turn cuDNN on.

    Kernels are chosen by this switch in C++, where it is known that cuDNN was compiled in, but not
    that the device lacks it. A program that turns it on goes on without it, as on a CPU build.

    Args:
      torch_c: `torch._C`.
      cudnn: the class of `torch.backends.cudnn`.
      result: where the assignments go.
    """
    result.set_item(vars(torch_c), "_set_cudnn_enabled", _leave_off)
    # A property of the same kind as its neighbours.
    make = type(vars(cudnn)["benchmark"])
    result.set_attribute(cudnn, "enabled", make(torch_c._get_cudnn_enabled, _leave_off))


def turn_off(torch_c: ModuleType, set_enabled: Callable[[bool], None]) -> None:
    """Turns cuDNN off in C++, attention included, and says that it is not there.

    Args:
      torch_c: `torch._C`.
      set_enabled: PyTorch's own `_set_cudnn_enabled`.
    """
    setattr(torch_c, "_has_cudnn", False)  # noqa: B010
    set_enabled(False)
    torch_c._set_sdp_use_cudnn(False)


def _leave_off(enabled: bool, /) -> None:
    """Takes the place of `torch._C._set_cudnn_enabled`."""
    if not isinstance(enabled, bool):
        # The type and the words of PyTorch's own.
        message = f"set_enabled_cudnn expects a bool, but got {type(enabled).__name__}"
        raise RuntimeError(message)  # noqa: TRY004
