"""torch.compile and AOTInductor on the simulated device: what is compiled equals what is not."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable

os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
# No processes of its own: each would import torch.
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

import torch
from absl.testing import absltest, parameterized
from torch import nn


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 16), nn.Softmax(-1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layers(x)
        return result


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = torch.relu(self.norm(self.first(x)))
        result: torch.Tensor = self.last(nn.functional.max_pool2d(features, 2).mean((2, 3)))
        return result


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input = nn.Linear(16, 48)
        self.output = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.input(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / 2).softmax(-1)
        result: torch.Tensor = self.output((weights @ v).transpose(1, 2).flatten(2))
        return x + result


MODELS: dict[str, tuple[type[nn.Module], tuple[int, ...]]] = {
    "perceptron": (Perceptron, (8, 32)),
    "convolutional": (Convolutional, (2, 3, 8, 8)),
    "attention": (Attention, (2, 6, 16)),
}


def gradients(
    run: Callable[[torch.Tensor], torch.Tensor], model: nn.Module, x: torch.Tensor
) -> list[torch.Tensor]:
    """The result, and the gradients of its sum of squares."""
    model.zero_grad()
    result = run(x)
    result.square().sum().backward()
    grads = [p.grad for p in model.parameters()]
    return [result.detach().clone(), *(g.clone() for g in grads if g is not None)]


class CompileTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(0)
        torch._dynamo.reset()

    @parameterized.product(name=tuple(MODELS), dynamic=(False, True))
    def test_models_forward_and_backward(self, name: str, dynamic: bool) -> None:
        make, shape = MODELS[name]
        model = make().cuda()
        compiled = torch.compile(model, dynamic=dynamic)
        for batch in (shape[0], shape[0] + 3):
            x = torch.randn(batch, *shape[1:], device="cuda")
            for found, expected in zip(
                gradients(compiled, model, x), gradients(model, model, x), strict=True
            ):
                torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

    @parameterized.parameters(torch.float16, torch.bfloat16)
    def test_half_precision(self, dtype: torch.dtype) -> None:
        model = Perceptron().cuda().to(dtype)
        x = torch.randn(8, 32, device="cuda", dtype=dtype)
        torch.testing.assert_close(torch.compile(model)(x), model(x), rtol=2e-2, atol=2e-2)

    def test_generated_kernels_ran(self) -> None:
        before = torch._inductor.metrics.generated_kernel_count
        x = torch.randn(100, device="cuda")
        found = torch.compile(lambda x: torch.sin(x) * x + x.cos())(x)
        torch.testing.assert_close(found.cpu(), torch.sin(x.cpu()) * x.cpu() + x.cpu().cos())
        self.assertGreater(torch._inductor.metrics.generated_kernel_count, before)

    def test_graphs_of_cuda(self) -> None:
        model = Perceptron().cuda().eval()
        compiled = torch.compile(model, mode="reduce-overhead")
        with torch.no_grad():
            for _ in range(4):
                x = torch.randn(8, 32, device="cuda")
                torch.testing.assert_close(compiled(x).clone(), model(x), rtol=1e-4, atol=1e-5)

    def test_a_training_loop(self) -> None:
        losses = []
        for compiled in (False, True):
            torch.manual_seed(1)
            model = Perceptron().cuda()
            run = torch.compile(model) if compiled else model
            optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
            x, y = torch.randn(16, 32).cuda(), torch.randint(16, (16,)).cuda()
            found = []
            for _ in range(5):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(run(x), y)
                loss.backward()
                optimizer.step()
                found.append(loss.item())
            losses.append(found)
        torch.testing.assert_close(
            torch.tensor(losses[1]), torch.tensor(losses[0]), rtol=1e-4, atol=0
        )

    def test_reductions_and_indices(self) -> None:
        def function(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
            y = x[i].cumsum(1)
            return y, y.var(0), y.argmax(1), torch.where(y > 0, y, -y).sort(1).values

        x = torch.randn(20, 33, device="cuda")
        i = torch.randint(20, (50,), device="cuda")
        for found, expected in zip(torch.compile(function)(x, i), function(x, i), strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)

    def test_dropout_is_reproducible(self) -> None:
        compiled = torch.compile(lambda x: nn.functional.dropout(x, 0.4))
        x = torch.ones(10000, device="cuda")
        torch.manual_seed(3)
        first = compiled(x)
        torch.manual_seed(3)
        self.assertTrue(torch.equal(first, compiled(x)))
        self.assertAlmostEqual((first == 0).float().mean().item(), 0.4, delta=0.03)

    def test_ahead_of_time(self) -> None:
        model = Perceptron().cuda().eval()
        x = torch.randn(8, 32, device="cuda")
        with torch.no_grad():
            program = torch.export.export(model, (x,))
            package = pathlib.Path(self.create_tempdir().full_path) / "model.pt2"
            torch._inductor.aoti_compile_and_package(program, (x,), package_path=str(package))
            loaded = torch._inductor.aoti_load_package(str(package))
            torch.testing.assert_close(loaded(x), model(x), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    absltest.main()
