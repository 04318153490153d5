"""CUDA's runtime, as torch.cuda.cudart() and torch._C have it."""

import torch

runtime = torch.cuda.cudart()
free, total = runtime.cudaMemGetInfo(0)
assert 0 < free <= total
host = torch.ones(1024)
assert runtime.cudaGetErrorString(0)
torch.cuda.check_error(0)
assert torch._C._cuda_getCurrentRawStream(0) == torch.cuda.current_stream(0).cuda_stream
