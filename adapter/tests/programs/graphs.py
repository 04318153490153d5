"""CUDA graphs: recorded and replayed, or refused in one message where the device has none."""

import torch

x = torch.ones(4, device="cuda")
assert not torch.cuda.is_current_stream_capturing()
try:
    graph = torch.cuda.CUDAGraph()
except NotImplementedError as error:
    assert "torch.cuda.graphs.CUDAGraph: " in str(error), error
else:
    with torch.cuda.graph(cuda_graph=graph):
        y = x * 2
    x.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert y.tolist() == [6.0] * 4
