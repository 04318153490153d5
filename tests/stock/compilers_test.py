"""What compilers make of programs on the simulated device, held against the CPU without a compiler.

Needs Triton of PyPI and a C compiler: TORCH_CUDA_SIM=1 python tests/stock/compilers_test.py
"""

from __future__ import annotations

import copy
import os
import tempfile
import unittest
from collections.abc import Callable, Sequence

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp())


import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


class Attention(nn.Module):
    """Heads over a sequence, with what stands before added."""

    def __init__(self) -> None:
        super().__init__()
        self.input = nn.Linear(16, 48)
        self.output = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, length, 16]."""
        q, k, v = self.input(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        result: Tensor = x + self.output(found)
        return result


class Convolutional(nn.Module):
    """A convolution, batch norm and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, 3, height, width]."""
        features = F.relu(self.norm(self.first(x)))
        result: Tensor = self.last(F.max_pool2d(features, 2).mean((2, 3)))
        return result


def perceptron() -> nn.Module:
    """Two layers."""
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 16))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "attention": (Attention, (2, 6, 16)),
    "convolutional": (Convolutional, (2, 3, 8, 8)),
    "perceptron": (perceptron, (8, 32)),
}


def gradients(run: Callable[[Tensor], Tensor], model: nn.Module, x: Tensor) -> list[Tensor]:
    """The result and the gradients of the sum of its squares."""
    model.zero_grad()
    result = run(x)
    result.square().sum().backward()
    return [result.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


class CompilersTest(unittest.TestCase):
    """Each compiler by its own entrance."""

    def setUp(self) -> None:
        torch.manual_seed(0)
        torch._dynamo.reset()

    def close(
        self, found: Sequence[Tensor], expected: Sequence[Tensor], limit: float = 1e-5
    ) -> None:
        """Fails where a tensor is not the CPU's."""
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.cpu(), other, rtol=10 * limit, atol=limit)

    def test_models_forward_and_backward(self) -> None:
        for name, (make, shape) in MODELS.items():
            for dynamic in (False, True):
                with self.subTest(name, dynamic=dynamic):
                    torch._dynamo.reset()
                    on_cpu = make()
                    model = copy.deepcopy(on_cpu).cuda()
                    compiled = torch.compile(model, dynamic=dynamic)
                    for batch in (shape[0], shape[0] + 3) if dynamic else (shape[0],):
                        x = torch.randn(batch, *shape[1:])
                        found = gradients(compiled, model, x.cuda())
                        self.close(found, gradients(on_cpu, on_cpu, x))

    def test_reduce_overhead_replays_graphs(self) -> None:
        on_cpu = perceptron()
        model = copy.deepcopy(on_cpu).cuda()
        compiled = torch.compile(model, mode="reduce-overhead")
        with torch.no_grad():
            for _ in range(5):
                torch.compiler.cudagraph_mark_step_begin()
                x = torch.randn(8, 32)
                self.close([compiled(x.cuda())], [on_cpu(x)])

    def test_masks_of_reduce_overhead_differ(self) -> None:
        compiled = torch.compile(lambda x: F.dropout(x, 0.5), mode="reduce-overhead")
        x = torch.ones(4096, device="cuda")
        found = []
        for _ in range(6):
            torch.compiler.cudagraph_mark_step_begin()
            found.append(compiled(x).clone())
        for i, one in enumerate(found):
            self.assertAlmostEqual((one == 0).float().mean().item(), 0.5, delta=0.05)
            self.assertFalse(any(torch.equal(one, other) for other in found[:i]))

    def test_max_autotune_takes_the_library_s_product(self) -> None:
        a, b = torch.randn(64, 48), torch.randn(48, 32)
        compiled = torch.compile(lambda a, b: (a @ b).relu() + 1, mode="max-autotune")
        self.close([compiled(a.cuda(), b.cuda())], [(a @ b).relu() + 1])

    def test_flex_attention(self) -> None:
        def causal(_batch: Tensor, _head: Tensor, row: Tensor, column: Tensor) -> Tensor:
            return row >= column

        size = 128
        mask = create_block_mask(causal, None, None, size, size, device="cuda")
        q, k, v = (torch.randn(2, 2, size, 16, requires_grad=True) for _ in range(3))
        on_cuda = [one.detach().cuda().requires_grad_() for one in (q, k, v)]
        weight = torch.randn(2, 2, size, 16)
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        compiled = torch.compile(flex_attention)
        found = compiled(on_cuda[0], on_cuda[1], on_cuda[2], block_mask=mask)
        assert isinstance(found, Tensor)
        (expected * weight).sum().backward()
        (found * weight.cuda()).sum().backward()
        self.close([found.detach()], [expected.detach()], 1e-3)
        for one, other in zip(on_cuda, (q, k, v), strict=True):
            assert one.grad is not None and other.grad is not None
            self.close([one.grad], [other.grad], 1e-3)


if __name__ == "__main__":
    unittest.main()
