"""Derivatives: numerically right, across streams, threads and devices."""

from __future__ import annotations

import threading
from typing import Any

import torch
from absl.testing import absltest
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.conformance.training import topic


def doubles(*shape: int) -> torch.Tensor:
    """Numbers that derivatives are wanted by."""
    torch.manual_seed(0)
    return torch.randn(shape, dtype=torch.float64).cuda().requires_grad_()


class Cube(torch.autograd.Function):
    """A function with a derivative of its own."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """x to the third."""
        ctx.save_for_backward(x)
        return x.pow(3)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Its derivative."""
        (x,) = ctx.saved_tensors
        return 3 * x**2 * gradients[0]


class AutogradTest(topic.TopicTest):
    def test_derivatives_are_those_that_are_measured(self) -> None:
        square = doubles(4, 4)
        pictures, weights = doubles(1, 2, 5, 5), doubles(3, 2, 3, 3)
        for function, inputs in (
            (lambda x: (x.tanh() @ x).softmax(1), (square,)),
            (lambda x: x.sigmoid().cumsum(0).var(1), (square,)),
            (lambda x: nn.functional.layer_norm(x, (4,)), (square,)),
            (lambda x: x[[0, 2, 2]].sort(1).values, (square,)),
            (lambda x, w: nn.functional.conv2d(x, w, padding=1), (pictures, weights)),
            (Cube.apply, (square,)),
        ):
            self.assertTrue(torch.autograd.gradcheck(function, inputs))

    def test_second_derivatives(self) -> None:
        self.assertTrue(torch.autograd.gradgradcheck(lambda x: (x * x).sin().sum(), (doubles(5),)))

    def test_gradients_are_added_up(self) -> None:
        x = torch.ones(3, device="cuda", requires_grad=True)
        loss = (x * x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        assert x.grad is not None
        self.assertEqual(x.grad.tolist(), [4, 4, 4])
        self.assertTrue(x.grad.is_cuda)

    def test_hooks_are_called(self) -> None:
        x = torch.ones(2, device="cuda", requires_grad=True)
        seen = []

        def hook(gradient: torch.Tensor) -> torch.Tensor:
            seen.append(gradient.device.type)
            return gradient * 10

        x.register_hook(hook)
        (x * 3).sum().backward()
        assert x.grad is not None
        self.assertEqual((seen, x.grad.tolist()), (["cuda"], [30, 30]))

    def test_backward_follows_the_streams_of_forward(self) -> None:
        x = torch.ones(100_000, device="cuda", requires_grad=True)
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        first.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(first):
            y = x * 2
            for _ in range(10):
                y = y + x
        second.wait_stream(first)
        with torch.cuda.stream(second):
            loss = (y * y).sum()
        torch.cuda.current_stream().wait_stream(second)
        loss.backward()
        assert x.grad is not None
        self.assertEqual(x.grad.unique().tolist(), [2 * 12 * 12])

    def test_recomputed_blocks_have_the_same_gradients(self) -> None:
        torch.manual_seed(0)
        block = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Tanh()).cuda()
        x = torch.randn(4, 6, device="cuda")
        gradients = []
        for recompute in (False, True):
            block.zero_grad()
            torch.manual_seed(1)
            result = checkpoint(block, x, use_reentrant=False) if recompute else block(x)
            result.square().sum().backward()
            gradients.append(
                [torch.clone(p.grad) for p in block.parameters() if p.grad is not None]
            )
            self.assertLen(gradients[-1], 2)
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other)

    def test_threads_go_backward_at_once(self) -> None:
        found: dict[int, float] = {}

        def work(number: int) -> None:
            x = torch.full((50,), float(number), device="cuda", requires_grad=True)
            for _ in range(10):
                x.grad = None
                (x * x).sum().backward()
            assert x.grad is not None
            found[number] = x.grad[0].item()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(found, {number: 2.0 * number for number in range(5)})

    def test_without_a_graph(self) -> None:
        x = torch.ones(2, device="cuda", requires_grad=True)
        with torch.no_grad():
            self.assertFalse((x * 2).requires_grad)
        with torch.inference_mode():
            self.assertTrue((x * 2).is_inference())
        with self.assertRaisesRegex(RuntimeError, "does not require grad"):
            x.detach().sum().backward()

    def test_what_was_changed_in_between_is_told(self) -> None:
        x = torch.ones(2, device="cuda", requires_grad=True)
        y = x.exp()
        y.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.sum().backward()

    def test_a_graph_over_host_and_device(self) -> None:
        x = torch.ones(4, requires_grad=True)
        ((x.cuda() * 3).cpu() * 2).sum().backward()
        assert x.grad is not None
        self.assertEqual((x.grad.device.type, x.grad.tolist()), ("cpu", [6, 6, 6, 6]))

    def test_a_graph_over_two_devices(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")
        x = torch.ones(4, device="cuda:0", requires_grad=True)
        ((x * 3).to("cuda:1") * 2).sum().backward()
        assert x.grad is not None
        self.assertEqual((x.grad.get_device(), x.grad.tolist()), (0, [6, 6, 6, 6]))


if __name__ == "__main__":
    absltest.main()
