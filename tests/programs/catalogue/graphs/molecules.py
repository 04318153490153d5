"""PyTorch Geometric's SchNet: energies from positions, forces by differentiating twice."""

from __future__ import annotations

import torch
from torch_geometric.nn import SchNet

from tests.programs import harness


def _all_pairs(positions: torch.Tensor, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The edges between all atoms of a molecule: SchNet's own search is a package of its own."""
    together = (batch[:, None] == batch[None]).fill_diagonal_(False)
    edges = together.nonzero().t()
    return edges, (positions[edges[0]] - positions[edges[1]]).norm(dim=-1)


def run(place: harness.Place) -> harness.Results:
    """Trains on two molecules, with their forces."""
    torch.manual_seed(0)
    model = place.put(
        SchNet(
            hidden_channels=16,
            num_filters=16,
            num_interactions=2,
            num_gaussians=8,
            interaction_graph=_all_pairs,
        )
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=True)
    atoms, batch = place.put((harness.words(9, below=10), torch.tensor([0] * 4 + [1] * 5)))
    losses = []
    for _ in range(3):
        positions = place.put(harness.noise(9, 3) * 2).requires_grad_()
        energies = model(atoms, positions, batch)
        (forces,) = torch.autograd.grad(energies.sum(), positions, create_graph=True)
        loss = energies.square().mean() + forces.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {
        "losses": harness.tensors(losses),
        "forces": harness.tensors(forces),
        **harness.state(model),
    }
