"""Operators that some releases of backends lack or have wrong."""

import math

import torch

# The logarithm in place, in all types; of views; with the gradient that it has elsewhere.
for dtype in (torch.float64, torch.float32, torch.float16):
    x = torch.tensor([[1.0, 4.0, 9.0], [2.0, 0.5, 3.0]], dtype=dtype)
    there = x.cuda()
    row = there[1]
    before = there.data_ptr(), there._version
    assert there[:, ::2].log_().dtype == dtype
    expected = x.clone()
    expected[:, ::2].log_()
    torch.testing.assert_close(there.cpu(), expected)
    assert there.data_ptr() == before[0] and there._version > before[1]
    torch.testing.assert_close(row.cpu(), expected[1])


def gradient(device):
    leaf = torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64, device=device, requires_grad=True)
    y = leaf * 2
    returned = y.log_()
    assert returned is y
    y.sum().backward()
    return leaf.grad


torch.testing.assert_close(gradient("cuda").cpu(), gradient("cpu"))
compiled = torch.compile(lambda x: x.clone().log_() + x.isfinite(), backend="aot_eager")
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
torch.testing.assert_close(compiled(x.cuda()).cpu(), x.log() + 1)

# What is finite, in floating types and in others.
values = [0.0, -1.5, math.inf, -math.inf, math.nan]
for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    x = torch.tensor(values, dtype=dtype)
    assert torch.isfinite(x.cuda()).tolist() == [True, True, False, False, False]
    assert x.cuda().requires_grad_().isfinite().dtype == torch.bool
assert torch.isfinite(torch.tensor([1, 2]).cuda()).tolist() == [True, True]
assert torch.tensor([complex(1, math.inf), 2j]).cuda().isfinite().tolist() == [False, True]
pairs = torch.tensor([values[:2], values[2:4]])
assert torch.func.vmap(torch.isfinite)(pairs.cuda()).tolist() == [[True, True], [False, False]]
