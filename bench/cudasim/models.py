"""Small models of the kinds that people train."""

from __future__ import annotations

from collections.abc import Callable


def models(more: int) -> dict[str, Callable[[], tuple[object, Callable[[], object]]]]:
    """Makes of each name a module and its input.

    Args:
        more: how many times the usual number of examples a step has.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    class Residual(nn.Module):
        """Two convolutions with batch normalization beside an identity, as in ResNet."""

        def __init__(self, channels: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = functional.relu(self.norms[0](self.first(x)))
            z: torch.Tensor = self.norms[1](self.second(y))
            return functional.relu(z + x)

    class Dense(nn.Module):
        """A layer whose output is put behind its input, as in DenseNet."""

        def __init__(self, channels: int, growth: int) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(channels)
            self.convolution = nn.Conv2d(channels, growth, 3, padding=1, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, self.convolution(functional.relu(self.norm(x)))], 1)

    class Recurrent(nn.Module):
        """An LSTM's last output."""

        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(32, 64, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            last: torch.Tensor = self.lstm(x)[0][:, -1]
            return last

    class Function(nn.Module):
        """A function of a learned scale."""

        def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.function = function

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.function(x * self.scale)

    def inverted(channels: int) -> nn.Sequential:
        wide = 4 * channels
        return nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, channels, 1, bias=False),
        )

    def images(channels: int) -> torch.Tensor:
        return torch.randn(4 * more, channels, 16, 16)

    return {
        "resnet": lambda: (nn.Sequential(Residual(16), Residual(16)), lambda: images(16)),
        "mobilenet": lambda: (inverted(8), lambda: images(8)),
        "densenet": lambda: (
            nn.Sequential(Dense(8, 8), Dense(16, 8), Dense(24, 8)),
            lambda: images(8),
        ),
        "transformer": lambda: (
            nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True),
            lambda: torch.randn(4 * more, 32, 64),
        ),
        "lstm": lambda: (Recurrent(), lambda: torch.randn(8 * more, 16, 32)),
        "depthwise": lambda: (nn.Conv2d(32, 32, 3, padding=1, groups=32), lambda: images(32)),
        "layer_norm": lambda: (nn.LayerNorm(256), lambda: torch.randn(256 * more, 256)),
        "softmax": lambda: (
            Function(lambda x: x.softmax(-1)),
            lambda: torch.randn(256 * more, 256),
        ),
        "sort": lambda: (
            Function(lambda x: x.sort(-1).values),
            lambda: torch.randn(64 * more, 512),
        ),
        "embedding": lambda: (nn.Embedding(1000, 64), lambda: torch.randint(1000, (32 * more, 64))),
    }
