"""torch.compile and FX."""

import copy

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).cuda()
x = torch.randn(3, 4, device="cuda")
expected = model(x)


def with_devices(x):
    made = torch.zeros(2, device="cuda") + torch.ones(2, device=x.device)
    if x.is_cuda and x.device.type == "cuda":
        made = made + 1
    return model(x) * made.cuda()


for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(model, backend=backend)(x), expected)
    torch.testing.assert_close(
        torch.compile(with_devices, backend=backend, fullgraph=True)(x), expected * 2
    )
traced = torch.fx.symbolic_trace(torch.nn.Sequential(model))
torch.testing.assert_close(traced(x), expected)
graph = torch.fx.Graph()
device = graph.call_function(torch.device, ("cuda",))
graph.output(graph.call_function(torch.ones, (2,), {"device": device}))
module = torch.fx.GraphModule({}, graph)
assert module().is_cuda


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    return x.to("cuda") + torch.ones([2], device=torch.device("cuda:0"))


assert scripted(torch.ones(2)).is_cuda


# With inductor, the default: forward, backward and the optimizer's steps.
torch._dynamo.reset()


def train(trained, run, data):
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for rows in (3, 5, 4):
        optimizer.zero_grad()
        loss = run(data[:rows]).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


data = torch.randn(5, 4)
on_cpu, on_device = copy.deepcopy(model).cpu(), copy.deepcopy(model)
wanted = train(on_cpu, on_cpu, data)
found = train(on_device, torch.compile(on_device, dynamic=True), data.cuda())
torch.testing.assert_close(torch.tensor(found), torch.tensor(wanted))
for ours, theirs in zip(on_device.parameters(), on_cpu.parameters()):
    torch.testing.assert_close(ours.cpu(), theirs)


# On either device, in a stream; what is changed in place, and views.
@torch.compile
def change(x, scale):
    x.mul_(scale)
    return x.t() + 1, x[1:]


for number in range(torch.cuda.device_count()):
    stream = torch.cuda.Stream(number)
    values = torch.arange(6.0, device=f"cuda:{number}").view(2, 3)
    stream.wait_stream(torch.cuda.current_stream(number))
    with torch.cuda.stream(stream):
        turned, rest = change(values, torch.tensor(2.0))
    stream.synchronize()
    assert turned.device == values.device == torch.device("cuda", number)
    torch.testing.assert_close(values.cpu(), torch.arange(6.0).view(2, 3) * 2)
    torch.testing.assert_close(turned.cpu(), values.cpu().t() + 1)
    assert rest.data_ptr() == values[1:].data_ptr()


# inductor's graphs are CUDA's: on another device there are none, and the results are the same.
quick = torch.compile(lambda x: x.exp().sum(), mode="reduce-overhead")
for _ in range(3):
    torch.testing.assert_close(quick(expected), expected.exp().sum())

# The CPU in the same process.
with torch.no_grad():
    torch.testing.assert_close(torch.compile(on_cpu)(data), on_cpu(data))
