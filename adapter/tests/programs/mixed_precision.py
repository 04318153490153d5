"""Autocast and GradScaler train a model."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
data = torch.randn(32, 8).cuda()
target = data.sum(1, keepdim=True)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        assert torch.is_autocast_enabled() and torch.get_autocast_gpu_dtype() is torch.float16
        output = model(data)
        assert output.dtype is torch.float16
    loss = torch.nn.functional.mse_loss(output.float(), target)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
with torch.autocast("cuda", dtype=torch.bfloat16):
    assert (data @ data.T).dtype is torch.bfloat16
with torch.autocast(device_type=data.device.type, enabled=False):
    assert (data @ data.T).dtype is torch.float32
assert not torch.is_autocast_enabled()
