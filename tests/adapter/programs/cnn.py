"""A CNN trains with AMP, GradScaler, pinned batches and a second stream, as CUDA programs do."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
assert device.type == "cuda"
images = torch.randn(64, 1, 8, 8)
labels = (images.mean((1, 2, 3)) > 0).long()
loader = DataLoader(TensorDataset(images, labels), batch_size=16, pin_memory=True)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(128, 2),
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler(device.type)
stream = torch.cuda.Stream()
losses = []
for _ in range(8):
    for batch, target in loader:
        assert batch.is_pinned()
        with torch.cuda.stream(stream):
            batch, target = batch.to(device, non_blocking=True), target.cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(stream)
        batch.record_stream(torch.cuda.current_stream())
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(batch), target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    losses.append(loss.item())
torch.cuda.synchronize(device)
assert losses[-1] < losses[0], losses
assert torch.cuda.max_memory_allocated() > 0
