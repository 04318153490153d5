"""CUDA's times, kernels and NVTX ranges for torch's profilers.

torch_cuda finds this package through the entry point group `torch_cuda.plugins` and activates it
after itself. There is nothing here to call; `torch_cuda.plugins()` tells whether it is active.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings


def _autoload() -> None:
    """The entry point of group `torch.backends`, which torch calls at the end of `import torch`.

    Says what to install where torch_cuda is missing, which is what activates this package. Never
    raises.
    """
    if importlib.util.find_spec("torch_cuda") is not None:
        return
    message = (
        "torch_cuda_profiler is installed but stays off, and torch works on the CPU: found no "
        "torch_cuda; needed the torch_cuda of the same version.\n"
        "To fix it: python -m pip install torch_cuda\n"
        "or python -m pip uninstall torch_cuda_profiler"
    )
    try:
        warnings.warn(message, stacklevel=2)
    except UserWarning:
        # Warnings are errors here (-W error). Raising would take the CPU torch away with it.
        print(f"UserWarning: {message}", file=sys.stderr)
