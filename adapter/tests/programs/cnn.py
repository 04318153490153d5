"""A CNN trains with AMP, GradScaler, pinned batches and a second stream, then by a graph, as CUDA programs do."""

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

# Forward and backward as a graph, which is recorded once and replayed for each batch.
images_in = torch.zeros(16, 1, 8, 8, device=device)
labels_in = torch.zeros(16, dtype=torch.long, device=device)


def forward():
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16, cache_enabled=False):
        return scaler.scale(nn.functional.cross_entropy(model(images_in), labels_in))


stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        forward().backward()
torch.cuda.current_stream().wait_stream(stream)
optimizer.zero_grad(set_to_none=True)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    scaled = forward()
    scaled.backward()
for _ in range(2):
    for batch, target in loader:
        images_in.copy_(batch, non_blocking=True)
        labels_in.copy_(target, non_blocking=True)
        graph.replay()
        expected = forward()
        torch.testing.assert_close(scaled, expected)
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(expected, parameters)
        torch.testing.assert_close([p.grad for p in parameters], list(gradients))
        scaler.step(optimizer)
        scaler.update()
torch.cuda.synchronize()
assert scaled.item() < losses[0] * scaler.get_scale(), (scaled.item(), losses)
assert torch.cuda.max_memory_allocated() > 0
