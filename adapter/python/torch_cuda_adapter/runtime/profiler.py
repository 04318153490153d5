"""Lets `ProfilerActivity.CUDA` record the platform's device."""

from __future__ import annotations

from typing import Any

import torch.autograd.profiler
import torch.profiler

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.platform_modules import look_up


def change(platform: Platform, journal: Journal) -> None:
    """Lets CUDA's activity be the platform's.

    Args:
        platform: its table `profiler` names the activity.
        journal: puts it back.
    """
    path = platform.table("profiler").get("activity")
    activity = look_up(path) if path else None
    if activity is None:
        return
    journal.set_attribute(torch.profiler.ProfilerActivity, "CUDA", activity)
    # Where kineto does not know the device, its events are timed by the backend.
    state: Any = vars(torch.autograd)["ProfilerState"]
    if activity is torch.profiler.ProfilerActivity.PrivateUse1:
        journal.set_attribute(state, "KINETO_GPU_FALLBACK", state.KINETO_PRIVATEUSE1_FALLBACK)
