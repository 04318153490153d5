"""torch.accelerator, for what torch 2.6 has of it."""

import torch

assert torch.accelerator.is_available()
assert torch.accelerator.device_count() == torch.cuda.device_count()
assert torch.accelerator.current_accelerator().type == "cuda"
torch.accelerator.set_device_index(1)
assert torch.cuda.current_device() == torch.accelerator.current_device_index() == 1
torch.accelerator.set_device_index(0)
torch.accelerator.synchronize()
stream = torch.Stream(device="cuda")
torch.accelerator.set_stream(stream)
assert torch.accelerator.current_stream() == stream
torch.accelerator.set_stream(torch.cuda.default_stream())
assert torch.Event(device="cuda").device.type == "cuda"
