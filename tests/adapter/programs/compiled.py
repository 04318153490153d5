"""torch.compile and FX."""

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
