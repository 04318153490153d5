"""What the plugin changes in an imported torch: which activities torch.profiler says there are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from torch_cuda._plan import Plan
from torch_cuda._swap import Swap

from torch_cuda_profiler._native import CUPTI, Native

_SUPPORTED = "_supported_activities"
_TOGGLE = "_toggle_collection_dynamic"
# Who has them, from where the others took them while torch was imported.
_HOLDERS = ("torch._C._autograd", "torch.autograd", "torch.autograd.profiler", "torch.profiler")


def plan(native: Native, package: str) -> Swap:
    """Computes the swap. Changes nothing of torch.

    Args:
      native: the loaded library.
      package: on PyPI, that carries CUPTI.

    Returns:
      The swap, to be made at once.
    """
    torch = sys.modules["torch"]
    autograd = torch._C._autograd
    result = Plan()
    for name, new in (
        (_SUPPORTED, supported_activities(getattr(autograd, _SUPPORTED), native, package)),
        (_TOGGLE, toggle(getattr(autograd, _TOGGLE), native)),
    ):
        old = getattr(autograd, name)
        for holder in _HOLDERS:
            namespace = vars(sys.modules[holder])
            if namespace.get(name) is old:
                result.set_item(namespace, name, new)
    return Swap(result, lambda: None)


def supported_activities(
    upstream: Callable[[], set[Any]], native: Native, package: str
) -> Callable[[], set[Any]]:
    """Makes `torch.autograd._supported_activities`, which a CPU torch answers without CUDA.

    Args:
      upstream: the function of a CPU torch.
      native: the loaded library.
      package: on PyPI, that carries CUPTI.

    Returns:
      The function. It adds CUDA where there is a device and CUPTI; where CUPTI is missing, it warns
      once, and torch's profilers measure with events instead, or the CPU only.
    """
    warned = False

    def _supported_activities() -> set[Any]:
        nonlocal warned
        torch = sys.modules["torch"]
        activities = upstream()
        if torch.cuda.device_count() == 0:
            return activities
        reason = native.why_no_cupti()
        if reason is None:
            activities.add(torch.profiler.ProfilerActivity.CUDA)
        elif not warned:
            warned = True
            warnings.warn(
                f"torch.profiler shows no kernels of CUDA: found no usable {CUPTI} ({reason}); "
                f"needed CUPTI.\nTo fix it: python -m pip install {package}",
                stacklevel=3,
            )
        return activities

    return _supported_activities


def toggle(upstream: Callable[[bool, set[Any]], None], native: Native) -> Callable[..., None]:
    """Makes `torch.autograd._toggle_collection_dynamic`, which has CUDA's half toggled as well.

    Args:
      upstream: the function of a CPU torch.
      native: the loaded library.
    """

    def _toggle_collection_dynamic(enable: bool, activities: set[Any]) -> None:
        upstream(enable, activities)
        if sys.modules["torch"].profiler.ProfilerActivity.CUDA in activities:
            native.toggle(enable)

    return _toggle_collection_dynamic
