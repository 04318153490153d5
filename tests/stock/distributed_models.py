"""What distributed_training trains: a small transformer, the same on each rank and device."""

from __future__ import annotations

import torch
from distributed_ranks import Found  # type: ignore[import-not-found]
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

STEPS = 3
WIDTH = 16


class Block(nn.Module):
    """A transformer's layer, by parts that can be sharded."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        # A bias of the keys has no gradient but rounding errors, which optimizers make steps of.
        self.q, self.v = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.k = nn.Linear(WIDTH, WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, length, WIDTH]."""
        y = self.norm(x)
        q, k, v = (
            layer(y).unflatten(-1, (-1, 4)).transpose(1, 2) for layer in (self.q, self.k, self.v)
        )
        heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(heads.transpose(1, 2).flatten(2))
        result: Tensor = x + self.down(nn.functional.gelu(self.up(self.norm2(x))))
        return result


class Transformer(nn.Module):
    """Two layers between an embedding and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(32, WIDTH)
        self.layers = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, 32)

    def forward(self, tokens: Tensor) -> Tensor:
        """Of [batch, length] to [batch, length, 32]."""
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        result: Tensor = self.head(x)
        return result


def transformer(device: str) -> Transformer:
    """The same on each rank and device."""
    torch.manual_seed(0)
    return Transformer().to(device)


def tokens(device: str, seed: int = 0) -> Tensor:
    """A batch, [4, 8]."""
    return torch.randint(0, 32, (4, 8), generator=torch.Generator().manual_seed(seed)).to(device)


def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    """Of the next token."""
    out = model(batch)
    return nn.functional.cross_entropy(out[:, :-1].flatten(0, 1), batch[:, 1:].flatten())


def train(model: nn.Module, device: str, seed: int = 0) -> Found:
    """Trains a transformer; gives the losses."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for step in range(STEPS):
        loss = loss_of(model, tokens(device, 100 * seed + step))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return {"losses": torch.stack(losses)}


def whole(model: nn.Module) -> Found:
    """All parameters, in one piece each."""
    return {
        name: (value.full_tensor() if isinstance(value, DTensor) else value.detach()).clone()
        for name, value in model.state_dict().items()
    }


class Chain(nn.Module):
    """Layers one after another, with names of their own: torch 2.9 does not export what a list has."""

    def __init__(self, count: int) -> None:
        super().__init__()
        for index in range(count):
            self.add_module(f"layer{index}", nn.Linear(WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, WIDTH]."""
        for layer in self.children():
            x = layer(x)
        return x
