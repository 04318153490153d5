"""`torch.cuda.jiterator` on devices that run no code: compiled for the host, computed as the CPU's kernels are.

In PyTorch NVRTC compiles such a function, and the device runs it. Here the host's compiler of C++ does, and the
function becomes the CPU's kernel of an operator, which the router then serves as it serves all others: in the
order of the device's streams, in CUDA graphs, on copies where the host does not see the device's memory. Devices that
run code keep PyTorch's way.
"""

from __future__ import annotations

from torch_cuda_runtime import _capabilities

_BINDING = "_cuda_jiterator_compile_and_launch_kernel"
"""Of torch._C: what functions of torch.cuda.jiterator call."""


def serve() -> None:
    """Has functions of torch.cuda.jiterator computed by the host on the devices that run no code.

    Does nothing on NVIDIA's runtime, and where all devices run code. CUDA has to be initialised.
    """
    import torch

    devices = range(torch.cuda.device_count())
    if hasattr(torch._C, _BINDING) and not all(map(_capabilities.runs_code, devices)):
        from torch_cuda_runtime._jiterator import _calls

        setattr(torch._C, _BINDING, _calls.instead_of(getattr(torch._C, _BINDING)))
