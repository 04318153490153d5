"""A torch that was built with CUDA, as PyPI has it: when it is refused, and what of its CUDA is put out of reach.

Where CUDA has no device, nothing of it is in use, and the platform's device can take its name. What would go to CUDA's
own libraries then goes to the platform, or is refused in the platform's words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.backends.cudnn

from torch_cuda_adapter.errors import AdapterError, UnavailableError, refusal
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal

_VISIBLE = "CUDA_VISIBLE_DEVICES"

# Functions of torch._C and what does the same in torch.cuda, which is the platform's.
_COUNTERPARTS = {
    "_cuda_emptyCache": "empty_cache",
    "_cuda_exchangeDevice": "_exchange_device",
    "_cuda_getDevice": "current_device",
    "_cuda_getDeviceCount": "device_count",
    "_cuda_init": "init",
    "_cuda_isCurrentStreamCapturing": "is_current_stream_capturing",
    "_cuda_isInBadFork": "_is_in_bad_fork",
    "_cuda_maybeExchangeDevice": "_maybe_exchange_device",
    "_cuda_setDevice": "set_device",
    "_cuda_synchronize": "synchronize",
}

# They tell how torch was built, or keep a number for it.
_KEPT = frozenset(
    {
        "_cuda_cudaCachingAllocator_is_enabled",
        "_cuda_getCompiledVersion",
        "_cuda_get_cudnn_benchmark_limit",
        "_cuda_set_cudnn_benchmark_limit",
    }
)
_PREFIXES = ("_cuda_", "_nccl_")

COMMUNICATION = (
    "_broadcast",
    "_broadcast_coalesced",
    "_broadcast_out",
    "_gather",
    "_gather_out",
    "_scatter",
    "_scatter_out",
)
"""Functions of torch._C between CUDA's devices, for torch.cuda.comm."""

# CUDA's libraries, whose kernels are for CUDA's tensors.
_LIBRARIES = ("_has_cudnn", "_has_cusparselt", "_has_gds", "_has_magma")


def is_built() -> bool:
    """Whether this torch was built with CUDA, or torch_cuda has given it CUDA."""
    return bool(torch._C._has_cuda) or hasattr(torch._C, "_cuda_init")


def check(platform: Platform) -> None:
    """Makes sure that no CUDA device is in use.

    Args:
        platform: whose device takes CUDA's name.

    Raises:
        AdapterError: there is one, or torch_cuda is active, whose devices are CUDA's.
    """
    if not is_built():
        return
    found = "found a torch with CUDA of its own"
    if not torch._C._has_cuda or _torch_cuda_is_active():
        raise AdapterError(
            f"{found}, torch_cuda's, which {platform.name} cannot stand for; needed a torch without: TORCH_CUDA_DISABLE=1"
        )
    count = torch.cuda.device_count()
    if count == 0:
        return
    own = platform.table("environment").get(_VISIBLE)
    # CUDA's variable is the platform's as well, if that has none of its own.
    hide = f"{_VISIBLE}= {own}=0" if own else f"{_VISIBLE}="
    if "torch_cuda_runtime" in sys.modules:
        hide += (
            ", or, as they may be torch_cuda_runtime's, no TORCH_CUDA_DEVICES and no TORCH_CUDA_SIM"
        )
    raise AdapterError(
        f"{found} and {count} CUDA {'device' if count == 1 else 'devices'}, whose name {platform.name}'s device "
        f"cannot take; needed a process that sees no CUDA device: {hide}"
    )


def change(platform: Platform, journal: Journal) -> None:
    """Puts what goes to CUDA's own libraries out of reach; nothing to do in a torch without them.

    Args:
        platform: its functions of `torch.cuda` are in place already.
        journal: puts everything back.
    """
    if not is_built():
        return
    own = platform.table("cuda").get("bindings", {})
    for name in dir(torch._C):
        is_cudas = name.startswith(_PREFIXES) or name in COMMUNICATION
        if is_cudas and name not in _KEPT and name not in own:
            _change_function(name, platform, journal)
    for name in _LIBRARIES:
        if hasattr(torch._C, name):
            journal.set_attribute(torch._C, name, False)
    journal.set_attribute(behind(torch.backends.cuda), "cufft_plan_cache", _NoPlans(platform.name))
    # It compares the device with those that cuDNN is for.
    journal.set_attribute(behind(torch.backends.cudnn), "_init", lambda: False)


def behind(backend: Any) -> Any:
    """The module of a backend of `torch.backends`, in whose place there is an object in sys.modules."""
    return getattr(backend, "m", backend)


class _NoPlans:
    """Stands for `torch.backends.cuda.cufft_plan_cache`."""

    def __init__(self, platform: str) -> None:
        self._text = (
            f"torch.backends.cuda.cufft_plan_cache: {platform} has nothing for it: cuFFT is CUDA's"
        )

    def __getattr__(self, name: str) -> Any:
        raise UnavailableError(self._text)

    def __getitem__(self, device: Any) -> Any:
        raise UnavailableError(self._text)


def _torch_cuda_is_active() -> bool:
    torch_cuda = sys.modules.get("torch_cuda")
    return torch_cuda is not None and bool(torch_cuda.is_active())


def _change_function(name: str, platform: Platform, journal: Journal) -> None:
    original = getattr(torch._C, name)
    if not callable(original) or isinstance(original, type):
        return
    counterpart = _COUNTERPARTS.get(name)
    target = (
        _forwarder(name, counterpart)
        if counterpart
        else refusal(f"torch._C.{name}", platform.name, "it is a function of CUDA's own")
    )
    journal.set_attribute(torch._C, name, target)


def _forwarder(name: str, counterpart: str) -> Callable[..., Any]:
    # A function of its own, as torch.compile knows it from the one that it calls.
    def forward(*args: Any, **kwargs: Any) -> Any:
        return getattr(torch.cuda, counterpart)(*args, **kwargs)

    forward.__name__ = forward.__qualname__ = name
    return forward
