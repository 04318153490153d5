"""Tools around the plugin. `doctor` says what it found and why it is on or off."""

from __future__ import annotations

from torch_cuda.utils import doctor

__all__ = ["doctor"]
