"""CUDA's environment variables, under the platform's names."""

from __future__ import annotations

import os

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal


def change(platform: Platform, journal: Journal) -> None:
    """Sets the platform's variables to what CUDA's say, where they are not set themselves.

    Args:
        platform: its table `environment` says which is which.
        journal: puts them back.
    """
    for name, own in platform.table("environment").items():
        if name in os.environ and own not in os.environ:
            journal.set_item(os.environ, own, os.environ[name])
