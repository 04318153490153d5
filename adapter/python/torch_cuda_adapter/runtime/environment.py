"""Environment variables: CUDA's under the platform's names, and defaults."""

from __future__ import annotations

import os

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.sources.extension import filled


def change(platform: Platform, journal: Journal) -> None:
    """Sets the platform's variables to what CUDA's say, where they are not set themselves.

    Args:
        platform: its table `environment` says which is which.
        journal: puts them back.
    """
    for name, own in platform.table("environment").items():
        if name in os.environ and own not in os.environ:
            journal.set_item(os.environ, own, os.environ[name])


def set_defaults(platform: Platform, journal: Journal) -> None:
    """Sets variables that are not set, such as folders with the platform's tables of tuned numbers.

    Args:
        platform: its table `defaults` has their values; its backend has to be installed.
        journal: puts them back.
    """
    for name, value in platform.table("defaults").items():
        if name not in os.environ:
            journal.set_item(os.environ, name, filled([value], platform)[0])
