"""Operators of one's own, registered for CUDA."""

import torch

library = torch.library.Library("rows", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CUDA")
x = torch.ones(3, device="cuda", requires_grad=True)
assert torch.ops.rows.twice(x.detach()).cpu().tolist() == [2, 2, 2]
try:
    torch.ops.rows.twice(torch.ones(3))
except NotImplementedError:
    pass
else:
    raise AssertionError("registered for the CPU")


@torch.library.custom_op("rows::thrice", mutates_args=(), device_types="cuda")
def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * 3


assert thrice(torch.ones(2, device="cuda")).cpu().tolist() == [3, 3]


@torch.library.custom_op("rows::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    raise AssertionError("the kernel of all devices")


@half.register_kernel("cuda")
def _(x: torch.Tensor) -> torch.Tensor:
    return x / 2


assert half(torch.ones(2, device="cuda")).cpu().tolist() == [0.5, 0.5]


def above(x: torch.Tensor) -> torch.Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.rows.twice(x) + 1


library.impl("twice", above, "AutogradCUDA")
assert torch.ops.rows.twice(x).tolist() == [3, 3, 3]
