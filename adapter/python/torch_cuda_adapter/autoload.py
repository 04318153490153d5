"""The entry point in the group `torch.backends`: `import torch` calls it."""

from __future__ import annotations

import os
import warnings

from torch_cuda_adapter.errors import AdapterError


def autoload() -> None:
    """Activates the adapter for the platform that TORCH_CUDA_ADAPTER names; without it, nothing happens.

    What goes wrong is a warning: `import torch` goes on, and torch is as it was.
    """
    if not os.environ.get("TORCH_CUDA_ADAPTER"):
        return
    # Only for who asks: it takes the rest of the package.
    from torch_cuda_adapter.runtime import activate

    try:
        activate()
    except AdapterError as error:
        warnings.warn(f"torch_cuda_adapter is not active: {error}", RuntimeWarning, stacklevel=2)
