"""Lets `torch.compile` with inductor keep what it has compiled, for the CPU and for the platform's device."""

from __future__ import annotations

import functools
import hashlib
import json
from types import ModuleType
from typing import Any

import torch

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal


def change(platform: Platform, codecache: ModuleType, journal: Journal) -> None:
    """Names the platform's device in the keys of inductor's cache.

    inductor asks for the version of CUDA, and takes a device without one for AMD's, whose properties others have not.

    Args:
        platform: the platform.
        codecache: `torch._inductor.codecache`.
        journal: puts it back.
    """
    original = codecache.CacheBase.get_system
    # What it has kept is of another device.
    original.cache_clear()
    journal.on_restore(original.cache_clear)

    @functools.cache
    def get_system() -> dict[str, Any]:
        try:
            found: dict[str, Any] = original()
        except AttributeError:
            found = {
                "device": {"name": torch.cuda.get_device_name()},
                "version": {"platform": platform.name},
            }
            text = json.dumps(found, sort_keys=True)
            found["hash"] = hashlib.sha256(text.encode()).hexdigest()
        return found

    journal.set_attribute(codecache.CacheBase, "get_system", staticmethod(get_system))
