"""Platforms as data: one TOML file each, `musa.toml` and so on, and what reads them."""

from __future__ import annotations

from torch_cuda_adapter.platforms.load import FOLDERS_VARIABLE, Platform, load, names

__all__ = ["FOLDERS_VARIABLE", "Platform", "load", "names"]
