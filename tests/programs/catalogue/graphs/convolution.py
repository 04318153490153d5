"""PyTorch Geometric: convolutions on a graph classify its nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, SAGEConv

from tests.programs import harness


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = GCNConv(8, 16)
        self.second = SAGEConv(16, 16, aggr="max")
        self.last = GCNConv(16, 4)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        found = torch.relu(self.first(x, edges))
        result: Tensor = self.last(torch.relu(self.second(found, edges)), edges)
        return result


def run(place: harness.Place) -> harness.Results:
    """Trains on 20 nodes."""
    labels = place.put(harness.words(20, below=4))

    def loss(outputs: Tensor) -> Tensor:
        return nn.functional.nll_loss(outputs.log_softmax(-1), labels)

    edges = harness.words(2, 60, below=20)
    inputs = {"x": harness.noise(20, 8), "edges": edges}
    return harness.train(place, _Network, inputs, loss)
