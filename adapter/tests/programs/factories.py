"""Tensors made on the device."""

import torch

for made in (
    torch.zeros(3, device="cuda"),
    torch.ones(3, device="cuda:0"),
    torch.full((3,), 2.0, device=torch.device("cuda")),
    torch.empty(3, device="cuda"),
    torch.randn(3, device="cuda"),
    torch.arange(3, device="cuda"),
    torch.tensor([1, 2, 3], device="cuda"),
    torch.asarray([1.0, 2.0, 3.0], device="cuda"),
    torch.as_tensor([1, 2, 3], device="cuda"),
):
    assert made.device == torch.device("cuda:0") and made.is_cuda, made
x = torch.ones(2, 2, device="cuda")
for like in (torch.zeros_like(x), torch.rand_like(x), torch.empty_like(x), x.new_ones(2)):
    assert like.is_cuda
torch.set_default_device("cuda")
assert torch.zeros(1).is_cuda
torch.set_default_device(None)
assert torch.zeros(1, device=0).is_cuda
