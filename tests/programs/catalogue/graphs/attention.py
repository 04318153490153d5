"""PyTorch Geometric: attention along edges, and a transformer's convolution with attributes of edges."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv, GraphNorm, TransformerConv

from tests.programs import harness

TOLERANCES = {
    torch.float32: harness.Tolerance(1e-2, "the CPU's float32 is 6e-4 from its float64"),
}


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = GATv2Conv(8, 4, heads=2, edge_dim=3)
        self.norm = GraphNorm(8)
        self.last = TransformerConv(8, 4, heads=2, concat=False, edge_dim=3)

    def forward(self, x: Tensor, edges: Tensor, attributes: Tensor) -> Tensor:
        found = torch.nn.functional.elu(self.norm(self.first(x, edges, attributes)))
        result: Tensor = self.last(found, edges, attributes)
        return result


def run(place: harness.Place) -> harness.Results:
    """Trains on 20 nodes."""
    labels = place.put(harness.words(20, below=4))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.cross_entropy(outputs, labels)

    inputs = {
        "x": harness.noise(20, 8),
        "edges": harness.words(2, 60, below=20),
        "attributes": harness.noise(60, 3, seed=3),
    }
    return harness.train(place, _Network, inputs, loss)
