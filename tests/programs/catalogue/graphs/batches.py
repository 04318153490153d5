"""PyTorch Geometric: batches of graphs from its loader; GIN, several aggregations, pooling, the k best nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GINEConv,
    PNAConv,
    SortAggregation,
    TopKPooling,
    global_add_pool,
    global_mean_pool,
)

from tests.programs import harness


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
        self.first = GINEConv(layers, edge_dim=3)
        self.second = PNAConv(
            8,
            8,
            ["mean", "min", "max", "std"],
            ["identity", "amplification"],
            torch.tensor([0, 4, 8, 6, 2]),
            edge_dim=3,
        )
        self.pool = TopKPooling(8, ratio=0.6)
        self.sort = SortAggregation(k=2)
        self.last = nn.Linear(8 * 4, 3)

    def forward(self, batch: Data) -> Tensor:
        found = torch.relu(self.first(batch.x, batch.edge_index, batch.edge_attr))
        # Not rectified: nodes are sorted by it, and zeros have no order.
        found = torch.tanh(self.second(found, batch.edge_index, batch.edge_attr))
        found, _, _, index, _, _ = self.pool(found, batch.edge_index, batch.edge_attr, batch.batch)
        pooled = [global_add_pool(found, index), global_mean_pool(found, index)]
        result: Tensor = self.last(torch.cat([*pooled, self.sort(found, index)], 1))
        return result


def _graph(seed: int) -> Data:
    nodes = 6 + seed
    return Data(
        x=harness.noise(nodes, 8, seed=seed),
        edge_index=harness.words(2, 4 * nodes, below=nodes, seed=seed),
        edge_attr=harness.noise(4 * nodes, 3, seed=seed + 1),
        y=torch.tensor([seed % 3]),
    )


def run(place: harness.Place) -> harness.Results:
    """Trains on six graphs, in two batches."""
    torch.manual_seed(0)
    model = place.put(_Network())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for batch in DataLoader([_graph(seed) for seed in range(6)], batch_size=3):
        here = batch.to(place.device)
        here.x, here.edge_attr = place.put((here.x, here.edge_attr))
        loss = nn.functional.cross_entropy(model(here), here.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"losses": harness.tensors(losses), **harness.state(model)}
