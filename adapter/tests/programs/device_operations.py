"""Devices, tensors and modules by CUDA's names."""

import torch

device = torch.device("cuda")
assert device.type == "cuda" and str(torch.device("cuda", 1)) == "cuda:1"
assert torch.cuda.is_available() and torch.cuda.device_count() == 2

x = torch.randn(10, 10).cuda()
assert x.is_cuda and not x.cpu().is_cuda
assert (
    x.device == torch.device("cuda:0") and x.device.type == "cuda" and "device='cuda:0'" in repr(x)
)
assert x.to("cuda:1").device.index == 1 and x.cuda(1).device == torch.device("cuda", 1)
assert x.cuda() is x and x.cuda(non_blocking=True) is x
torch.testing.assert_close((x @ x).cpu(), x.cpu() @ x.cpu())

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).cuda()
assert all(parameter.is_cuda for parameter in model.parameters())
with torch.cuda.device(1):
    assert torch.cuda.current_device() == 1
    assert torch.ones(2).cuda().device.index == 1
assert torch.cuda.current_device() == 0
with torch.device("cuda"):
    assert torch.nn.Linear(2, 2).cuda().weight.device.type == "cuda"
assert isinstance(torch.cuda.get_device_name(0), str)
assert torch.cuda.get_device_properties(0).total_memory > 0
