"""C++ extensions for CUDA and for devices that you describe: docs/cpp-extensions.md.

`NewDeviceCppExtension` describes a device, `CUDAExtension` is one that is described, and
`BuildExtension` builds the extensions of both. While the plugin is active the three are also in
``torch.utils.cpp_extension``.
"""

from __future__ import annotations

# First of all: where the plugin is active, importing it extends it (`upstream_functions.py`), which
# takes the modules below.
import torch.utils.cpp_extension  # noqa: F401

from torch_cuda.utils.cpp_extension.build import BuildExtension
from torch_cuda.utils.cpp_extension.cuda import CUDAExtension
from torch_cuda.utils.cpp_extension.device import NewDeviceCppExtension

__all__ = ["BuildExtension", "CUDAExtension", "NewDeviceCppExtension"]
