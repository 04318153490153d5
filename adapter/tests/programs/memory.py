"""Memory is counted, freed and reported."""

import torch
from torch.cuda.memory import max_memory_allocated

before = torch.cuda.memory_allocated()
x = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() >= before + (1 << 20)
assert max_memory_allocated() >= torch.cuda.memory_allocated()
assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
del x
assert torch.cuda.memory_allocated() == before
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
free, total = torch.cuda.mem_get_info()
assert 0 < free <= total
assert "allocated_bytes.all.current" in torch.cuda.memory_stats()
assert torch.cuda.memory_summary()
try:
    torch.empty(total * 4, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
else:
    raise AssertionError("more memory than there is")
