"""Who serves an operator of the current device, on the source-built torch and on PyPI's."""

from __future__ import annotations

import importlib.util

import torch


def served_by(operator: str) -> str:
    """Who serves an operator.

    Args:
        operator: such as "aten::add_.Tensor".

    Returns:
        As `torch_cuda.served_by` and `torch_cuda_runtime.served_by` say it: "upstream" for a CUDA kernel of PyTorch's.
    """
    if torch.version.cuda is None or importlib.util.find_spec("torch_cuda") is not None:
        import torch_cuda

        return str(torch_cuda.served_by(operator))
    import torch_cuda_runtime

    return str(torch_cuda_runtime.served_by(operator))
