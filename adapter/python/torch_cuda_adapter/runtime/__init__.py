"""Makes CUDA programs run on a platform's device: docs/adapter.md.

Importing it changes nothing. `activate` does, and `restore` puts everything back.
"""

from torch_cuda_adapter.runtime.activation import activate, active_platform, restore

__all__ = ["activate", "active_platform", "restore"]
