"""ProfilerActivity.CUDA."""

import torch
from torch.profiler import ProfilerActivity

x = torch.randn(64, 64, device="cuda")
with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    y = x @ x
assert any("mm" in event.key for event in profiler.key_averages())
assert profiler.key_averages().table()
torch.cuda.nvtx.range_push("range")
torch.cuda.nvtx.range_pop()
with torch.cuda.nvtx.range("range"):
    torch.cuda.nvtx.mark("mark")
