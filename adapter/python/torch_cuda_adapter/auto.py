"""`import torch_cuda_adapter.auto` makes CUDA programs run on the platform that is installed.

`activate` of `torch_cuda_adapter.runtime` says which, and what can be wrong.
"""

from __future__ import annotations

from torch_cuda_adapter.runtime import activate

activate()
